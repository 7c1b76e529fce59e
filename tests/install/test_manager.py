"""Installing, updating, going back, removing: what an owner finds in the home afterwards."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.errors import ApplianceError, RefusedError, UsageError
from appliance.install.access import refused_by_disk
from appliance.install.journal import Journal
from appliance.install.lock import ManagerBusyError, manager_lock
from appliance.install.recovery import finish_cut_change
from appliance.install.standing import State
from appliance.store.plugin_pins import PluginPins, digest_of
from tests.install.rig import TIDES, Manager, tides


@pytest.fixture
def manager(tmp_path: Path) -> Manager:
    """The manager of an empty home."""
    return Manager(tmp_path / "home")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """The plugin tides, as it was."""
    return tides(tmp_path, "one")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """The plugin tides, as it became."""
    return tides(tmp_path, "two")


def state_of(manager: Manager, name: str = "tides") -> State:
    return manager.verify([name])[0].state


# ------------------------------------------------------------------------------------------------- install


def test_an_installed_plugin_is_pinned_and_off_until_its_owner_says_so(manager: Manager, one: Path) -> None:
    manager.install(one)
    assert manager.said_by("tides") == "one"
    assert manager.switch.read().disabled == {"tides"}
    pin = PluginPins(manager.home.pins_file).all()["tides"]
    assert set(pin.files) == {"tides.py", "notes.txt"} and pin.digest == digest_of(pin.files)
    assert (pin.contract, pin.place, pin.python, pin.installed_at) == (
        "module",
        "tides",
        "",
        "2026-11-30T12:00:00+00:00",
    )
    assert str(one) in pin.origin
    assert state_of(manager) is State.PINNED


def test_with_enable_it_is_on(manager: Manager, one: Path) -> None:
    manager.install(one, enable=True)
    assert manager.switch.read().enabled == {"tides"}


def test_the_service_may_read_what_was_installed_and_nobody_else_write_it(manager: Manager, one: Path) -> None:
    (one / "tides.py").chmod(0o777)
    before = os.umask(0o077)
    try:
        manager.install(one)
    finally:
        os.umask(before)
    assert manager.home.folder.stat().st_mode & 0o777 == 0o700
    assert {folder.stat().st_mode & 0o777 for folder in (manager.places.plugins, manager.places.installed)} == {0o755}
    place = manager.places.plugins / "tides"
    assert place.stat().st_mode & 0o7777 == 0o755
    assert {path.stat().st_mode & 0o7777 for path in place.iterdir()} == {0o644}
    assert manager.home.pins_file.stat().st_mode & 0o777 == 0o644


def test_a_lone_file_is_a_plugin_too(manager: Manager, tmp_path: Path) -> None:
    (tmp_path / "moon.py").write_text(TIDES.format(says="moon").replace("tides", "moon"))
    manager.install(tmp_path / "moon.py")
    assert (manager.places.plugins / "moon.py").is_file()
    assert state_of(manager, "moon") is State.PINNED
    manager.remove("moon")
    assert not (manager.places.plugins / "moon.py").exists()


def test_the_same_again_changes_nothing(manager: Manager, one: Path) -> None:
    manager.install(one)
    before = {path: path.stat().st_mtime_ns for path in manager.home.folder.rglob("*.json")}
    manager.install(one)
    assert before == {path: path.stat().st_mtime_ns for path in manager.home.folder.rglob("*.json")}


def test_a_tool_name_that_another_plugin_has_is_refused_and_nothing_is_left(
    manager: Manager, one: Path, tmp_path: Path
) -> None:
    manager.install(one)
    other = tmp_path / "waves"
    other.mkdir()
    (other / "waves.py").write_text(TIDES.format(says="waves"))
    with pytest.raises(RefusedError, match="its tool tides is one of the plugin tides"):
        manager.install(other)
    assert not (manager.places.plugins / "waves").exists()
    with manager.at_work():
        assert list(manager.places.stage.iterdir()) == []


def test_the_names_of_the_boxs_own_tools_are_refused(manager: Manager, tmp_path: Path) -> None:
    place = tides(tmp_path, "one", **{"tides.py": TIDES.format(says="x").replace('"tides"', '"box_time"')})
    with pytest.raises(RefusedError, match="names that begin with box_ are the box's own: box_time"):
        manager.install(place)


def test_a_plugin_that_was_put_there_by_hand_is_kept_as_the_version_before(manager: Manager, one: Path) -> None:
    hand = manager.places.plugins / "tides"
    hand.mkdir(parents=True)
    (hand / "tides.py").write_text(TIDES.format(says="hand"))
    assert state_of(manager) is State.UNPINNED
    with manager.at_work():
        plan = manager.look_at(str(one))
    assert any("put there by hand" in remark for remark in plan.remarks())
    manager.install(one)
    assert manager.switch.read().disabled == frozenset(), "it was on before, and stays on"
    manager.rollback("tides")
    assert manager.said_by("tides") == "hand" and state_of(manager) is State.UNPINNED


def test_a_link_that_somebody_works_on_is_left_alone(manager: Manager, one: Path, two: Path) -> None:
    manager.places.plugins.mkdir(parents=True)
    (manager.places.plugins / "tides").symlink_to(two)
    assert state_of(manager) is State.DEV
    with pytest.raises(RefusedError, match="plugins/tides is a link: somebody works on it"):
        manager.install(one)
    with pytest.raises(RefusedError, match="somebody works on it"):
        manager.remove("tides")


def test_a_plugin_that_takes_the_place_of_a_shipped_one_says_so(manager: Manager, tmp_path: Path) -> None:
    place = tmp_path / "dice"
    place.mkdir()
    (place / "dice.py").write_text(TIDES.format(says="dice").replace("tides", "dice"))
    with manager.at_work():
        remarks = manager.look_at(str(place)).remarks()
    assert "it takes the place of the plugin dice that comes with the box" in remarks


# ---------------------------------------------------------------------------------- update, rollback, remove


def test_an_update_keeps_the_switch_and_the_version_before(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one, enable=True)
    manager.install(two)
    assert manager.said_by("tides") == "two"
    assert manager.switch.read().enabled == {"tides"}
    assert manager.verify(["tides"])[0].older == "unversioned"


def test_a_rollback_brings_the_one_before_and_a_second_one_the_newer_again(
    manager: Manager, one: Path, two: Path
) -> None:
    manager.install(one)
    manager.install(two)
    manager.rollback("tides")
    assert manager.said_by("tides") == "one" and state_of(manager) is State.PINNED
    manager.rollback("tides")
    assert manager.said_by("tides") == "two" and state_of(manager) is State.PINNED


def test_a_version_that_was_rolled_back_is_remembered_until_it_is_installed_again(
    manager: Manager, one: Path, two: Path
) -> None:
    manager.install(one)
    manager.install(two)
    manager.rollback("tides")
    with manager.at_work():
        assert manager.source_of("tides") == str(one)
        assert manager.look_at(str(two)).was_rolled_back
        assert not manager.look_at(str(one)).was_rolled_back
    manager.install(two)
    with manager.at_work():
        assert not manager.look_at(str(two)).was_rolled_back


def test_without_an_older_version_there_is_nothing_to_go_back_to(manager: Manager, one: Path) -> None:
    manager.install(one)
    with pytest.raises(UsageError, match="there is no older version of tides to go back to"):
        manager.rollback("tides")


def test_only_two_older_versions_are_kept(manager: Manager, tmp_path: Path) -> None:
    for says in ("a", "b", "c", "d", "e"):
        manager.install(tides(tmp_path, says))
    assert len(list((manager.places.previous / "tides").iterdir())) == 2
    manager.rollback("tides")
    assert manager.said_by("tides") == "d"


def test_what_the_owner_changed_by_hand_is_kept_by_an_update(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one)
    (manager.places.plugins / "tides" / "tides.py").write_text(TIDES.format(says="mine"))
    manager.install(two)
    manager.rollback("tides")
    assert manager.said_by("tides") == "mine" and state_of(manager) is State.CHANGED


def test_an_older_version_is_refused_without_a_word_of_the_owner(manager: Manager, tmp_path: Path) -> None:
    manifest = '{{"name": "lamps", "version": "{}", "capabilities": {{"tools": []}}}}'
    for version in ("1.9", "1.10"):
        place = tmp_path / version / "lamps"
        place.mkdir(parents=True)
        (place / "plugin.json").write_text(manifest.format(version))
    manager.install(tmp_path / "1.10" / "lamps")
    with pytest.raises(RefusedError, match=r"version 1\.9 is older than 1\.10, which is here; --downgrade allows it"):
        manager.install(tmp_path / "1.9" / "lamps")
    manager.install(tmp_path / "1.9" / "lamps", downgrade=True)
    assert manager.verify(["lamps"])[0].older == "1.10"


def test_what_was_removed_comes_back_as_it_was(manager: Manager, one: Path) -> None:
    manager.install(one, enable=True)
    manager.remove("tides")
    assert manager.said_by("tides") == "" and manager.verify() == []
    manager.rollback("tides")
    assert manager.said_by("tides") == "one" and state_of(manager) is State.PINNED
    assert manager.switch.read().enabled == {"tides"}


def test_what_was_removed_and_brought_again_is_no_older_version_of_itself(manager: Manager, one: Path) -> None:
    manager.install(one)
    manager.remove("tides")
    manager.install(one)
    with pytest.raises(UsageError, match="there is no older version of tides"):
        manager.rollback("tides")
    assert manager.said_by("tides") == "one" and state_of(manager) is State.PINNED


def test_one_that_was_made_into_its_older_version_by_hand_is_not_lost(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one)
    manager.install(two)
    for name in ("tides.py", "notes.txt"):
        shutil.copyfile(one / name, manager.places.plugins / "tides" / name)
    with pytest.raises(UsageError, match="there is no older version of tides"):
        manager.rollback("tides")
    assert manager.said_by("tides") == "one"


def test_after_a_removal_for_good_nothing_is_left(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one)
    manager.install(two)
    manager.remove("tides")
    with manager.at_work():
        manager.forget("tides")
    assert list(manager.places.previous.iterdir()) == []
    assert manager.switch.read().disabled == frozenset()
    with pytest.raises(UsageError, match="there is no plugin 'tides' in the home"):
        manager.rollback("tides")


def test_a_shipped_plugin_stays(manager: Manager) -> None:
    with pytest.raises(UsageError, match="dice comes with the box and stays; appliance plugin off dice"):
        manager.remove("dice")


# --------------------------------------------------------------------------------------------------- verify


def test_verify_names_every_file_that_is_not_as_it_was(manager: Manager, one: Path) -> None:
    manager.install(one)
    place = manager.places.plugins / "tides"
    (place / "tides.py").write_text("changed")
    (place / "notes.txt").unlink()
    (place / "extra.py").write_text("")
    (place / "__pycache__").mkdir()
    (place / "__pycache__" / "tides.pyc").write_text("of no interest")
    (found,) = manager.verify()
    assert (found.changed, found.missing, found.extra) == (("tides.py",), ("notes.txt",), ("extra.py",))
    (sentence,) = found.sentences()
    assert "changed: tides.py; missing: notes.txt; not of it: extra.py" in sentence


def test_verify_tells_a_plugin_whose_folder_is_gone(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one)
    manager.install(two)
    shutil.rmtree(manager.places.plugins / "tides")
    assert state_of(manager) is State.MISSING
    manager.rollback("tides")
    assert manager.said_by("tides") == "one"


# ------------------------------------------------------------------------------------- what goes wrong


def test_when_the_swap_fails_everything_is_as_before(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one)
    with manager.at_work():
        change = manager.prepare(manager.look_at(str(two)))
        manager.home.pins_file.unlink()
        manager.home.pins_file.mkdir()  # no pin can be written
        with pytest.raises(ApplianceError, match=r"pins\.json cannot be"):
            manager.carry_out(change)
        assert manager.said_by("tides") == "one"


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EACCES, "belongs to somebody else (/x/y); put sudo before it: sudo appliance plugin ..."),
        (errno.EROFS, "the disk is read-only (/x/y); appliance doctor says more"),
        (errno.ENOSPC, "the disk is full (/x/y); make some room and try again"),
        (errno.EIO, "Input/output error (/x/y)"),
    ],
)
def test_what_the_disk_does_not_let_us_do_is_told_with_what_to_do(number: int, sentence: str) -> None:
    assert str(refused_by_disk(OSError(number, os.strerror(number), "/x/y"), "no")).endswith(sentence)


def test_two_managers_are_never_at_work_at_once(manager: Manager) -> None:
    told = pytest.raises(ManagerBusyError, match="another command changes the plugins just now")
    with manager.at_work(), told, Manager(manager.home.folder).at_work():
        raise AssertionError("both are at work")


def test_a_device_that_starts_finishes_what_was_cut(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one)
    with manager.at_work():
        change = manager.prepare(manager.look_at(str(two)))
        Journal(manager.places.journal).begin(change)  # and then the power went
    assert asyncio.run(finish_cut_change(manager.home, manager.switch, FakeClock())) == ""
    assert manager.said_by("tides") == "two" and state_of(manager) is State.PINNED
    assert not manager.places.journal.exists()


def test_a_device_that_starts_does_not_wait_for_ever_for_another_manager(manager: Manager, one: Path) -> None:
    async def start() -> str:
        clock = FakeClock()
        starting = asyncio.create_task(finish_cut_change(manager.home, manager.switch, clock))
        await clock.advance(10)
        return await starting

    with manager.at_work():
        Journal(manager.places.journal).begin(manager.prepare(manager.look_at(str(one))))
        assert "a command is changing the plugins just now" in asyncio.run(start())


def test_a_journal_that_cannot_be_read_is_told_and_put_aside(manager: Manager, one: Path) -> None:
    manager.install(one)
    manager.places.journal.write_text("{torn")
    told = asyncio.run(finish_cut_change(manager.home, manager.switch, FakeClock()))
    assert told.startswith("a change of the plugins was cut short and is not finished")
    assert "appliance plugin verify" in told
    assert asyncio.run(finish_cut_change(manager.home, manager.switch, FakeClock())) == ""


def test_what_was_cut_and_lost_its_stage_goes_back(manager: Manager, one: Path, two: Path) -> None:
    manager.install(one)
    with manager_lock(manager.places):
        change = manager.prepare(manager.look_at(str(two)))
        Journal(manager.places.journal).begin(change)
        shutil.rmtree(manager.places.stage)
    with manager.at_work():
        assert manager.said_by("tides") == "one"
    assert state_of(manager) is State.PINNED


def test_a_journal_that_leads_elsewhere_is_not_followed(manager: Manager, one: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    manager.install(one)
    with manager_lock(manager.places):
        manager.prepare(manager.look_at(str(one)))
        text = '{"name": "x", "before": %s, "after": %s, "incoming": "../config.toml", "outgoing": ""}'
        side = '{"place": "x", "pin": null, "entry": null, "is_on": null}'
        manager.places.journal.write_text(text % (side, side))
    with pytest.raises(ApplianceError, match="no place of the plugin manager"), manager.at_work():
        pass
