"""Measures how much of our own voice the microphone hears, before and after it was taken out, and what that allows."""

from __future__ import annotations

import enum
from collections import deque
from dataclasses import dataclass

import numpy as np

from appliance.audio import HEARING_FORMAT, SILENCE_DBFS, Samples, level_dbfs

_RATE_HZ = HEARING_FORMAT.sample_rate_hz
#: Levels are compared over this long.
_BLOCK_SAMPLES = round(0.1 * _RATE_HZ)
#: Quieter sound of ours says nothing about its echo, which is lost in the noise of the room.
_LOUD_DBFS = -52.0
#: An echo comes so much later than its sound at most: the buffers of a busy sound server, then the room.
_ECHO_BLOCKS = 8
#: Our voice has to have sounded for so long without a gap for its echo to be there.
_STEADY_BLOCKS = 4
#: What is kept: the last six seconds of our own loud speech.
_KEPT_BLOCKS = 60
#: A canceller needs to have heard so much of us before it knows the room.
_LEARNING_BLOCKS = 15
_MEASURED_BLOCKS = 15
#: What is left after cancelling comes and goes: this share of the blocks is at least as good as the figure says. (The
#: worst may hold a person.)
_SURE_SHARE = 0.9
#: A quiet person at arm's length, as microphones of small boxes hear them.
SPEECH_DBFS = -38.0
#: What is left of our own voice must be so far below speech.
_FULL_DECIBELS, _GUARDED_DECIBELS = 12.0, 6.0
#: An echo so far below what is played is none (headphones): a canceller would take away speech only.
_NO_ECHO_DECIBELS = 30.0
#: Level of our own speech where none was measured yet: a piper voice at the usual volume.
_USUAL_DBFS = -24.0


class DuplexMode(enum.StrEnum):
    """Whether the box listens for people while it speaks."""

    #: Anybody may talk over it.
    FULL = "full"
    #: Somebody who speaks up may.
    GUARDED = "guarded"
    #: Only the wake word and the button interrupt it.
    HALF = "half"


@dataclass(frozen=True)
class EchoFigure:
    """How far below what we play our own voice is: ``loss_decibels`` in the microphone, ``left_decibels`` after it was
    taken out. ``played_dbfs`` is how loud we play.
    """

    loss_decibels: float
    left_decibels: float
    played_dbfs: float = _USUAL_DBFS

    @property
    def is_none(self) -> bool:
        """Whether there is no echo worth taking out."""
        return self.loss_decibels >= _NO_ECHO_DECIBELS

    @property
    def removed_decibels(self) -> float:
        """What the canceller takes away."""
        return self.left_decibels - self.loss_decibels

    @property
    def mode(self) -> DuplexMode:
        """What that allows."""
        below_speech = SPEECH_DBFS - (self.played_dbfs - self.left_decibels)
        if below_speech >= _FULL_DECIBELS:
            return DuplexMode.FULL
        return DuplexMode.GUARDED if below_speech >= _GUARDED_DECIBELS else DuplexMode.HALF

    @property
    def in_words(self) -> str:
        """For ``status`` and the doctor."""
        return f"echo {self.loss_decibels:.0f} dB below what is played, {self.left_decibels:.0f} dB after cancelling"


class EchoMeter:
    """Hears far, near and clean sound side by side, while we speak; ``is_paused`` while a person does."""

    def __init__(self) -> None:
        self.is_paused = False
        self._known: EchoFigure | None = None
        self._measured: EchoFigure | None = None
        self._room_dbfs = SILENCE_DBFS
        self._has_lost_step = False
        self._rests = [np.zeros(0, dtype=np.int16) for _ in range(3)]
        self._far_dbfs: deque[float] = deque(maxlen=_ECHO_BLOCKS)
        self._blocks: deque[tuple[float, float, float]] = deque(maxlen=_KEPT_BLOCKS)
        self._learnt = 0

    def remember(self, figure: EchoFigure | None) -> None:
        """What was measured before a restart, or with a chirp; our own measurement takes its place."""
        self._known = figure

    def relearn(self) -> None:
        """The devices were opened anew: the canceller has to find out again how they stand to each other."""
        self._far_dbfs.clear()
        self._learnt = 0

    def lose_step(self) -> None:
        """Sound was lost on its way, and the echo is not where it was."""
        self._has_lost_step = True
        self.relearn()

    def forget(self) -> None:
        """They are other devices, with another echo."""
        self._known = self._measured = None
        self._room_dbfs = SILENCE_DBFS
        self._blocks.clear()

    @property
    def is_learning(self) -> bool:
        """Whether the canceller has not yet heard enough of us since the devices were opened."""
        return self._learnt < _LEARNING_BLOCKS

    @property
    def figure(self) -> EchoFigure | None:
        """What was measured last; None when nothing ever was."""
        return self._measured or self._known

    @property
    def mode(self) -> DuplexMode:
        """What is safe now. Unknown is half; a canceller that still learns the room is guarded at most."""
        figure = self.figure
        if figure is None or figure.mode is DuplexMode.HALF or (self.is_learning and self._has_lost_step):
            return DuplexMode.HALF
        return DuplexMode.GUARDED if self.is_learning else figure.mode

    @property
    def expected_dbfs(self) -> float:
        """How loud what is left of our own voice may be at this moment; never below the noise of the room."""
        played, figure = max(self._far_dbfs, default=SILENCE_DBFS), self.figure
        left_decibels = 0.0
        if figure is not None:
            left_decibels = figure.loss_decibels if figure.is_none else figure.left_decibels
        return max(SILENCE_DBFS, self._room_dbfs, played - left_decibels)

    def hear(self, far: Samples, near: Samples, clean: Samples) -> None:
        """The next samples of all three, equally many."""
        self._rests = [np.concatenate([rest, new]) for rest, new in zip(self._rests, (far, near, clean), strict=True)]
        while len(self._rests[0]) >= _BLOCK_SAMPLES:
            block = [rest[:_BLOCK_SAMPLES] for rest in self._rests]
            self._rests = [rest[_BLOCK_SAMPLES:] for rest in self._rests]
            self._note(*map(level_dbfs, block))

    def silence(self) -> None:
        """Nothing was played for a while."""
        if self._far_dbfs:
            self._far_dbfs.clear()
            self._rests = [np.zeros(0, dtype=np.int16) for _ in range(3)]

    def _note(self, far_dbfs: float, near_dbfs: float, clean_dbfs: float) -> None:
        self._far_dbfs.append(far_dbfs)
        played = max(self._far_dbfs)
        steady = list(self._far_dbfs)[-_STEADY_BLOCKS:]
        if far_dbfs < _LOUD_DBFS or len(steady) < _STEADY_BLOCKS or min(steady) <= SILENCE_DBFS:
            return
        if self.is_learning:
            self._learnt += 1
            self._has_lost_step = self._has_lost_step and self.is_learning
        elif not self.is_paused:
            self._blocks.append((played, near_dbfs, clean_dbfs))
            if len(self._blocks) >= _MEASURED_BLOCKS:
                self._measure()

    def _measure(self) -> None:
        far, near, clean = np.array(self._blocks).T
        self._measured = EchoFigure(
            loss_decibels=float(np.median(far - near)),
            left_decibels=float(np.quantile(far - clean, 1.0 - _SURE_SHARE)),
            played_dbfs=float(np.quantile(far, 0.9)),
        )
        self._room_dbfs = float(np.quantile(clean, 1.0 - _SURE_SHARE))
