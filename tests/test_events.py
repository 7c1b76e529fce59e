"""Every fact survives the trace; a new kind of event is found here by itself."""

from __future__ import annotations

import dataclasses
import enum
import json
import typing
from typing import Any

import pytest

from appliance import events
from appliance.events import Event

KINDS = sorted(Event.kinds.values(), key=lambda kind: kind.__name__)

#: A value of each type that a field may have; a field of a new type needs one here.
SAMPLES: dict[type, Any] = {str: 'it said "ä 😀"\n', float: 1234.5, bool: True}


def sample(kind: type[Event], pick: int = 0) -> Event:
    """An event of that kind; ``pick`` chooses among the members of its enums."""
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        is_enum = isinstance(hint, type) and issubclass(hint, enum.Enum)
        values[field.name] = list(hint)[pick % len(hint)] if is_enum else SAMPLES[hint]
    return kind(**values)


def test_there_are_events() -> None:
    assert len(KINDS) > 15
    assert {"TurnStarted", "TurnEnded", "Transcribed"} <= set(Event.kinds)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_comes_back_from_the_trace_as_it_was(kind: type[Event]) -> None:
    for pick in range(20):
        event = sample(kind, pick)
        line = json.dumps(event.to_trace(), ensure_ascii=False)

        again = Event.from_trace(json.loads(line))

        assert again == event
        assert type(again) is kind
        for field in dataclasses.fields(kind):
            assert type(getattr(again, field.name)) is type(getattr(event, field.name)), field.name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_trace_line_names_its_event_first_and_is_flat(kind: type[Event]) -> None:
    line = sample(kind).to_trace()

    assert list(line)[:3] == ["event", "turn_id", "at_seconds"]
    assert line["event"] == kind.__name__
    assert not any(isinstance(value, dict | list | tuple) for value in line.values())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_is_a_fact_that_nobody_can_change(kind: type[Event]) -> None:
    event = sample(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.turn_id = "another"  # type: ignore[misc]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_says_what_it_tells(kind: type[Event]) -> None:
    assert len(kind.__doc__ or "") > 15
    assert not (kind.__doc__ or "").startswith(f"{kind.__name__}("), "that is what dataclass writes by itself"


def test_an_unknown_event_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown event 'TurnExploded'; known: .*TurnEnded"):
        Event.from_trace({"event": "TurnExploded", "turn_id": "", "at_seconds": 0.0})
    with pytest.raises(ValueError, match="unknown event ''"):
        Event.from_trace({})


def test_an_unknown_or_missing_field_is_named() -> None:
    line = events.Transcribed("turn-1", 1.0, "hello").to_trace()

    with pytest.raises(ValueError, match=r"Transcribed: .*volume"):
        Event.from_trace({**line, "volume": 3})
    with pytest.raises(ValueError, match=r"Transcribed: .*text"):
        Event.from_trace({name: value for name, value in line.items() if name != "text"})


def test_a_value_that_no_enum_has_is_named() -> None:
    line = {"event": "TurnEnded", "turn_id": "turn-1", "at_seconds": 1.0, "reason": "exploded"}
    with pytest.raises(ValueError, match="'exploded'"):
        Event.from_trace(line)


def test_reading_a_line_does_not_use_it_up() -> None:
    line = events.Transcribed("turn-1", 1.0, "hello").to_trace()

    assert Event.from_trace(line) == Event.from_trace(line)


def test_there_are_fourteen_moods() -> None:
    assert len(events.Emotion) == 14
