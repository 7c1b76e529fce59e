"""Whose code ran when a process went without a word, and what follows from that."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from appliance.store.running_notes import Doing, Left, Phase, Running, RunningNotes
from appliance.store.starts import BAD_STARTS, CRASHES, Culprit, Starts, culprit_of

NOW = datetime(2026, 5, 4, 15, 7, tzinfo=UTC)


class House:
    """One home, started again and again; a start that is not ended has crashed."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "starts.json"
        self.now = NOW
        self.digest = ""

    def start(self, *, boot: str = "boot-1", is_device: bool = True, crashed_in: tuple[str, ...] = ()) -> Starts:
        starts = Starts(self.file, lambda: self.now, boot)
        starts.begin(
            is_device=is_device,
            crash_file="crash-000001.txt",
            crashed_in=lambda _file: crashed_in,
            installation_of=lambda _plugin: self.digest,
        )
        return starts

    def crash(self, plugin: str, doing: Doing, *, phase: Phase = Phase.STARTING) -> None:
        """A start that ends while this plugin is at work."""
        starts = self.start()
        if phase is not Phase.STARTING:
            starts.ready()
        if phase is Phase.SETTLED:
            starts.settled()
        starts.notes.enter(plugin, doing)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def left(*running: Running, phase: Phase = Phase.SETTLED, accused: Running | None = None) -> Left:
    return Left("boot-1", phase, is_device=True, crash_file="", accused=accused, running=running)


# ------------------------------------------------------------------------------------------------- the notes


