"""The lamp in the button: which light says what. Only the approval code drives it, no mood and no plugin."""

from __future__ import annotations

import enum


class LampPattern(enum.StrEnum):
    """What the lamp tells; speech says the same, for people who do not see it."""

    #: Nothing is asked, or it is dark between two requests.
    OFF = "off"
    #: A question is being asked; a press does not approve yet. Slow pulse.
    ASKING = "asking"
    #: A press approves. Two blinks a second.
    ARMED = "armed"
    #: The button feels a finger, or waits behind it for the contact to come to rest. Steady light.
    TOUCHED = "touched"
    #: One long light.
    ACCEPTED = "accepted"
    #: Two short lights.
    DENIED = "denied"
    #: Three short lights.
    EXPIRED = "expired"
    #: Neither yes nor no was understood. A flicker.
    UNCLEAR = "unclear"
    #: The button cannot be trusted. Fast double blink, without end.
    FAULT = "fault"


#: Seconds of light and dark by turns, light first. Those in ``_REPEATED`` begin again.
_TIMES: dict[LampPattern, tuple[float, ...]] = {
    LampPattern.OFF: (),
    LampPattern.ASKING: (1.0, 1.0),
    LampPattern.ARMED: (0.25, 0.25),
    LampPattern.TOUCHED: (1.0,),
    LampPattern.ACCEPTED: (0.4,),
    # These two begin dark: they come out of a light that was on, and are told apart by counting.
    LampPattern.DENIED: (0.0, 0.15, 0.15, 0.15, 0.15),
    LampPattern.EXPIRED: (0.0, 0.15, 0.15, 0.15, 0.15, 0.15, 0.15),
    LampPattern.UNCLEAR: (0.06, 0.06) * 5,
    LampPattern.FAULT: (0.08, 0.12, 0.08, 0.72),
}
_REPEATED = frozenset({LampPattern.ASKING, LampPattern.ARMED, LampPattern.TOUCHED, LampPattern.FAULT})


def is_on(pattern: LampPattern, seconds_in_pattern: float) -> bool:
    """Whether the lamp is lit that long after the pattern began."""
    times = _TIMES[pattern]
    if not times or seconds_in_pattern < 0.0:
        return False
    seconds = seconds_in_pattern % sum(times) if pattern in _REPEATED else seconds_in_pattern
    for index, length in enumerate(times):
        if seconds < length:
            return index % 2 == 0
        seconds -= length
    return False


def length_seconds(pattern: LampPattern) -> float:
    """How long a pattern that does not repeat lasts."""
    return sum(_TIMES[pattern])
