"""Whatever is wrong with the disk, the box starts, answers by voice, and says aloud and in ``status`` what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.catalogue import Catalogue
from appliance.errors import ApplianceError
from appliance.home import Home, shipped
from appliance.spare_home import usable_home
from tests.store.bad_disk_box import Told

_OWN_MOUNTS = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
_BY_SOMEBODY_ELSE = ("wrong_owner", "stray_file")
ANSWER = "Your timer is set for one minute."


def box_on(story: str, folder: Path) -> Told:
    """What a box told on that disk."""
    home = folder / "home"
    # Only who gives up root's rights needs no mounts of its own.
    apart = [] if story in _BY_SOMEBODY_ELSE else _OWN_MOUNTS
    command = [*apart, sys.executable, "-m", "tests.store.bad_disk_box", story, str(home)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder to which everybody may come: a box that gives up root's rights must reach its home."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def sentence(key: str) -> str:
    """What the box says for a key."""
    (form,) = Catalogue.load(shipped("soul"), "en").forms(f"store.{key}")
    return form


def test_a_healthy_disk_is_not_mentioned_and_keeps_everything(tmp_path: Path) -> None:
    told = box_on("healthy", tmp_path)
    assert (told["said"], told["problems"], told["answered"], told["lasts"]) == ("", "", ANSWER, True)
    assert (tmp_path / "home" / "ballast").stat().st_size == 2**20


def test_on_a_read_only_disk_it_goes_on_in_memory_with_what_it_knew(tmp_path: Path) -> None:
    told = box_on("read_only", tmp_path)
    assert told["said"] == sentence("read_only")
    assert "is read-only: the card may be failing" in told["problems"]
    assert (told["answered"], told["mark"], told["lasts"]) == (ANSWER, "kept", False)
    assert told["socket"] == told["client socket"], "the command line finds it"
    assert not Path(told["socket"]).parent.exists(), "nothing of it stays in memory"


def test_a_home_whose_disk_is_not_mounted_is_not_made_and_told(tmp_path: Path) -> None:
    told = box_on("missing", tmp_path)
    assert told["said"] == sentence("missing")
    assert "its disk may not be mounted" in told["problems"]
    assert (told["answered"], told["lasts"]) == (ANSWER, False)
    assert not (tmp_path / "home").exists()


def test_a_home_of_somebody_else_is_told_with_the_command_that_gives_it_back(open_folder: Path) -> None:
    told = box_on("wrong_owner", open_folder)
    assert told["said"] == sentence("wrong_owner")
    assert "sudo chown -R" in told["problems"]
    assert str(open_folder / "home") in told["problems"]
    assert (told["answered"], told["lasts"]) == (ANSWER, False)


def test_a_file_that_root_left_in_the_home_is_told_the_same_way(open_folder: Path) -> None:
    told = box_on("stray_file", open_folder)
    assert told["said"] == sentence("wrong_owner")
    assert f"{open_folder}/home/appliance.db-wal belongs to" in told["problems"]
    assert f": {open_folder}/home." in told["problems"], "the whole home is given back"
    assert (told["answered"], told["mark"], told["lasts"]) == (ANSWER, "kept", False)


def test_a_disk_that_fills_up_is_told_and_what_was_begun_is_written_into_the_room_that_was_kept(tmp_path: Path) -> None:
    told = box_on("full", tmp_path)
    assert told["said"] == sentence("full")
    assert "the disk is full" in told["problems"]
    assert (told["answered"], told["lines"], told["faults"]) == (ANSWER, 20, [])
    assert (told["ballast"], told["ballast when full"], told["ballast later"]) == (2**20, False, 2**20)
    assert told["said later"] == sentence("room_again")
    assert told["lines after restart"] == 42, "20 intents, that nobody knows how they ended, and the timer"


def test_a_disk_that_was_full_at_the_start_is_told(tmp_path: Path) -> None:
    told = box_on("full_at_start", tmp_path)
    assert told["said"] == sentence("full_at_start")
    assert "the disk is full: free some space, then start again" in told["problems"]
    assert (told["answered"], told["mark"], told["lasts"]) == (ANSWER, "kept", False)


def test_a_disk_that_was_full_at_the_start_has_the_room_that_was_kept(tmp_path: Path) -> None:
    told = box_on("full_with_ballast", tmp_path)
    assert told["said"] == sentence("full")
    assert (told["answered"], told["mark"], told["lasts"]) == (ANSWER, "kept", True)


def test_the_device_itself_runs_on_a_read_only_home_and_the_command_line_finds_it(tmp_path: Path) -> None:
    script = """
        mount -t tmpfs -o size=8m,mode=0700 tmpfs "$APPLIANCE_HOME" && mount -o remount,ro "$APPLIANCE_HOME" || exit 9
        "$0" -m appliance.cli.main run --stay > run.out 2>&1 &
        while ! grep -q listening run.out; do kill -0 $! || { cat run.out >&2; exit 8; }; done
        "$0" -m appliance.cli.main status --json; status=$?
        kill $! && wait $!
        exit $status
    """
    home = tmp_path / "home"
    home.mkdir()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("APPLIANCE_")}
    environment = {**inherited, "APPLIANCE_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [*_OWN_MOUNTS, "sh", "-c", script, sys.executable]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "is read-only: the card may be failing" in json.loads(done.stdout)["store problems"][0]


def test_a_place_in_memory_that_somebody_else_has_made_is_not_used(tmp_path: Path) -> None:
    home = Home(tmp_path / "not mounted", is_service=True)
    home.memory_folder.mkdir(mode=0o755)
    try:
        with pytest.raises(ApplianceError, match="belongs to somebody else"), usable_home(home):
            pass
    finally:
        home.memory_folder.rmdir()


def test_where_a_device_is_found_in_memory_depends_on_its_home_only(tmp_path: Path) -> None:
    one, other = Home(tmp_path / "one"), Home(tmp_path / "other")
    assert one.memory_folder == Home(tmp_path / "one").memory_folder != other.memory_folder
    assert one.runtime_folder == tmp_path / "one" / "run", "a home that is to be made is no reason"


@pytest.mark.parametrize("name", ["read_only", "wrong_owner", "missing", "full", "full_at_start", "room_again"])
def test_every_sentence_is_short_enough_to_listen_to(name: str) -> None:
    assert len(sentence(name).split()) < 35
