"""The far signal: what the loudspeaker was given, brought to the microphone's rate and kept in step with it.

Two clocks are at work, the loudspeaker's and the microphone's. For every sample of the microphone one far sample is
given out, so a fixed delay between both stays fixed; what the clocks drift apart is corrected where it does not hurt,
in silence, and a loudspeaker whose clock is plainly wrong is resampled at the rate that it really has.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import soxr

from appliance.audio import HEARING_FORMAT, Samples

_RATE_HZ = HEARING_FORMAT.sample_rate_hz
#: Blocks that may wait for a core that is late; at 20 ms each as long as the microphone's own queue (5 s).
_MOST_BLOCKS = 250
#: How far ahead of the microphone the far signal is kept. Blocks come in bursts, so a little must be in hand; but it
#: must reach the canceller before its echo does, and the loudspeaker's own delay (60 ms) is all the time there is.
_AHEAD_SAMPLES = round(0.005 * _RATE_HZ)
#: Where that is not enough it becomes more, step by step, up to the loudspeaker's delay: bursts mean large buffers.
_AHEAD_STEP_SAMPLES, _MOST_AHEAD_SAMPLES = round(0.01 * _RATE_HZ), round(0.06 * _RATE_HZ)
_TOLERANCE_SAMPLES = round(0.01 * _RATE_HZ)
#: Further ahead than this it is put right at once, whatever sounds: the echo would come before its cause.
_TOO_FAR_SAMPLES = round(0.1 * _RATE_HZ)
#: How often it is looked whether both still go at the same pace: longer than any burst, and than a busy moment.
_LOOK_SAMPLES = 4 * _RATE_HZ
#: Clocks are compared over this long. Two such stretches must agree: sound that was lost is in one of them only.
_COMPARE_SAMPLES = 12 * _RATE_HZ
_AGREEMENT = 0.004
#: Loudspeakers whose clock is off by less are kept in step in their silences; counting blocks is no more exact.
_PLAIN_SKEW = 0.004
#: Behind so much silence nothing of the last sound is in the resampler any more.
_SILENCE_SAMPLES = round(0.05 * _RATE_HZ)
#: The resampler of soxr that keeps nothing back (the others up to 40 ms, now more, now less: too late, and never the
#: same). It has no low-pass, so one comes before it.
_QUALITY = "QQ"
_LOWPASS_TAPS, _LOWPASS_HZ = 47, 7_000.0


class FarSignal:
    """``note`` is for the audio thread, all else for the loop's thread."""

    def __init__(self) -> None:
        self._blocks: deque[Samples] = deque(maxlen=_MOST_BLOCKS)
        #: How often it had to be brought back in step: the canceller then has to find the echo again.
        self.jumps = 0
        self._output_rate_hz = 0
        self._skew = 0.0
        self.restart()

    def note(self, samples: Samples) -> None:
        """The loudspeaker was given these, at its own rate. Audio thread."""
        self._blocks.append(samples)

    def restart(self) -> None:
        """One of the devices was opened anew: nothing that waits belongs to what comes."""
        self._blocks.clear()
        self._waiting: Samples = np.zeros(0, dtype=np.int16)
        self._is_in_step = False
        self._ahead = _AHEAD_SAMPLES
        self._lowest = _LOOK_SAMPLES
        self._looked = 0
        self._silent = _SILENCE_SAMPLES
        self._resampler: _Resampler | None = None
        self._far_count, self._near_count = 0.0, 0
        self._skew_before: float | None = None

    @property
    def skew(self) -> float:
        """By how much the loudspeaker's clock was found to be faster than the microphone's; 0.02 is 2 %."""
        return self._skew

    @property
    def ahead_seconds(self) -> float:
        """How far ahead of the microphone it is."""
        return len(self._waiting) / _RATE_HZ

    def pull(self, count: int, output_rate_hz: int) -> Samples:
        """The next ``count`` samples in ``HEARING_FORMAT``, to go with as many of the microphone."""
        if output_rate_hz != self._output_rate_hz:
            self.restart()
            self._output_rate_hz, self._skew = output_rate_hz, 0.0
        self._take_blocks()
        self._near_count += count
        if not self._is_in_step:
            self._align(count)
        missing = count - len(self._waiting)
        if missing > 0:
            self._ahead = min(self._ahead + _AHEAD_STEP_SAMPLES, _MOST_AHEAD_SAMPLES)
            self._put_ahead(missing + self._ahead)
            self.jumps += 1
        pulled, self._waiting = self._waiting[:count], self._waiting[count:]
        self._keep_step(count)
        return pulled

    # ------------------------------------------------------------------------------------------- private

    def _take_blocks(self) -> None:
        pieces = [self._waiting]
        while self._blocks:
            pieces.append(self._convert(self._blocks.popleft()))
        if len(pieces) > 1:
            self._waiting = np.concatenate(pieces)

    def _convert(self, block: Samples) -> Samples:
        """A block at the microphone's rate; silence costs next to nothing."""
        count, rest = divmod(len(block) * _RATE_HZ, self._output_rate_hz)
        self._far_count += count + rest / self._output_rate_hz
        was_silent, self._silent = self._silent, 0 if block.any() else self._silent + count
        if self._output_rate_hz == _RATE_HZ and not self._skew:
            return block
        if self._silent and was_silent > _SILENCE_SAMPLES and not rest and not self._skew:
            return np.zeros(count, dtype=np.int16)  # As the resampler would say, and it stays as it is.
        if self._resampler is None:
            self._resampler = _Resampler(self._output_rate_hz, _RATE_HZ / (1.0 + self._skew))
        return self._resampler.convert(block)

    def _align(self, count: int) -> None:
        """The first sound of the microphone: whatever waits longer than this sound is old."""
        surplus = len(self._waiting) - count - self._ahead
        if surplus > 0:
            self._waiting = self._waiting[surplus:]
        elif surplus < 0:
            self._put_ahead(-surplus)
        self._is_in_step = True
        self._lowest, self._looked = len(self._waiting), 0
        self._far_count, self._near_count = 0.0, 0

    def _put_ahead(self, count: int) -> None:
        self._waiting = np.concatenate([np.zeros(count, dtype=np.int16), self._waiting])

    def _keep_step(self, count: int) -> None:
        """Now and then: what is in hand at the worst moment is what counts, the rest are bursts."""
        self._lowest = min(self._lowest, len(self._waiting))
        self._looked += count
        if self._looked < _LOOK_SAMPLES:
            return
        surplus = self._lowest - self._ahead
        if surplus > _TOO_FAR_SAMPLES or (surplus > _TOLERANCE_SAMPLES and not self._waiting.any()):
            self._waiting = self._waiting[surplus:]
            self.jumps += 1
        self._lowest, self._looked = len(self._waiting), 0
        self._compare_clocks()

    def _compare_clocks(self) -> None:
        if self._near_count < _COMPARE_SAMPLES:
            return
        skew = self._far_count / self._near_count - 1.0
        self._far_count, self._near_count = 0.0, 0
        before, self._skew_before = self._skew_before, skew
        if before is None or abs(skew - before) > _AGREEMENT:
            return
        skew = (skew + before) / 2.0
        skew = skew if abs(skew) > _PLAIN_SKEW else 0.0
        if abs(skew - self._skew) > _AGREEMENT:
            self._skew, self._resampler = skew, None


class _Resampler:
    """A stream at the microphone's rate, at once."""

    def __init__(self, rate_hz: int, hearing_rate_hz: float) -> None:
        at = np.arange(_LOWPASS_TAPS) - (_LOWPASS_TAPS - 1) / 2
        taps = np.sinc(2.0 * _LOWPASS_HZ / rate_hz * at) * np.hamming(_LOWPASS_TAPS)
        self._taps = (taps / np.sum(taps)).astype(np.float32)
        self._past = np.zeros(_LOWPASS_TAPS - 1, dtype=np.float32)
        self._stream = soxr.ResampleStream(float(rate_hz), hearing_rate_hz, 1, "float32", _QUALITY)

    def convert(self, block: Samples) -> Samples:
        """The next samples."""
        wide = np.concatenate([self._past, block.astype(np.float32)])
        self._past = wide[len(block) :]
        resampled = self._stream.resample_chunk(np.convolve(wide, self._taps, "valid"))
        converted: Samples = np.clip(np.round(resampled), -32768, 32767).astype(np.int16)
        return converted
