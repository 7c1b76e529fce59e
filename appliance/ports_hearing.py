"""The needs of hearing well: whether a person has finished, and our own voice taken out of what is heard.

The rest of the ports is in ``ports.py``; what is said there holds here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from appliance.audio import AudioChunk, Samples
    from appliance.ports import Transcript


class TurnDetector(Protocol):
    """Judges by melody and pace whether a person has finished speaking, or only pauses; on a thread of its own."""

    async def warm_up(self) -> None:
        """Load the weights and judge once, so that the first pause is not slow. Raises ``WeightsError``."""
        ...

    async def finished_probability(self, so_far: AudioChunk) -> float:
        """Chance, 0 to 1, that the utterance is complete at the end of ``so_far`` (``HEARING_FORMAT``).

        Raises ``HearingError``, and ``WeightsError`` each time when there are no weights.
        """
        ...

    def close(self) -> None:
        """Give the thread back."""
        ...


class EchoCanceller(Protocol):
    """Takes what the loudspeaker plays out of what the microphone hears; 16 kHz mono, 10 ms (160 samples) a call.

    It never fails: when it does not work, sound passes as it is.
    """

    async def warm_up(self) -> None:
        """Load what it needs; until then sound passes as it is."""
        ...

    def play(self, far: Samples) -> None:
        """What the loudspeaker gets next."""
        ...

    def hear(self, near: Samples, delay_seconds: float) -> Samples:
        """What the microphone heard, without what was played.

        ``delay_seconds`` is about how long a sample given to ``play`` takes until it is in ``near``.
        """
        ...


class QuickReader(Protocol):
    """Reads a short stretch of sound at once, or not at all; a transcriber is one."""

    async def glance(self, sound: AudioChunk) -> Transcript:
        """What is said in at most a few seconds of ``sound`` (``HEARING_FORMAT``), however unsure; no gate is asked.

        Raises ``HearingError``, also when nothing is loaded yet: it never waits for weights.
        """
        ...
