"""What the button's state machine keeps of a request and of a press."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class PendingRequest:
    """What is being asked."""

    request_id: str
    began_at: float
    armed_at: float | None = None
    #: When the button was seen still for long enough, fully armed; a press that began later approves.
    open_since: float | None = None
    #: While it is open: the one press that it hears has begun, or something that was none.
    is_touched: bool = False
    #: It has been open once, so a person may believe that a press approves.
    was_open: bool = False

    def open(self, at: float) -> None:
        """The next press may approve."""
        self.open_since, self.is_touched, self.was_open = at, False, True

    def close(self) -> None:
        """No press that has begun approves, nor does the next before it opens again."""
        self.open_since, self.is_touched = None, False


@dataclass
class Press:
    """A press that is going on."""

    began_at: float
    released_at: float = 0.0
    #: The request that it approves when it ends in time; "" for none.
    approves: str = ""
    is_confirmed: bool = False
    is_held: bool = False
    #: It has done what it can do.
    is_spent: bool = False
    is_talking: bool = False
    #: How long it had been held when the countdown began.
    counting_from_seconds: float | None = None
