"""Facts about a turn, for observers: trace, face, metrics. Past tense, frozen, JSON both ways.

A trace line is ``{"event": "Transcribed", "turn_id": "…", "at_seconds": 12.3, "text": "…"}``.
Deleting every observer changes no turn: whatever needs an answer is an awaited call on a port instead.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any, ClassVar


class Emotion(enum.StrEnum):
    """The 14 moods of the face; any other name becomes ``NEUTRAL``."""

    NEUTRAL = "neutral"
    HAPPY = "happy"
    EXCITED = "excited"
    SAD = "sad"
    CRYING = "crying"
    ANGRY = "angry"
    SURPRISED = "surprised"
    EMBARRASSED = "embarrassed"
    THINKING = "thinking"
    SLEEPY = "sleepy"
    AFFECTIONATE = "affectionate"
    CONFUSED = "confused"
    SCARED = "scared"
    DETERMINED = "determined"


class Activity(enum.StrEnum):
    """What the box is doing, shown over the emotion."""

    IDLE = "idle"
    LISTENING = "listening"
    WORKING = "working"
    SPEAKING = "speaking"
    MUTED = "muted"
    ASKING = "asking"
    ERROR = "error"
    OFFLINE = "offline"


class EndReason(enum.StrEnum):
    """Why a turn ended; every turn ends once, with one of these."""

    ANSWERED = "answered"
    STOPPED = "stopped"
    BARGED_IN = "barged_in"
    NOTHING_HEARD = "nothing_heard"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class Outcome(enum.StrEnum):
    """How a tool call ended: decides the line said, the face, the mark and the audit row."""

    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    PENDING = "pending"
    INTERRUPTED = "interrupted"


class Mark(enum.StrEnum):
    """The colour of a step row that is done: done, went wrong, or nothing was done."""

    GREEN = "green"
    RED = "red"
    GREY = "grey"


class LineKind(enum.StrEnum):
    """Which of a tool's lines was said."""

    ANNOUNCE = "announce"
    HEARTBEAT = "heartbeat"
    HUM = "hum"
    COMPLETE = "complete"
    FAIL = "fail"


@dataclass(frozen=True)
class Event:
    """One fact. ``turn_id`` is "" outside a turn; ``at_seconds`` is monotonic."""

    turn_id: str
    at_seconds: float

    kinds: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls) -> None:
        Event.kinds[cls.__name__] = cls

    def to_trace(self) -> dict[str, Any]:
        """The event as one JSON-ready object."""
        return {"event": type(self).__name__, **dataclasses.asdict(self)}

    @staticmethod
    def from_trace(line: dict[str, Any]) -> Event:
        """The event that ``to_trace`` wrote; ``ValueError`` names an unknown event or a wrong field."""
        fields = dict(line)
        name = str(fields.pop("event", ""))
        kind = Event.kinds.get(name)
        if kind is None:
            raise ValueError(f"unknown event {name!r}; known: {', '.join(sorted(Event.kinds))}")
        for field in dataclasses.fields(kind):
            choices = _ENUMS.get(str(field.type))
            if choices is not None and field.name in fields:
                fields[field.name] = choices(fields[field.name])
        try:
            return kind(**fields)
        except TypeError as error:
            raise ValueError(f"{name}: {error}") from error


@dataclass(frozen=True)
class EarOpened(Event):
    """A wake word that is spoken from now on is heard; what answers it may still be loading."""


@dataclass(frozen=True)
class Warmed(Event):
    """Everything that a first turn needs is loaded and has run once."""


@dataclass(frozen=True)
class WakeDetected(Event):
    """The ear was opened: by a wake word, the button, or a follow-up window (``word`` says which)."""

    word: str


@dataclass(frozen=True)
class SpeechStarted(Event):
    """The person began to speak."""


@dataclass(frozen=True)
class SpeechEnded(Event):
    """The utterance ended; ``utterance_seconds`` is its length without the silence behind it."""

    utterance_seconds: float


@dataclass(frozen=True)
class Transcribed(Event):
    """The utterance became text ("" when the gates let nothing through)."""

    text: str


@dataclass(frozen=True)
class DraftBegun(Event):
    """The model is asked ahead for what was said so far; the person may still go on."""


@dataclass(frozen=True)
class DraftEnded(Event):
    """That answer became the turn's own, or was thrown away."""

    is_used: bool


@dataclass(frozen=True)
class TurnStarted(Event):
    """A turn began; ``origin`` is voice, typed, or alert (the gap between two rings)."""

    origin: str


@dataclass(frozen=True)
class ToolStarted(Event):
    """A tool call began. Arguments are not in the trace: they may be private."""

    call_id: str
    tool: str
    risk: str


@dataclass(frozen=True)
class ToolFinished(Event):
    """A tool call ended."""

    call_id: str
    tool: str
    outcome: Outcome


@dataclass(frozen=True)
class StepStarted(Event):
    """An action got its step row; ``kind`` is its risk. Calls that only read have no row: see ``Peeked``."""

    call_id: str
    tool: str
    kind: str


@dataclass(frozen=True)
class StepDone(Event):
    """The step row of an action got its mark; ``note`` says in a few words why it is not green."""

    call_id: str
    tool: str
    mark: Mark
    note: str


@dataclass(frozen=True)
class Peeked(Event):
    """The status line shows the tool that reads now; "" clears it."""

    tool: str


@dataclass(frozen=True)
class Narrated(Event):
    """A tool's line, or a hum in its place, began to sound (or was shown, in a typed turn with voice off)."""

    kind: LineKind
    text: str


@dataclass(frozen=True)
class ReplySentenceSpoken(Event):
    """A sentence of the reply began to sound."""

    text: str


@dataclass(frozen=True)
class EmotionChanged(Event):
    """The face changed its mood; ``source`` is focus, fail, reply or rest."""

    emotion: Emotion
    source: str


@dataclass(frozen=True)
class ApprovalRequested(Event):
    """The desk began to ask a person about a call."""

    request_id: str
    tool: str


@dataclass(frozen=True)
class ApprovalDecided(Event):
    """The desk decided; ``decision`` is allowed, approved, declined, unanswered, unreachable or dismissed."""

    request_id: str
    tool: str
    decision: str


@dataclass(frozen=True)
class PlaybackStarted(Event):
    """The first sound of something said left the mixer; ``lane`` is speech, hum or alert."""

    lane: str


@dataclass(frozen=True)
class PlaybackFinished(Event):
    """The last sound of something said left the mixer; ``heard_text`` is what was really played."""

    heard_text: str


@dataclass(frozen=True)
class MuteChanged(Event):
    """The microphone was closed, or opened again."""

    is_muted: bool


@dataclass(frozen=True)
class ErrorRaised(Event):
    """Something failed; ``where`` is a layer or adapter, ``message`` holds no secret."""

    where: str
    message: str


@dataclass(frozen=True)
class TurnEnded(Event):
    """The turn is over; always, last, once."""

    reason: EndReason


_ENUMS: dict[str, type[enum.StrEnum]] = {
    kind.__name__: kind for kind in (Emotion, Activity, EndReason, Outcome, Mark, LineKind)
}
