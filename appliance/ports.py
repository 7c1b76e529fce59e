"""The needs of the core, each a small Protocol; adapters meet them and are passed in, never found.

Every port has a fake in ``appliance/adapters/fakes/`` that needs no hardware, can be driven and can be asked.
Unless a docstring says otherwise, methods are called on the event loop's thread and must not block it.
"""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from appliance.events import Activity, Emotion

if TYPE_CHECKING:
    # Only named in annotations: whoever needs no samples need not load numpy.
    from appliance.audio import AudioChunk, Samples
    from appliance.ports_speaking import GrowingText

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""


# ---------------------------------------------------------------------------------------- sound card


@dataclass(frozen=True)
class SoundCardInfo:
    """What a card turned out to be; names are stable ones a person recognises, "" when there is none.

    ``problem`` says for a person what is missing and what to do about it; "" when nothing is.
    ``output_latency_seconds`` is how long after ``render`` a sample is heard. ``is_microphone_dead``: it gives nothing
    but zeros, though it has noise of its own and was opened anew.
    """

    microphone: str
    speaker: str
    output_rate_hz: int
    problem: str = ""
    output_latency_seconds: float = 0.0
    is_microphone_dead: bool = False


@dataclass(frozen=True)
class SoundCardHealth:
    """Counters since start: lost input, gaps in a sound that played, input blocks dropped because we were late, and all
    that came from the microphone, late or not. ``hanging_seconds``: so long the sound system has not answered.
    """

    input_overruns: int = 0
    output_underruns: int = 0
    dropped_chunks: int = 0
    arrived_blocks: int = 0
    hanging_seconds: float = 0.0


#: Called on the audio thread for each output block: the number of frames wanted, back come int16 mono samples.
Render = Callable[[int], "Samples"]


class SoundCard(Protocol):
    """Both directions of sound; the core gets clean 16 kHz mono int16 and gives mono at ``output_rate_hz``."""

    @property
    def info(self) -> SoundCardInfo:
        """Valid after ``open``."""
        ...

    async def open(self, render: Render) -> None:
        """Open what exists. A missing microphone or speaker leaves its name "" and raises nothing.

        ``render`` is called from the audio thread until ``close`` and must not block.
        """
        ...

    def chunks(self) -> AsyncIterator[AudioChunk]:
        """Microphone blocks in ``HEARING_FORMAT``, a multiple of 10 ms each (80 ms idle, 20 ms in a turn).

        The queue behind it is bounded; the oldest block is dropped and counted when the core is late.
        Ends only on ``close``; raises ``SoundCardLostError`` when the device went away. Called again, it tries to
        open the device anew, both directions if need be, and raises the same when that fails.
        """
        ...

    def set_attentive(self, attentive: bool) -> None:
        """Small blocks (20 ms) while a turn is on, large ones (80 ms) while idle."""
        ...

    async def mute(self, muted: bool) -> None:
        """Close the input stream, so that nothing is captured at all; or open it again."""
        ...

    def output_ready(self) -> None:
        """The mixer has sound again; a card without a clock of its own starts pulling. Any thread."""
        ...

    @property
    def health(self) -> SoundCardHealth:
        """Counters since ``open``."""
        ...

    async def close(self) -> None:
        """Stop both streams; safe to call twice."""
        ...


# ------------------------------------------------------------------------------------------- hearing


class VoiceActivityDetector(Protocol):
    """Is there speech in this chunk?"""

    def probability(self, samples: Samples) -> float:
        """Chance of speech, 0 to 1, in the next 512 samples of 16 kHz mono; keeps state between calls."""
        ...

    def reset(self) -> None:
        """Forget what was heard before."""
        ...


