"""From one version to the next, back again, and what is left when that is cut off."""

from __future__ import annotations

import itertools

import pytest

from tests.systemd.box import HOME, Box


def test_an_upgrade_keeps_the_data_and_one_version_before(box: Box) -> None:
    names = []
    for _ in range(3):
        names.append(box.gets())
        box.installs()
    assert box.current == names[2]
    assert box.versions == {names[1], names[2]}
    assert box.visits == [name.partition("-")[0] for name in names]


def test_a_version_that_does_not_answer_never_takes_over(box: Box) -> None:
    old = box.gets()
    box.installs()
    process, visits = box.process, box.visits
    new = box.gets(deaf=True, schema=2)
    said = box.fails_to_install()
    assert "nothing that could be understood was heard" in said
    assert f"version {new} does not answer a question (see above), so it was removed; version {old} goes on" in said
    assert box.process == process, "the old version was not even stopped"
    assert box.versions == {old}
    assert box.visits == visits
    assert box.query("PRAGMA user_version") == "1"


def test_a_version_that_does_not_start_gives_way_to_the_old_one_with_its_data(box: Box) -> None:
    old = box.gets()
    box.installs()
    box.shell(f"echo 7 lines >{HOME}/audit.head; chown appliance: {HOME}/audit.head")
    visits, unit = box.visits, box.shell("cat /etc/systemd/system/appliance.service")
    box.gets(stillborn=True, schema=2)
    with (box.checkout / "systemd" / "appliance.service").open("a") as changed:
        changed.write("# another unit\n")
    said = box.fails_to_install()
    assert "it cannot start, because a test wants that" in said
    assert f"did not start; {old} runs again, with its data as it was" in said
    assert int(box.process) > 1
    assert (box.current, box.versions) == (old, {old})
    assert box.visits == visits * 2, "only the old version was here, a second time"
    assert box.query("PRAGMA user_version") == "1"
    assert box.shell(f"cat {HOME}/audit.head") == "7 lines"
    assert box.shell("cat /etc/systemd/system/appliance.service") == unit


@pytest.mark.parametrize(
    ("lacking", "sentence"),
    [
        ("packages", "the program is not complete; nothing else was changed"),
        ("weights", "the speech weights are not all there"),
    ],
)
def test_what_cannot_be_fetched_changes_nothing(box: Box, lacking: str, sentence: str) -> None:
    old = box.gets()
    box.installs()
    process = box.process
    box.gets(lacks=lacking)
    assert sentence in box.fails_to_install()
    assert (box.process, box.current) == (process, old)


def test_rollback_keeps_data_that_the_older_version_can_read(box: Box) -> None:
    old = box.gets()
    box.installs()
    new = box.gets()
    box.installs()
    assert "stays as it is" in box.installs("--rollback")
    assert box.current == old
    assert len(box.visits) == 3
    box.installs("--rollback")
    assert box.current == new, "and forward again"


def test_rollback_takes_the_older_data_along_when_it_must(box: Box) -> None:
    old = box.gets()
    box.installs()
    box.gets(schema=2)
    box.installs()
    assert "goes back to what it was before" in box.installs("--rollback")
    assert box.current == old
    assert box.query("PRAGMA user_version") == "1"
    assert len(set(box.visits)) == 1, "the newer version was never here"
    box.installs("--rollback")
    box.shell(f"rm {HOME}/appliance.db.schema-*")
    assert "cannot read today's data, and no copy of its own is left" in box.fails_to_install("--rollback")
    assert int(box.process) > 1


def test_rollback_without_an_older_version_says_so(box: Box) -> None:
    box.gets()
    box.installs()
    assert "there is no version before this one" in box.fails_to_install("--rollback")


def test_a_version_that_is_half_there_is_built_anew(box: Box) -> None:
    version = box.gets()
    folder = f"/opt/appliance/versions/{version}"
    box.shell(f"mkdir -p {folder}/bin; touch {folder}/half")
    box.installs()
    assert box.run("ls", f"{folder}/half").returncode != 0
    process = box.process
    box.shell(f"rm -r {folder}/lib")  # what an upgrade of the system does to it
    box.installs()
    assert box.process != process


# --------------------------------------------------------------------------------------------------------------- kills


def test_a_kill_after_any_step_of_a_first_installation_is_mended_by_the_second(box: Box) -> None:
    version = box.gets()
    for step in itertools.count(1):
        was_killed = box.is_killed(step)
        box.installs()
        assert (box.current, box.versions) == (version, {version})
        assert int(box.process) > 1
        if not was_killed:
            break
        box.installs("--uninstall", "--purge")
    assert step > 12


def test_a_kill_after_any_step_of_an_upgrade_leaves_a_box_that_starts(box: Box) -> None:
    old = box.gets()
    box.installs()
    for step in itertools.count(1):
        new = box.gets()
        was_killed = box.is_killed(step)
        box.starts_anew()
        assert box.current in (old, new)
        visits = box.visits
        box.installs()
        assert (box.current, box.versions) == (new, {old, new})
        assert int(box.process) > 1
        assert box.visits[: len(visits)] == visits, "nothing is lost"
        if not was_killed:
            break
        old = new
    assert step > 12


def test_a_kill_on_the_way_back_from_a_bad_version_is_mended_by_the_next_call(box: Box) -> None:
    old = box.gets()
    box.installs()
    visits = set(box.visits)
    for step in itertools.count(8):
        box.gets(stillborn=True, schema=2)
        was_killed = box.is_killed(step)
        box.fails_to_install()
        assert box.current == old
        assert int(box.process) > 1
        assert set(box.visits) == visits, "of the bad version nothing is left"
        assert box.query("PRAGMA user_version") == "1"
        if not was_killed:
            break
    assert step > 14


def test_a_better_version_waits_until_a_bad_one_that_was_cut_off_is_gone(box: Box) -> None:
    old = box.gets()
    box.installs()
    bad = box.gets(stillborn=True, schema=2)
    assert any(box.is_killed(step) and box.current == bad for step in range(1, 20))
    good = box.gets(schema=2)
    said = box.fails_to_install()
    assert f"An earlier call was cut off after changing over to {bad}; finishing that first" in said
    assert box.current == old
    box.installs()
    assert (box.current, box.versions) == (good, {old, good})
    assert bad.partition("-")[0] not in box.visits


def test_a_bad_version_that_was_cut_off_gives_way_by_itself_after_the_next_start(box: Box) -> None:
    old = box.gets()
    box.installs()
    visits = set(box.visits)
    bad = box.gets(stillborn=True, schema=2)
    assert any(box.is_killed(step) and box.current == bad for step in range(1, 20))
    box.run("sh", "-c", "systemctl daemon-reload; systemctl start appliance.service")
    assert box.has_come_back()
    assert (box.current, box.versions) == (old, {old})
    assert set(box.visits) == visits, "of the bad version nothing is left"
    assert box.query("PRAGMA user_version") == "1"
