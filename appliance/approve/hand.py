"""A person's hand, as the asking side needs it: the button's own state machine stands behind this."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

from appliance.approve.button_rules import RequestEnding


class HandEnding(enum.StrEnum):
    """What the hand did."""

    APPROVED = "approved"
    DENIED = "denied"
    #: The button went away, or cannot be read any more: nobody can press it.
    LOST = "lost"


@dataclass(frozen=True)
class HandPress:
    """How a hand answered. Times are monotonic seconds, of the press that approves; 0 for the other endings."""

    ending: HandEnding
    pressed_at_seconds: float = 0.0
    released_at_seconds: float = 0.0


class Hand(Protocol):
    """Somebody who may press. Requests come one at a time, each ``begin``, perhaps ``arm``, ``end``.

    Called on the loop; only ``answer`` waits.
    """

    @property
    def is_usable(self) -> bool:
        """Whether a press could reach us now."""
        ...

    def begin(self, request_id: str) -> None:
        """A request is being asked about: a hold denies from now on, a press does nothing yet."""
        ...

    def arm(self, request_id: str) -> None:
        """The person knows by now what is asked: a fresh press, after the hand's own delay, approves from now on."""
        ...

    def end(self, request_id: str, ending: RequestEnding = RequestEnding.TAKEN_BACK) -> None:
        """It is over; a press is not for this request any more. Safe to call twice.

        ``ending`` is for the lamp, and counts only when the hand did not end it itself.
        """
        ...

    async def answer(self, request_id: str) -> HandPress:
        """Wait for what the hand does about this request, which has begun."""
        ...