class WakeWordDetector(Protocol):
    """Listens for one or several wake words."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """What a person may say, e.g. ``("okay nabu",)``."""
        ...

    def detect(self, chunk: AudioChunk) -> str | None:
        """The phrase that ended in this chunk, if any; chunks follow on each other."""
        ...

    def reset(self) -> None:
        """Forget what was heard before."""
        ...


@dataclass(frozen=True)
class Transcript:
    """Text of an utterance; "" when the gates let nothing through.

    ``average_log_probability`` is natural log per token, ``no_speech_probability`` 0 to 1.
    """

    text: str
    language: str = "en"
    average_log_probability: float = 0.0
    no_speech_probability: float = 0.0
    is_partial: bool = False


class Transcriber(Protocol):
    """Turns an utterance into text, on its own thread."""

    async def warm_up(self) -> None:
        """Load the weights and run once, so that the first utterance is not slow. Raises ``WeightsError``."""
        ...

    async def transcribe(self, utterance: AudioChunk) -> Transcript:
        """Text of ``utterance`` (``HEARING_FORMAT``). Silence gives "". Raises ``HearingError``."""
        ...

    def close(self) -> None:
        """Give the thread back."""
        ...


# ------------------------------------------------------------------------------------------ speaking


@dataclass(frozen=True)
class TimedPhoneme:
    """One phoneme (IPA) and how many output samples it lasts."""

    phoneme: str
    samples: int


@dataclass(frozen=True)
class SynthesizedChunk:
    """Sound of a stretch of text; ``phonemes`` is empty when the voice has no alignments."""

    audio: AudioChunk
    phonemes: tuple[TimedPhoneme, ...] = ()


class Synthesizer(Protocol):
    """Turns text into sound, on its own thread."""

    @property
    def voice_key(self) -> str:
        """Names voice and version; part of the key of the line cache."""
        ...

    @property
    def sample_rate_hz(self) -> int:
        """Rate of every chunk (mono)."""
        ...

    async def warm_up(self) -> None:
        """Load the voice and speak once into nothing. Raises ``WeightsError``."""
        ...

    def synthesize(self, text: str, *, speed: float = 1.0, in_haste: bool = False) -> AsyncIterator[SynthesizedChunk]:
        """Sound of ``text`` in order, as soon as it exists; ``speed`` 1.0 is the voice's own pace.

        ``in_haste`` the first words may be made before the rest is looked at: sooner, and not quite the same.
        Closing the iterator stops the work. Raises ``SynthesisError``.
        """
        ...

    def synthesize_growing(self, text: GrowingText, *, speed: float = 1.0) -> AsyncIterator[SynthesizedChunk]:
        """Sound of one sentence whose end is not written yet: its first words as soon as may be, the rest as it comes.

        A voice that needs the whole sentence waits for it. Otherwise as ``synthesize``.
        """
        ...

    def start_over(self) -> None:
        """It gave no sound for too long: if its thread never came back, go on with another one."""
        ...

    def close(self) -> None:
        """Give the thread back."""
        ...


class Priority(enum.IntEnum):
    """Who goes first on the speaker."""

    NOTICE = 0
    REPLY = 1
    APPROVAL = 2
    ALERT = 3


class Playback(Protocol):
    """Something on its way through the speaker."""

    @property
    def named_so_far(self) -> str:
        """The text that has really sounded until now."""
        ...

    def withdraw(self) -> None:
        """Do not begin with any further sentence; one that sounds is said to its end."""
        ...

    async def finished(self) -> str:
        """Wait for the end; the text that was heard (shorter than what was asked when it was flushed)."""
        ...


@dataclass(frozen=True)
class Answer:
    """What a person answered; ``ending`` is answered, unanswered or unreachable."""

    text: str
    ending: str


class Person(Protocol):
    """The person in the room, as the rest of the program may speak with them."""

    def say(self, text: str, priority: Priority = Priority.REPLY) -> Playback:
        """Say ``text`` when it is this priority's turn; returns at once."""
        ...

    async def ask(self, question: str, seconds: float) -> Answer:
        """Say ``question``, open the ear inside the turn, and give back what was said within ``seconds``."""
        ...

    def notice(self, key: str, text: str) -> None:
        """Say ``text`` once for this ``key``, when nothing else is going on (not in quiet hours)."""
        ...


# ---------------------------------------------------------------------------------------------- face


class FacePart(enum.StrEnum):
    """What a backend can move or light; the engine tells with what is there."""

    #: One light of any colour.
    LIGHT = "light"
    #: Several lights in a row or ring.
    RING = "ring"
    LIDS = "lids"
    BROWS = "brows"
    MOUTH = "mouth"
    NECK = "neck"
    GAZE = "gaze"


#: A drawn face has all of them.
ALL_FACE_PARTS = frozenset(FacePart)

Rgb = tuple[int, int, int]

#: Lights in ``FaceState.ring``; a backend with more or fewer stretches them.
RING_LIGHTS = 16


