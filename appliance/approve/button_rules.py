"""What the button can mean, and the times that decide it.

The times are those of people and of real switches: contacts were seen to bounce for up to 81 ms, radio noise on a
weakly pulled pin reads as a touch of some milliseconds, and people press again while a box still thinks.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True)
class ButtonRules:
    """The times, all in seconds."""

    #: Contact that must add up before the button counts as pressed, and gap before it counts as released.
    press_settles_seconds: float = 0.025
    release_settles_seconds: float = 0.040
    #: A shorter touch is noise; between this and ``longest_press_seconds`` it is a press. To approve, the contact must
    #: also have been closed for that long without a break.
    shortest_press_seconds: float = 0.060
    #: While a request is pending: up to the hold it is neither yes nor no.
    longest_press_seconds: float = 0.700
    hold_seconds: float = 1.2
    double_press_gap_seconds: float = 0.300
    shutdown_hold_seconds: float = 8.0
    shutdown_countdown_seconds: int = 5
    #: From the moment the question has named the tool until a press may approve; the same after ringing and a fault.
    arming_seconds: float = 1.0
    #: How long the button must have been at rest to be seen released, and how long a touch may bounce.
    at_rest_seconds: float = 0.100
    #: A press approves when the contact stayed still for that long behind it: a second touch takes it back.
    rest_seconds: float = 0.700
    #: How long the contact must have been still before a press counts: at least, and for each tenth of a second in
    #: which it moved since the request began; those before that count beyond what a talk by button takes.
    calm_seconds: float = 0.500
    calm_per_busy_tenth_seconds: float = 1.5
    most_calm_seconds: float = 10.0
    usual_busy_tenths: int = 10
    #: What is remembered of its moves.
    memory_seconds: float = 60.0
    #: Behind the end of a request.
    dark_seconds: float = 1.5
    #: Pressed for longer than this it is stuck.
    stuck_seconds: float = 15.0
    #: Without a reading for longer than this it is dead.
    dead_seconds: float = 2.0
    #: A fault is over when the button was at rest for this long.
    healed_seconds: float = 1.0
    #: Nobody presses so often: changes of the raw level, and tenths of a second that have one, within the window.
    #: A pin in the air sees the mains (100 changes a second) or random noise in nearly every tenth.
    noise_window_seconds: float = 3.0
    most_changes: int = 250
    most_busy_tenths: int = 24
    #: The same for one request: nobody presses fifteen times to say yes.
    most_busy_tenths_while_asked: int = 30
    #: The ear is open while the button is held; "stop all" moves to the double press, and holding shuts nothing down.
    hold_to_talk: bool = False

    @classmethod
    def of(cls, *, hold_to_talk: bool) -> ButtonRules:
        """The rules in force; who holds to talk may talk for longer than a stuck button is waited for."""
        return cls(hold_to_talk=True, stuck_seconds=60.0) if hold_to_talk else cls()


class FaultReason(enum.StrEnum):
    """Why the button cannot be trusted."""

    #: Pressed when first seen, or for too long.
    STUCK = "stuck"
    #: It changes more often than a hand could: a pin that hangs in the air.
    FLOATING = "floating"
    #: It cannot be read.
    DEAD = "dead"


class RequestEnding(enum.StrEnum):
    """How a request ended elsewhere than at the button; the lamp tells them apart."""

    #: By voice.
    DENIED = "denied"
    #: Nobody answered in time.
    EXPIRED = "expired"
    #: Nobody needs to know: answered over SSH, stopped with its turn.
    TAKEN_BACK = "taken back"


# --------------------------------------------------------------------------------------------- the decisions


@dataclass(frozen=True)
class Approve:
    """A press for exactly this request; the request is over."""

    request_id: str
    pressed_at_seconds: float
    released_at_seconds: float


@dataclass(frozen=True)
class Deny:
    """The button was held: no to this request; the request is over. ``StopAll`` follows."""

    request_id: str


@dataclass(frozen=True)
class Unclear:
    """Too long for a yes, too short for a no: the request stays open."""

    request_id: str


@dataclass(frozen=True)
class Silence:
    """Stop what rings, and nothing else."""


@dataclass(frozen=True)
class Talk:
    """A press that nothing else claims: listen, or stop what goes on. With hold-to-talk, the finger came down."""


@dataclass(frozen=True)
class TalkEnded:
    """With hold-to-talk, the finger went up."""


@dataclass(frozen=True)
class Mute:
    """Close the microphone, or open it again. ``Talk`` came with the first of the two presses."""


@dataclass(frozen=True)
class StopAll:
    """Stop everything that goes on."""


@dataclass(frozen=True)
class ShutdownCountdown:
    """Letting go within so many seconds is the way out."""

    seconds: int


@dataclass(frozen=True)
class ShutdownCancelled:
    """It was let go in time."""


@dataclass(frozen=True)
class Shutdown:
    """It was held to the end of the countdown."""


@dataclass(frozen=True)
class Fault:
    """The button is not to be trusted from here on; no press means anything."""

    reason: FaultReason


@dataclass(frozen=True)
class FaultCleared:
    """It was at rest for long enough."""


ButtonDecision = (
    Approve
    | Deny
    | Unclear
    | Silence
    | Talk
    | TalkEnded
    | Mute
    | StopAll
    | ShutdownCountdown
    | ShutdownCancelled
    | Shutdown
    | Fault
    | FaultCleared
)
