"""A raised bar for voice activity while the box itself speaks: what is as quiet as our own echo is not speech."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from appliance.audio import Samples, level_dbfs
from appliance.ports import VoiceActivityDetector

#: So much further above our echo than needed it is somebody: voice activity, which a canceller makes unsure, need then
#: be only this much as sure that it is speech.
_SURELY_SOMEBODY_DECIBELS = 12.0
_LESS_SURE = 0.4


@dataclass(frozen=True)
class Bar:
    """What counts as a person while we speak: how sure voice activity is, for how long, how far above our echo."""

    probability: float
    speech_seconds: float
    above_echo_decibels: float


class RaisedBar:
    """Meets ``VoiceActivityDetector``: 1 for a person, else 0. Once it is not ``is_raised`` any more, whoever began to
    speak may be as quiet as they like.

    ``echo_dbfs`` tells how loud our own echo may be at this moment; ``on_step`` is told of each step its level and
    how much louder than that it is, in decibels, speech or not.
    """

    def __init__(
        self,
        activity: VoiceActivityDetector,
        bar: Bar,
        echo_dbfs: Callable[[], float],
        is_raised: Callable[[], bool],
        on_step: Callable[[float, float], None] = lambda _dbfs, _above: None,
    ) -> None:
        self._activity = activity
        self._bar = bar
        self._echo_dbfs = echo_dbfs
        self._is_raised = is_raised
        self._on_step = on_step

    def probability(self, samples: Samples) -> float:
        """Whether that is a person."""
        probability = self._activity.probability(samples)
        if not self._is_raised():
            return 1.0 if probability >= self._bar.probability * _LESS_SURE else 0.0
        level = level_dbfs(samples)
        above_echo_decibels = level - self._echo_dbfs()
        self._on_step(level, above_echo_decibels)
        above_bar_decibels = above_echo_decibels - self._bar.above_echo_decibels
        needed = self._bar.probability * (_LESS_SURE if above_bar_decibels > _SURELY_SOMEBODY_DECIBELS else 1.0)
        return 1.0 if above_bar_decibels > 0.0 and probability >= needed else 0.0

    def reset(self) -> None:
        """Forget what was heard before."""
        self._activity.reset()
