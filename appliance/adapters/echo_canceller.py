"""Takes our own voice out of what the microphone hears, with WebRTC's audio processing (``livekit``)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from appliance.audio import HEARING_FORMAT, Samples

_LOG = logging.getLogger(__name__)

_RATE_HZ = HEARING_FORMAT.sample_rate_hz
#: As many failures in a row are no accident: from then on sound passes as it is.
_MOST_FAILURES = 5
#: WebRTC refuses longer delays; it finds the true one by itself anyhow.
_LONGEST_DELAY_SECONDS = 0.5


class WebRtcEchoCanceller:
    """Meets ``EchoCanceller``. Until ``warm_up``, and after five failures in a row, sound passes as it is.

    ``noise_suppression`` and ``gain_control`` are for microphones that have neither of their own. ``load`` gives the
    class of a frame and the processing.
    """

    def __init__(
        self,
        *,
        noise_suppression: bool = False,
        gain_control: bool = False,
        load: Callable[[], tuple[Any, Any]] | None = None,
    ) -> None:
        self._load = load or partial(_load, noise_suppression, gain_control)
        self._processing: Any = None
        self._frame: Any = None
        self._failures = 0

    @property
    def is_working(self) -> bool:
        """Whether it is loaded and has not been given up."""
        return self._processing is not None

    async def warm_up(self) -> None:
        """Load the library, on another thread: it takes a tenth of a second. What fails is told once, in the log."""
        try:
            self._frame, self._processing = await asyncio.to_thread(self._load)
        except Exception as error:
            self._give_up(error)

    def play(self, far: Samples) -> None:
        """What the loudspeaker gets next."""
        if self._processing is not None:
            try:
                self._processing.process_reverse_stream(self._frame_of(far))
            except Exception as error:
                self._fail(error)

    def hear(self, near: Samples, delay_seconds: float) -> Samples:
        """What the microphone heard, without what was played."""
        if self._processing is None:
            return near
        try:
            frame = self._frame_of(near)
            self._processing.set_stream_delay_ms(round(min(delay_seconds, _LONGEST_DELAY_SECONDS) * 1000))
            self._processing.process_stream(frame)
            clean = np.frombuffer(frame.data, dtype=np.int16)
        except Exception as error:
            self._fail(error)
            return near
        self._failures = 0
        return clean

    def _frame_of(self, samples: Samples) -> Any:
        return self._frame(bytearray(samples.tobytes()), _RATE_HZ, 1, len(samples))

    def _fail(self, error: Exception) -> None:
        self._failures += 1
        if self._failures >= _MOST_FAILURES:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Hearing with an echo is better than none; the echo is measured, so the box knows what it can still do."""
        self._processing = None
        _LOG.warning("the echo canceller does not work, our own voice stays in what is heard: %s", error)


def _load(noise_suppression: bool, gain_control: bool) -> tuple[Any, Any]:
    from livekit.rtc import AudioFrame, AudioProcessingModule

    processing = AudioProcessingModule(
        echo_cancellation=True, noise_suppression=noise_suppression, auto_gain_control=gain_control
    )
    return AudioFrame, processing
