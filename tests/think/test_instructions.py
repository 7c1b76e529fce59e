from __future__ import annotations

from datetime import UTC, datetime

import pytest

from appliance.clock import FakeClock
from appliance.think.instructions import Instructions
from appliance.think.soul import Soul

SOUL = Soul(name="Pip", personality="Calm and brief.", quirks="Likes the sea.")


def written(clock: FakeClock | None = None, *, name: str = "", place: str = "", tags: tuple[str, ...] = ()) -> str:
    made = Instructions(SOUL, clock=clock or FakeClock(), audio_tags=tags, name=name, place=place)
    return made.text("voice")


def test_soul_name_place_and_tags_are_in_it() -> None:
    text = written(place="Lisbon, Portugal", tags=("happily", "laughs softly"))
    assert "You are Pip" in text and "Calm and brief." in text and "Likes the sea." in text
    assert "Lisbon, Portugal" in text
    assert "[happily], [laughs softly]" in text
    assert "You are Robin" in written(name="Robin")


def test_it_says_that_there_is_no_live_data_and_how_to_speak() -> None:
    text = written()
    assert "no live data" in text and "never make up" in text and "spoken aloud" in text and "English" in text


@pytest.mark.parametrize(
    ("hour", "part"),
    [(0, "night"), (5, "early morning"), (11, "morning"), (12, "afternoon"), (21, "evening"), (22, "night")],
)
def test_the_date_and_the_part_of_the_day_are_known_the_minute_is_not(hour: int, part: str) -> None:
    text = written(FakeClock(datetime(2026, 5, 4, hour, 47, tzinfo=UTC)))
    assert f"Today is Monday, 4 May 2026; it is {part}." in text
    assert "47" not in text


def test_a_clock_that_is_not_set_gives_no_date() -> None:
    text = written(FakeClock(trusted=False))
    assert "not set" in text and "2026" not in text


def test_what_changes_stands_last_so_that_the_beginning_stays_the_same() -> None:
    clock = FakeClock(datetime(2026, 5, 4, 15, tzinfo=UTC))
    made = Instructions(SOUL, clock=clock, audio_tags=("happily",), place="Lisbon")
    before = made.text("voice")
    clock.set_wall(datetime(2026, 5, 5, 9, tzinfo=UTC))
    for later in (made.text("voice"), made.text("text", has_tools=False)):
        lasting = before[: before.index("# Now")]
        assert later.startswith(lasting) and len(lasting) > 0.8 * len(before)


def test_a_typed_turn_and_a_turn_without_tools_are_told() -> None:
    made = Instructions(SOUL, clock=FakeClock(), audio_tags=())
    assert "typed" in made.text("text") and "typed" not in made.text("voice")
    assert "no more tools" in made.text("voice", has_tools=False)
    assert "no more tools" not in made.text("voice")
