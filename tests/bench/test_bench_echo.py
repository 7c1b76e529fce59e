"""A few of the rooms of ``appliance bench echo``, with real weights and the real canceller."""

from __future__ import annotations

import pytest

from appliance.bench.echo import RoomResult, figures, measure, rooms, words_lost
from appliance.bench.simulated_room import Room
from appliance.config import load
from appliance.home import Home
from appliance.wiring_duplex import echo_parts

#: Beside a loudspeaker of its own; across a table; a hard room with two clocks.
_ROOMS = [Room(0.02, 0.2, -20.0), Room(0.08, 0.4, -10.0), Room(0.2, 0.8, 6.0, 200.0)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[RoomResult]:
    with echo_parts(load(None, {}), Home(tmp_path_factory.mktemp("home"))) as parts:
        return measure(parts, _ROOMS)


def test_the_box_hardly_ever_interrupts_itself(results: list[RoomResult]) -> None:
    """Its voice never says a sentence twice alike, so this is a matter of chance; the whole grid says how much."""
    assert sum(result.self_triggers for result in results) <= 1
    assert all(result.holds <= 9 for result in results), "three false halts for each of its three replies"


def test_its_own_wake_word_does_not_wake_it(results: list[RoomResult]) -> None:
    """The assistant ignores it besides; here it is hardly found. The voice never says a sentence twice alike."""
    assert sum(result.wakes for result in results) <= 2


def test_where_the_echo_is_quieter_than_a_person_it_may_be_talked_over(results: list[RoomResult]) -> None:
    quiet = results[:2]
    assert [result.mode for result in quiet] == ["full", "full"]
    assert all(result.removed_decibels > 4.0 for result in quiet)
    waits = [wait for result in quiet for wait in (result.stop_seconds, result.barge_in_seconds)]
    assert sum(wait is not None and wait < 0.6 for wait in waits) >= 2


def test_the_figure_is_over_what_was_noticed(results: list[RoomResult]) -> None:
    found = figures(results)
    assert {figure.id for figure in found} == {"P17"}
    assert all("configured default" in figure.against for figure in found)
    assert figures([]) == []


def test_the_grid_has_every_room() -> None:
    assert len(list(rooms())) == len(set(rooms())) == 72


def test_words_are_lost_only_when_nobody_understood_them() -> None:
    assert words_lost("ten of clubs", "10 of clubs.") == 0.0
    assert words_lost("five five", "5, 5") == 0.0
    assert words_lost("ten of clubs", "often") == pytest.approx(1.0)
