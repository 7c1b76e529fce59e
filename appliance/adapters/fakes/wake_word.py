"""A wake word detector that finds a wake word when a test says so."""

from __future__ import annotations

from appliance.audio import AudioChunk


class FakeWakeWords:
    """Meets ``WakeWordDetector``: ``find_next`` makes the next chunk the one in which a wake word ended."""

    def __init__(self, phrases: tuple[str, ...] = ("okay nabu",)) -> None:
        self.phrases = phrases
        #: How many chunks were looked at, how many samples the longest had, and how often it was reset.
        self.chunks = 0
        self.longest_chunk = 0
        self.resets = 0
        self._next: str | None = None

    def find_next(self, phrase: str = "okay nabu") -> None:
        """The next chunk holds the end of ``phrase``."""
        self._next = phrase

    def detect(self, chunk: AudioChunk) -> str | None:
        """What ``find_next`` was told, once."""
        self.chunks += 1
        self.longest_chunk = max(self.longest_chunk, len(chunk.samples))
        found, self._next = self._next, None
        return found

    def reset(self) -> None:
        """Count it."""
        self.resets += 1
