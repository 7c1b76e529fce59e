"""What a virtual speaker gave out, with the times at which it sounded."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.audio import AudioChunk, AudioFormat, Samples, level_dbfs

#: Rate of the virtual devices and of everything recorded from them.
RECORDING_FORMAT = AudioFormat(sample_rate_hz=48_000, channels=1)

#: Louder than this counts as sound: the virtual devices have no noise of their own.
SOUND_DBFS = -60.0

_STEP_SECONDS = 0.01
_STEP_SAMPLES = round(_STEP_SECONDS * RECORDING_FORMAT.sample_rate_hz)


class Recording:
    """Everything from the moment recording began; grows on the recorder's thread until that one is stopped.

    Times are those of ``time.monotonic()`` and good to about 20 ms, the recorder's latency.
    """

    def __init__(self) -> None:
        self._chunks: list[Samples] = []
        self._count = 0
        self._started_at_seconds = float("inf")
        self._is_over = False
        # Its lock is re-entrant: what is waited for may read the samples.
        self._grown = threading.Condition()

    @property
    def samples(self) -> Samples:
        """What was recorded so far, in ``RECORDING_FORMAT``."""
        with self._grown:
            return np.concatenate(self._chunks) if self._chunks else np.zeros(0, dtype=np.int16)

    @property
    def audio(self) -> AudioChunk:
        """``samples`` with their format."""
        return AudioChunk(self.samples, RECORDING_FORMAT)

    @property
    def started_at_seconds(self) -> float:
        """When the first sample sounded."""
        with self._grown:
            return self._started_at_seconds

    @property
    def first_sound_at_seconds(self) -> float | None:
        """When the first sound began; None when all is silent."""
        loud = self._loud_steps()
        return self.started_at_seconds + int(loud[0]) * _STEP_SECONDS if loud.size else None

    @property
    def last_sound_at_seconds(self) -> float | None:
        """When the last sound ended; None when all is silent."""
        loud = self._loud_steps()
        return self.started_at_seconds + (int(loud[-1]) + 1) * _STEP_SECONDS if loud.size else None

    def between(self, from_seconds: float, to_seconds: float) -> AudioChunk:
        """The part that sounded between two times."""
        rate = RECORDING_FORMAT.sample_rate_hz
        first = max(0, round((from_seconds - self.started_at_seconds) * rate))
        last = max(first, round((to_seconds - self.started_at_seconds) * rate))
        return AudioChunk(self.samples[first:last], RECORDING_FORMAT)

    def wait_for_sound(self, *, within_seconds: float, after_seconds: float = float("-inf")) -> None:
        """Return once something has sounded later than the time ``after_seconds``. Raises ``TimeoutError``."""

        def has_sounded() -> bool:
            last = self.last_sound_at_seconds
            return last is not None and last > after_seconds

        self._wait(has_sounded, within_seconds, "no sound")

    def wait_for_silence(self, *, lasting_seconds: float, within_seconds: float) -> None:
        """Return once the last ``lasting_seconds`` were silent. Raises ``TimeoutError``."""
        needed = round(lasting_seconds * RECORDING_FORMAT.sample_rate_hz)

        def is_silent() -> bool:
            tail = self.samples[-needed:]
            return len(tail) == needed and level_dbfs(tail) < SOUND_DBFS

        self._wait(is_silent, within_seconds, f"no silence of {lasting_seconds:g} s")

    def wait_until_begun(self, within_seconds: float) -> None:
        """Return once the first samples are here. Raises ``TimeoutError``."""
        self._wait(lambda: self._count > 0, within_seconds, "nothing recorded")

    def add(self, samples: Samples, at_seconds: float) -> None:
        """Take samples that arrived at ``at_seconds``."""
        with self._grown:
            self._chunks.append(samples)
            self._count += len(samples)
            # A late delivery makes the start look later than it was, never earlier: the earliest is the truest.
            start = at_seconds - self._count / RECORDING_FORMAT.sample_rate_hz
            self._started_at_seconds = min(self._started_at_seconds, start)
            self._grown.notify_all()

    def finish(self) -> None:
        """Nothing more will come."""
        with self._grown:
            self._is_over = True
            self._grown.notify_all()

    def _wait(self, is_met: Callable[[], bool], within_seconds: float, otherwise: str) -> None:
        with self._grown:
            self._grown.wait_for(lambda: is_met() or self._is_over, timeout=within_seconds)
            if not is_met():
                raise TimeoutError(f"{otherwise} within {within_seconds:g} s")

    def _loud_steps(self) -> npt.NDArray[np.intp]:
        """Which of the 10 ms steps have sound in them."""
        samples = self.samples
        steps = samples[: len(samples) // _STEP_SAMPLES * _STEP_SAMPLES].reshape(-1, _STEP_SAMPLES)
        # Peak, not level: a soft edge of a word is sound too.
        peaks = np.abs(steps.astype(np.int32)).max(axis=1, initial=0)
        return np.flatnonzero(peaks > 32768 * 10 ** (SOUND_DBFS / 20))