@dataclass(frozen=True)
class FaceState:
    """One pose of the face, as numbers; every backend sees only this.

    Angles in degrees from neutral (brow: positive = inner end up; lid 0 closed to 60 wide, 40 relaxed;
    mouth: positive = smile; neck: positive = up); ``mouth_open`` and ``brightness`` 0 to 1; gaze -1 to 1;
    ``rgb`` 0 to 255 before gamma, to be shown at ``brightness``. ``ring`` holds ``RING_LIGHTS`` colours for backends
    with several lights, from the top clockwise or from left to right, brightness included, before gamma; () means that
    all are ``rgb`` at ``brightness``. A backend that moves by itself (a microcontroller) takes ``emotion``,
    ``activity``, ``intensity`` (0 to 1) and ``transition_seconds`` instead of the numbers on their way, and turns its
    lights down to ``dimming`` (0 to 1), which is in ``brightness`` and ``ring`` already.
    """

    emotion: Emotion = Emotion.NEUTRAL
    activity: Activity = Activity.IDLE
    brow_left_degrees: float = 0.0
    brow_right_degrees: float = 0.0
    lid_degrees: float = 40.0
    mouth_degrees: float = 2.0
    mouth_open: float = 0.0
    neck_degrees: float = 0.0
    gaze_x: float = 0.0
    gaze_y: float = 0.0
    rgb: Rgb = (60, 140, 255)
    brightness: float = 0.7
    ring: tuple[Rgb, ...] = ()
    intensity: float = 1.0
    transition_seconds: float = 0.4
    dimming: float = 1.0


class FaceBackend(Protocol):
    """One thing that shows the face. Called only from a thread of its own; the latest pose wins.

    What fails raises ``OSError`` with a sentence that says what to do; it is told once, and tried again later, so
    ``apply`` opens the device when it is not open. Times are those of the thread: nothing here may take longer than
    a pose lasts, but a slow one holds up only itself.
    """

    @property
    def name(self) -> str:
        """Short name for logs and ``status``."""
        ...

    @property
    def parts(self) -> frozenset[FacePart]:
        """What it has."""
        ...

    @property
    def poses_per_second(self) -> float:
        """How many poses it can show; it is given no more."""
        ...

    def apply(self, state: FaceState) -> None:
        """Show the pose. Raises ``OSError`` when the device is gone, or is not there."""
        ...

    def park(self) -> None:
        """Go to rest: dark, eyes half closed, servos without pulses."""
        ...

    def close(self) -> None:
        """Give the device back; safe to call twice."""
        ...


class Button(Protocol):
    """The physical button: raw levels, bounce and all. What a press means is decided elsewhere."""

    @property
    def name(self) -> str:
        """What a person would call it, for the introduction and ``status``."""
        ...

    @property
    def is_present(self) -> bool:
        """Whether it is open and can be read; without that nothing risky is ever approved."""
        ...

    def listen(self, edge: Callable[[bool, float], None]) -> None:
        """Call ``edge(is_pressed, at_seconds)`` on every change while it is open, from any thread."""
        ...

    async def open(self) -> None:
        """Take the pin; called again after it was lost. Raises ``ButtonError``, which says what to do."""
        ...

    def sample(self) -> bool:
        """Whether it is pressed right now. Raises ``ButtonError`` when it cannot be read, or is not open."""
        ...

    def close(self) -> None:
        """Give the pin back; safe to call twice."""
        ...


class ButtonLamp(Protocol):
    """The lamp in the button. Only the approval code drives it."""

    def show(self, is_on: bool) -> None:
        """Light it, or not; takes the pin when needed. Raises ``ButtonError``."""
        ...

    def close(self) -> None:
        """Give the pin back, dark; safe to call twice."""
        ...


# ------------------------------------------------------------------------------------------- power


class Power(Protocol):
    """Switches the machine off, where the owner lets the box do that."""

    async def off(self) -> None:
        """Begin to switch it off; the system ends us soon after. Raises ``PowerError`` when it stays on."""
        ...


# ---------------------------------------------------------------------------------------------- turn


class CommitGate(Protocol):
    """Whether this turn is meant: tools, sound and history wait here."""

    async def committed(self) -> None:
        """Return when the turn is committed. Raises ``TurnDroppedError`` when it was thrown away."""
        ...


#: For callables that are awaited for their effect only.
AsyncCallback = Callable[[], Awaitable[None]]
