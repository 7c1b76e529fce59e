"""The level of a microphone as a line of text, and what to say about it at the end."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from appliance.audio import AudioChunk, join
from appliance.doctor.sound_signal import SILENT_DBFS, channels_of

#: What the bar spans, and how wide it is.
_LOWEST_DBFS, _COLUMNS = -60.0, 30
#: Of one loud moment of somebody who speaks; below it whisper and the wake word miss too much.
_QUIET_DBFS = -42.0
_CLIPPED_SHARE = 0.001


class Verdict(enum.StrEnum):
    """How a microphone is."""

    GOOD = "good"
    QUIET = "too quiet"
    CLIPPED = "clipped"
    DEAD = "dead"


@dataclass(frozen=True)
class Judgement:
    """A verdict, with a sentence for the person."""

    verdict: Verdict
    sentence: str


class LevelMeter:
    """Hears chunks, one after the other."""

    def __init__(self) -> None:
        self._chunks: list[AudioChunk] = []
        self._loudest_dbfs = SILENT_DBFS

    @property
    def heard_seconds(self) -> float:
        """Length of all chunks."""
        return sum(chunk.duration_seconds for chunk in self._chunks)

    def hear(self, chunk: AudioChunk) -> str:
        """One more chunk; the line that shows its level."""
        self._chunks.append(chunk)
        self._loudest_dbfs = max(self._loudest_dbfs, chunk.level_dbfs)
        return f"  [{self._bar(chunk.level_dbfs)}] {chunk.level_dbfs:4.0f} dB, loudest {self._loudest_dbfs:.0f}"

    def judge(self, every_channel: AudioChunk | None = None) -> Judgement:
        """What to say; of all channels of the device, where they were recorded too."""
        heard = join(self._chunks) if self._chunks else None
        if heard is None or not len(heard.samples):
            return Judgement(Verdict.DEAD, "No sound came at all: unplug it and plug it in again, or take another one.")
        channels = channels_of(every_channel if every_channel is not None else heard)
        if all(channel.is_silent for channel in channels):
            return Judgement(Verdict.DEAD, "Dead channel: it delivers silence. Is it muted? alsamixer, F4 shows that.")
        if max(channel.clipped_share for channel in channels) > _CLIPPED_SHARE:
            return Judgement(Verdict.CLIPPED, "Clipped: it is too loud. Lower its level: alsamixer, F4.")
        dead = [str(number) for number, channel in enumerate(channels, 1) if channel.is_dead]
        note = f" (Channel {' and '.join(dead)} of {len(channels)} is dead; another one is used.)" if dead else ""
        if self._loudest_dbfs < _QUIET_DBFS:
            return Judgement(Verdict.QUIET, f"Too quiet: come nearer, or raise its level: alsamixer, F4.{note}")
        return Judgement(Verdict.GOOD, f"Good.{note}")

    def _bar(self, level_dbfs: float) -> str:
        filled = round((max(level_dbfs, _LOWEST_DBFS) - _LOWEST_DBFS) / -_LOWEST_DBFS * _COLUMNS)
        return "#" * filled + "-" * (_COLUMNS - filled)
