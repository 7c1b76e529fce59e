"""The benchmark of turns: who takes which turn, and what the times come to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from appliance.bench.machine import describe
from appliance.bench.processes import ProcessCost
from appliance.bench.stub_model import AT_ONCE, QUICK, SLOW, StubModel
from appliance.bench.turn import Result, Wanted, measure
from appliance.bench.turn_clips import CLEAN, TurnClip
from appliance.bench.turn_course import AGAIN, Conductor, Course, Plan
from appliance.bench.turn_figures import again_ratio, figures, is_quiet_enough, rows
from appliance.bench.turn_system import Turn
from appliance.bench.turn_worker import BOX, PIPECAT, SEQUENTIAL, Floor, TurnTaken
from appliance.cli.bench_figures import save
from appliance.cli.bench_turn import print_result
from appliance.config import load
from appliance.errors import ApplianceError
from appliance.home import Home


@dataclass
class FakeSystem:
    """Meets ``System``: answers each clip after so many milliseconds, the first one first."""

    milliseconds: list[float | None]
    model: StubModel | None = None
    paces: list[str] = field(default_factory=list)
    cpu_seconds: float = 0.0

    def take_turn(self, clip: TurnClip) -> TurnTaken:
        if self.model is not None:
            self.model.requests += 1
            self.paces.append(self.model.pace.name)
        self.cpu_seconds += 0.5
        first = self.milliseconds.pop(0) if len(self.milliseconds) > 1 else self.milliseconds[0]
        return TurnTaken(clip.text, first, problem="" if first else "it is broken")

    def take_floor(self) -> Floor:
        return Floor(30.0, 20.0)

    def cost(self) -> ProcessCost:
        return ProcessCost(self.cpu_seconds, 100.0)


def _clip(name: str = "people 1", text: str = "go forward", noise: str = CLEAN) -> TurnClip:
    return TurnClip(name, text, noise, Path("clip.raw"), 2.0, 0.05, "")


def _turn(system: str, milliseconds: float | None, clip: TurnClip | None = None, number: int = 1) -> Turn:
    clip = clip or _clip()
    return Turn(system, clip, QUICK.name, number, TurnTaken(clip.text, milliseconds), 0.5, 100.0, 1)


def _conductor(**systems: FakeSystem) -> tuple[Conductor, StubModel]:
    model = StubModel()
    for system in systems.values():
        system.model = model
    return Conductor(systems, model, rest=lambda _seconds: None), model


# --------------------------------------------------------------------------------------------------- the course


def test_every_system_hears_every_clip_in_every_pass_and_the_box_twice_in_the_first() -> None:
    conductor, _ = _conductor(box=FakeSystem([500.0]), sequential=FakeSystem([2_500.0]))
    clips = [_clip("people 1"), _clip("people 2"), _clip("people 3")]
    course = conductor.conduct(Plan(clips, passes=2, has_other_paces=False))
    assert len(course.of(BOX)) == len(course.of(SEQUENTIAL)) == 6
    assert len(course.of(AGAIN)) == 3
    assert {turn.cpu_seconds for turn in course.turns} == {0.5}


def test_the_other_models_are_for_the_box_and_the_script_and_in_a_quiet_room_only() -> None:
    conductor, _ = _conductor(
        box=FakeSystem([500.0]), sequential=FakeSystem([2_500.0]), sentences=FakeSystem([1_500.0])
    )
    course = conductor.conduct(Plan([_clip(), _clip("people 2", noise="10 dB")], passes=1))
    for pace in (AT_ONCE, SLOW):
        assert sorted(turn.system for turn in course.turns if turn.pace == pace.name) == [BOX, SEQUENTIAL]
    assert course.floors == [Floor(30.0, 20.0)]
    assert len(course.of("sentences", noise="10 dB")) == 1


def test_a_system_that_answers_nobody_is_called_broken_and_not_slow() -> None:
    conductor, _ = _conductor(box=FakeSystem([None]))
    with pytest.raises(ApplianceError, match="'box' of the benchmark answers nobody: it is broken"):
        conductor.conduct(Plan([_clip()], passes=1))


# -------------------------------------------------------------------------------------------------- the figures


def _figures(course: Course) -> dict[str, float]:
    return {figure.id: figure.ratio for figure in figures(course)}


def test_a_ratio_is_the_median_over_the_clips_of_two_times_in_the_same_pass() -> None:
    course = Course()
    for name, own in (("people 1", 400.0), ("people 2", 500.0), ("people 3", 900.0)):
        course.turns += [_turn(BOX, own, _clip(name)), _turn(SEQUENTIAL, 2_000.0, _clip(name))]
    assert _figures(course)["P2"] == pytest.approx(0.25)


def test_of_several_passes_over_a_clip_the_median_counts() -> None:
    course = Course()
    for number, own in enumerate((400.0, 5_000.0, 500.0)):
        course.turns += [_turn(BOX, own, number=number), _turn(SEQUENTIAL, 2_000.0, number=number)]
    assert _figures(course)["P2"] == pytest.approx(0.25)


def test_an_answer_that_began_before_the_end_of_speech_counts_for_nobody() -> None:
    course = Course([_turn(BOX, -100.0), _turn(SEQUENTIAL, 2_000.0)])
    course.turns += [_turn(BOX, 1_000.0, _clip("people 2")), _turn(SEQUENTIAL, 2_000.0, _clip("people 2"))]
    found = {figure.id: figure for figure in figures(course)}
    assert found["P2"].ratio == pytest.approx(0.5)
    assert "1 sounds before the end of speech" in found["P19"].guard
    box = next(row for row in rows(course) if row.system == BOX)
    assert (box.turns, box.early, box.missed) == (2, 1, 0)


def test_a_command_that_the_box_understands_without_a_model_is_no_contest() -> None:
    by_itself = replace(_turn(BOX, 100.0), requests=0)
    course = Course([by_itself, _turn(SEQUENTIAL, 2_000.0)])
    course.turns += [_turn(BOX, 1_000.0, _clip("people 2")), _turn(SEQUENTIAL, 2_000.0, _clip("people 2"))]
    assert _figures(course)["P2"] == pytest.approx(0.5)


def test_words_that_only_the_box_got_wrong_stand_beside_the_speed() -> None:
    wrong = replace(_turn(BOX, 500.0), taken=TurnTaken("go four word", 500.0))
    course = Course([wrong, _turn(SEQUENTIAL, 2_000.0)])
    guard = next(figure.guard for figure in figures(course) if figure.id == "P2")
    assert guard.startswith("words wrong +100.0 points")


def test_the_floor_is_the_pause_the_lag_of_the_ear_and_what_was_measured_beside() -> None:
    at_once = replace(_turn(BOX, 450.0), pace=AT_ONCE.name)
    course = Course([_turn(BOX, 600.0), at_once], [Floor(30.0, 20.0)])
    assert _figures(course)["P5"] == pytest.approx(450.0 / (200.0 + 50.0 + 30.0 + 20.0))


def test_transcripts_thrown_away_are_counted_over_both_runs_of_the_box() -> None:
    twice = replace(_turn(BOX, 500.0), taken=TurnTaken("go forward", 500.0, transcripts=2))
    assert _figures(Course([twice, _turn(AGAIN, 500.0)]))["P19"] == pytest.approx(1.5)


def test_the_figures_against_pipecat_are_there_when_it_was_run() -> None:
    course = Course([_turn(BOX, 500.0)])
    assert "P1" not in _figures(course)
    course.turns.append(replace(_turn(PIPECAT, 2_000.0), rss_megabytes=400.0))
    found = _figures(course)
    assert (found["P1"], found["P13"]) == (pytest.approx(0.25), pytest.approx(0.25))


@pytest.mark.parametrize(("again", "is_quiet"), [(1_000.0, True), (1_060.0, True), (1_100.0, False), (900.0, False)])
def test_a_machine_on_which_the_box_differs_from_itself_is_too_busy(again: float, is_quiet: bool) -> None:
    found = again_ratio(Course([_turn(BOX, 1_000.0), _turn(AGAIN, again)]))
    assert is_quiet_enough(found) == is_quiet


def test_rows_begin_with_the_quick_model_in_a_quiet_room() -> None:
    turns = [replace(_turn(BOX, 1.0), pace=SLOW.name), _turn(BOX, 1.0, _clip(noise="20 dB")), _turn(BOX, 1.0)]
    assert [(row.pace, row.noise) for row in rows(Course(turns))] == [
        (QUICK.name, CLEAN),
        (QUICK.name, "20 dB"),
        (SLOW.name, CLEAN),
    ]


# ----------------------------------------------------------------------------------------- for real, and in print


def test_the_box_and_a_script_take_a_real_turn(tmp_path: Path) -> None:
    wanted = Wanted(most_clips=1, passes=1, systems=(SEQUENTIAL,), has_other_paces=False)
    result = measure(load(None, {}), Home(tmp_path), wanted)
    found = {row.system: row for row in result.rows}
    assert set(found) == {BOX, AGAIN, SEQUENTIAL}
    assert all(row.missed == row.early == 0 for row in found.values())
    assert 0.0 < found[BOX].median_milliseconds < found[SEQUENTIAL].median_milliseconds
    assert {figure.id for figure in result.figures} == {"P2", "P4", "P15a", "P19"}


@pytest.mark.parametrize(("again", "remark"), [(1.0, ""), (1.2, "too busy, the figures mean nothing")])
def test_a_result_says_on_what_it_was_measured_and_whether_that_was_quiet(
    capsys: pytest.CaptureFixture[str], again: float, remark: str
) -> None:
    course = Course([_turn(BOX, 500.0), _turn(AGAIN, 500.0 * again), _turn(SEQUENTIAL, 2_000.0)])
    ratio = again_ratio(course)
    quiet = is_quiet_enough(ratio)
    print_result(Result(describe(), "base", 2, 1, "0123", 1, ratio, quiet, figures(course), rows(course)))
    printed = capsys.readouterr().out
    assert "whisper base, 2 threads for each system, 1 passes" in printed
    assert remark in printed
    assert ("mean nothing" in printed) == bool(remark)


def test_a_saved_result_is_there_as_text_and_as_json(tmp_path: Path) -> None:
    save(tmp_path / "results", "turn", {"clips": 3}, lambda: print("a table"))
    assert (tmp_path / "results" / "turn.txt").read_text(encoding="utf-8") == "a table\n"
    assert json.loads((tmp_path / "results" / "turn.json").read_text(encoding="utf-8")) == {"clips": 3}