def test_what_a_killed_process_was_doing_is_known(tmp_path: Path) -> None:
    file = tmp_path / "starts.running"
    program = (
        "import os, sys\nfrom pathlib import Path\n"
        "from appliance.store.running_notes import Doing, Phase, RunningNotes\n"
        "notes = RunningNotes(Path(sys.argv[1]))\n"
        "notes.begin('boot-1', is_device=True, crash_file='crash-000007.txt')\n"
        "notes.reach(Phase.READY)\n"
        "done = notes.enter('kitchen', Doing.CALL)\n"
        "notes.enter('sea', Doing.CALL)\nnotes.enter('küche.2', Doing.THREAD)\n"
        "notes.leave(done)\nnotes.accuse('sea', Doing.MEMORY)\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(file)], check=False, cwd=Path(__file__).parents[2])

    found = RunningNotes(file).left()

    assert found is not None
    assert (found.boot, found.phase, found.is_device, found.crash_file) == (
        "boot-1",
        Phase.READY,
        True,
        "crash-000007.txt",
    )
    assert found.accused == Running("sea", Doing.MEMORY)
    assert set(found.running) == {Running("sea", Doing.CALL), Running("küche.2", Doing.THREAD)}


def test_a_good_end_leaves_nothing(tmp_path: Path) -> None:
    notes = RunningNotes(tmp_path / "starts.running")
    assert notes.left() is None
    notes.begin("boot-1", is_device=True)
    notes.enter("sea", Doing.CALL)
    notes.end()
    assert RunningNotes(tmp_path / "starts.running").left() is None


def test_notes_that_cannot_be_written_or_make_no_sense_cost_only_themselves(tmp_path: Path) -> None:
    nowhere = RunningNotes(tmp_path / "missing" / "starts.running")
    nowhere.begin("boot-1", is_device=True)
    with nowhere.during("sea", Doing.CALL):
        assert nowhere.now() == (Running("sea", Doing.CALL),)
    (tmp_path / "starts.running").write_bytes(os.urandom(5000))
    assert RunningNotes(tmp_path / "starts.running").left() is None


def test_more_work_than_there_are_notes_is_no_error() -> None:
    notes = RunningNotes()
    numbers = [notes.enter("sea", Doing.CALL) for _ in range(1000)]
    for number in numbers:
        notes.leave(number)
    assert notes.now() == ()


def test_what_a_plugin_uses_of_the_processor_is_put_down_to_it_once() -> None:
    notes, asleep = RunningNotes(), threading.Event()

    def wait() -> None:
        with notes.during("daemon", Doing.THREAD):
            asleep.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    with notes.during("sea", Doing.CALL):
        sum(range(300_000))
    used = notes.processor_seconds()
    assert used["sea"] > 10 * used.get("daemon", 0.0)
    assert "sea" not in notes.processor_seconds()
    asleep.set()
    thread.join()


# ------------------------------------------------------------------------------------------------ the culprit


SEA, LAND = Running("sea", Doing.CALL), Running("land", Doing.CALL)
DAEMON = Running("daemon", Doing.THREAD)


def test_one_plugin_at_work_is_to_blame_and_of_two_nobody_is() -> None:
    assert culprit_of(left(SEA)) == Culprit("sea", "it brought the box down", is_grave=False)
    assert culprit_of(left(SEA, LAND)) is None
    assert culprit_of(left()) is None


def test_a_call_comes_before_a_thread_that_only_waits_somewhere() -> None:
    found = culprit_of(left(SEA, DAEMON))
    assert found is not None and found.plugin == "sea"
    found = culprit_of(left(DAEMON))
    assert found is not None and found.plugin == "daemon"


def test_the_stack_and_the_process_itself_know_better() -> None:
    found = culprit_of(left(SEA, LAND, DAEMON), ["daemon", "sea"])
    assert found is not None and found.plugin == "daemon"
    found = culprit_of(left(SEA, LAND, accused=Running("land", Doing.EXIT)), ["sea"])
    assert found is not None and found.plugin == "land"


@pytest.mark.parametrize(
    ("found", "crashed_in", "is_grave"),
    [
        (left(Running("sea", Doing.IMPORT)), [], True),
        (left(Running("sea", Doing.START)), [], True),
        (left(SEA, accused=Running("sea", Doing.MEMORY)), [], True),
        (left(DAEMON, phase=Phase.READY), ["daemon"], True),
        (left(DAEMON, phase=Phase.SETTLED), ["daemon"], False),
        (left(DAEMON, phase=Phase.READY), [], False),
        (left(SEA, phase=Phase.READY), ["sea"], False),
    ],
)
def test_once_is_enough_when_it_would_come_again_at_each_start(
    found: Left, crashed_in: list[str], is_grave: bool
) -> None:
    culprit = culprit_of(found, crashed_in)
    assert culprit is not None and culprit.is_grave is is_grave


# ------------------------------------------------------------------------------------------------- quarantine


def test_a_crash_while_a_plugin_is_loaded_quarantines_it_until_its_owner_says_otherwise(house: House) -> None:
    house.crash("sea", Doing.IMPORT)
    starts = house.start()
    assert starts.why_quarantined("sea") == "it brought the box down while it was being loaded"
    assert starts.why_quarantined("land") == ""
    starts.end()

    starts = house.start()
    assert starts.why_quarantined("sea"), "over any number of starts"
    starts.forgive("sea")
    starts.end()
    assert house.start().why_quarantined("sea") == ""


def test_a_call_that_crashes_the_box_is_forgiven_twice_within_a_week(house: House) -> None:
    for count in range(CRASHES):
        assert house.start().why_quarantined("sea") == "", count
        house.crash("sea", Doing.CALL, phase=Phase.SETTLED)
        house.now += timedelta(days=1)
    assert house.start().why_quarantined("sea") == "it brought the box down, 3 times by now"


def test_crashes_weeks_apart_do_not_add_up(house: House) -> None:
    for _ in range(5):
        house.crash("sea", Doing.CALL, phase=Phase.SETTLED)
        house.now += timedelta(days=5)
    starts = house.start()
    assert starts.why_quarantined("sea") == ""


def test_another_version_is_not_quarantined(house: House) -> None:
    house.digest = "of 1.0"
    house.crash("sea", Doing.IMPORT)
    starts = house.start()
    assert starts.why_quarantined("sea", "of 1.0")
    assert starts.why_quarantined("sea", "of 1.1") == ""


def test_a_power_cut_blames_nobody(house: House) -> None:
    for number in range(5):
        house.start(boot=f"boot-{number}").notes.enter("sea", Doing.IMPORT)
    starts = house.start(boot="boot-9")
    assert starts.why_quarantined("sea") == "" and starts.why_safe_mode == ""


def test_a_command_that_is_killed_in_a_long_call_blames_nobody(house: House) -> None:
    for _ in range(5):
        house.start(is_device=False).notes.enter("sea", Doing.CALL)
    starts = house.start(is_device=False)
    assert starts.why_quarantined("sea") == "" and starts.why_safe_mode == ""
    starts.notes.enter("sea", Doing.IMPORT)
    assert house.start().why_quarantined("sea")


# -------------------------------------------------------------------------------------------------- safe mode


def test_three_bad_starts_with_nobody_to_blame_leave_the_owners_plugins_out(house: House) -> None:
    for count in range(BAD_STARTS):
        assert house.start().why_safe_mode == "", count
    starts = house.start()
    assert "soon after its start" in starts.why_safe_mode

    starts.set_safe_mode(False)
    starts.end()
    assert house.start().why_safe_mode == ""


def test_bad_starts_of_one_plugin_quarantine_it_and_leave_the_others_in(house: House) -> None:
    for _ in range(CRASHES):
        house.crash("sea", Doing.CALL, phase=Phase.READY)
    starts = house.start()
    assert starts.why_quarantined("sea") and starts.why_safe_mode == ""


def test_bad_starts_of_several_plugins_lead_to_safe_mode(house: House) -> None:
    for plugin in ("sea", "land", "sky"):
        house.crash(plugin, Doing.IMPORT)
    assert house.start().why_safe_mode


def test_a_start_that_lasts_makes_up_for_the_bad_ones(house: House) -> None:
    for _ in range(3):
        house.start()
        house.start()
        house.start().settled()
    starts = house.start()
    assert starts.why_safe_mode == ""


def test_an_owner_may_choose_safe_mode(house: House) -> None:
    starts = house.start()
    starts.set_safe_mode(True)
    starts.end()
    assert house.start().why_safe_mode == "you have switched it on"


# ------------------------------------------------------------------------------------------------------ told


def test_each_thing_is_told_once_over_all_starts_until_it_is_another(house: House) -> None:
    starts = house.start()
    assert starts.is_news("quarantined sea", "it crashed")
    assert not starts.is_news("quarantined sea", "it crashed")
    starts.end()
    starts = house.start()
    assert not starts.is_news("quarantined sea", "it crashed")
    assert starts.is_news("quarantined sea", "it took all the memory")
    starts.forgive("sea")
    assert starts.is_news("quarantined sea", "it took all the memory"), "it was tried again in between"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"quarantined": ["sea"], "crashes": {"a": 1}, "told": 3}'])
def test_a_file_that_makes_no_sense_is_as_good_as_none(house: House, text: str) -> None:
    house.file.write_text(text)
    starts = house.start()
    assert starts.quarantined == {} and starts.why_safe_mode == ""
    starts.set_safe_mode(True)
    starts.end()
    assert house.start().why_safe_mode


def test_without_a_file_nothing_is_remembered() -> None:
    starts = Starts(None, lambda: NOW)
    starts.begin(is_device=False)
    starts.set_safe_mode(True)
    assert starts.why_safe_mode
    starts.end()
