"""A mixer that renders at one rate, on a loudspeaker that plays at another."""

from __future__ import annotations

import numpy as np
import soxr

from appliance.audio import Samples
from appliance.ports import Render

#: Rendered at a time.
_BLOCK_SECONDS = 0.01
_QUALITY = "MQ"


class RateBridge:
    """Called like a ``Render``, on the audio thread; what it gives is some 15 ms late, at 8 kHz some 70."""

    def __init__(self, render: Render, from_hz: int, to_hz: int) -> None:
        self._render = render
        self._block_frames = round(_BLOCK_SECONDS * from_hz)
        self._resampler = soxr.ResampleStream(from_hz, to_hz, 1, "int16", _QUALITY)
        self._rest: Samples = np.zeros(0, dtype=np.int16)

    def __call__(self, frames: int) -> Samples:
        """The next ``frames`` samples at the loudspeaker's rate."""
        pieces, count = [self._rest], len(self._rest)
        while count < frames:
            piece = self._resampler.resample_chunk(self._render(self._block_frames))
            pieces.append(piece)
            count += len(piece)
        everything = np.concatenate(pieces)
        given, self._rest = everything[:frames], everything[frames:]
        return given


def bridged(render: Render, from_hz: int, to_hz: int) -> Render:
    """``render`` itself where both rates are the same."""
    return render if from_hz == to_hz else RateBridge(render, from_hz, to_hz)
