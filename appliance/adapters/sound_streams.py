"""One PortAudio stream in each direction: what runs on the audio thread, and nothing else.

Input only copies and posts; output only asks the mixer for the next block.
"""

from __future__ import annotations

import errno
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from appliance.adapters.hearing_stream import HearingStream
from appliance.adapters.rate_bridge import bridged
from appliance.adapters.sound_devices import Direction, SoundDevice
from appliance.audio import HEARING_FORMAT, AudioChunk, AudioFormat, Samples
from appliance.errors import AudioError
from appliance.ports import Render

Opened = TypeVar("Opened")

_LOG = logging.getLogger(__name__)

_BLOCK_SECONDS = 0.02
#: Blocks kept for a core that is late: 5 s.
_MOST_BLOCKS = 250
#: What the output keeps ready: enough for a busy board, little enough that "stop" is obeyed at once.
OUTPUT_LATENCY_SECONDS = 0.06
_IDLE_BLOCKS, _ATTENTIVE_BLOCKS = 4, 1
#: Chunks are multiples of 10 ms.
_CHUNK_UNIT = HEARING_FORMAT.sample_rate_hz // 100
#: PortAudio's numbers for: illegal combination of devices (none is there), invalid device, device unavailable.
_DEVICE_IS_AWAY = (-9993, -9996, -9985)


@dataclass
class Counters:
    """Faults since the start; each field is written by one thread only."""

    overruns: int = 0
    underruns: int = 0
    dropped: int = 0
    arrived: int = 0


class Microphone:
    """An open input. ``news`` is called on the audio thread when enough sound waits, ``gone`` when it stopped.

    ``tap`` gets what ``chunks`` takes as the device gave it.
    """

    def __init__(
        self,
        portaudio: Any,
        device: SoundDevice,
        shape: tuple[int, int],
        counters: Counters,
        *,
        news: Callable[[], None],
        gone: Callable[[str], None],
        tap: Callable[[AudioChunk], None] = lambda _sound: None,
    ) -> None:
        rate_hz, channels = shape
        self.device = device
        self._format = AudioFormat(rate_hz, channels)
        self._tap = tap
        self.rate_hz = rate_hz
        #: What came since it was opened; stands still when the device is stuck.
        self.frames = 0
        #: Whether anything but zeros came since somebody set it to false.
        self.has_sounded = False
        self.blocks_wanted = _IDLE_BLOCKS
        self._counters = counters
        self._news = news
        self._blocks: deque[Samples] = deque(maxlen=_MOST_BLOCKS)
        self._hearing = HearingStream(rate_hz, channels)
        self._rest = np.zeros(0, dtype=np.int16)
        self._stream = _Stream(
            portaudio.InputStream, device, shape, self._take_block, lambda: gone("it stopped delivering sound"), "high"
        )

    def set_attentive(self, attentive: bool) -> None:
        """How much sound makes news: 20 ms, or 80 ms."""
        self.blocks_wanted = _ATTENTIVE_BLOCKS if attentive else _IDLE_BLOCKS

    def chunks(self) -> list[Samples]:
        """All sound that waits, in ``HEARING_FORMAT``, in pieces of at most the size that is on."""
        waiting = []
        while self._blocks:
            waiting.append(self._blocks.popleft())
        if waiting:
            raw = np.concatenate(waiting)
            self._tap(AudioChunk(raw if self._format.channels > 1 else raw[:, 0], self._format))
            frames = raw.astype(np.float32) / 32768.0
            self._rest = np.concatenate([self._rest, self._hearing.convert(frames)])
        whole = len(self._rest) // _CHUNK_UNIT * _CHUNK_UNIT
        ready, self._rest = self._rest[:whole], self._rest[whole:]
        size = round(self.blocks_wanted * _BLOCK_SECONDS * HEARING_FORMAT.sample_rate_hz)
        return [ready[start : start + size] for start in range(0, whole, size)]

    def close(self) -> None:
        """Give the device back; may take a moment. Safe to call twice."""
        self._stream.close()

    def _take_block(self, block: Samples, _frames: int, _time: Any, status: Any) -> None:
        if status.input_overflow:
            self._counters.overruns += 1
        if len(self._blocks) == _MOST_BLOCKS:
            self._counters.dropped += 1
        self._blocks.append(block.copy())
        self.frames += len(block)
        self.has_sounded = self.has_sounded or bool(block.any())
        self._counters.arrived += 1
        if len(self._blocks) >= self.blocks_wanted:
            self._news()


class Loudspeaker:
    """An open output that plays what ``render`` gives, at ``render_rate_hz``, the same on all channels."""

    def __init__(
        self,
        portaudio: Any,
        device: SoundDevice,
        shape: tuple[int, int],
        counters: Counters,
        *,
        render: Render,
        render_rate_hz: int = 0,
        gone: Callable[[str], None],
    ) -> None:
        self.device = device
        self.rate_hz, _ = shape
        #: What it took since it was opened, silence included.
        self.frames = 0
        #: Whether what it takes now can be heard.
        self.is_sounding = False
        self._counters = counters
        self._render = bridged(render, render_rate_hz or self.rate_hz, self.rate_hz)
        self._has_failed = False
        self._stream = _Stream(
            portaudio.OutputStream,
            device,
            shape,
            self._fill_block,
            lambda: gone("it stopped taking sound"),
            OUTPUT_LATENCY_SECONDS,
        )

    @property
    def is_alive(self) -> bool:
        """Whether it still takes sound, as far as is known."""
        return self._stream.is_alive

    def give_up(self) -> None:
        """It was found out that it does not."""
        self._stream.is_alive = False

    def close(self) -> None:
        """Give the device back; may take a moment. Safe to call twice."""
        self._stream.close()

    def _fill_block(self, block: Samples, frames: int, _time: Any, status: Any) -> None:
        # A gap in silence is silence: only what can be heard is a fault.
        if status.output_underflow and self.is_sounding:
            self._counters.underruns += 1
        self.frames += frames
        try:
            block[:] = self._render(frames)[:, np.newaxis]
            self.is_sounding = bool(block.any())
        except Exception:
            # An exception here would end the stream: silence for one block is better than silence for good.
            block.fill(0)
            if not self._has_failed:
                self._has_failed = True
                _LOG.exception("the mixer failed; told once for each stream")


class _Stream:
    """A PortAudio stream that is running, and knows whether it was us who closed it."""

    def __init__(
        self,
        make: Callable[..., Any],
        device: SoundDevice,
        shape: tuple[int, int],
        callback: Callable[[Samples, int, Any, Any], None],
        gone: Callable[[], None],
        latency: float | str,
    ) -> None:
        self._is_closing = False
        self.is_alive = True
        self._gone = gone
        rate_hz, channels = shape
        self._stream = make(
            device=device.index,
            samplerate=rate_hz,
            channels=channels,
            dtype="int16",
            blocksize=round(_BLOCK_SECONDS * rate_hz),
            latency=latency,
            callback=callback,
            finished_callback=self._finished,
        )
        try:
            self._stream.start()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._is_closing = True
        self._stream.close()

    def _finished(self) -> None:
        self.is_alive = False
        if not self._is_closing:
            self._gone()


def open_first(
    portaudio: Any,
    direction: Direction,
    devices: Sequence[SoundDevice],
    make: Callable[[SoundDevice, tuple[int, int]], Opened],
    rates_hz: Sequence[int] = (),
) -> Opened:
    """Try devices, rates and channels until ``make`` opens one. Raises ``AudioError`` when none does."""
    failures: dict[str, str] = {}
    for device in devices:
        for shape in device.shapes(direction, rates_hz):
            try:
                return make(device, shape)
            except (portaudio.PortAudioError, ValueError) as error:
                failures.setdefault(device.name, str(error))
                if not _is_about_shape(error):
                    break
    said = "; ".join(f"{name!r}: {failure}" for name, failure in failures.items())
    raise AudioError(f"the {direction} cannot be opened, perhaps another program uses it ({said})")


def _is_about_shape(error: Exception) -> bool:
    """Whether another rate, or another number of channels, may do; when the device itself is away, none will.

    ``error`` has PortAudio's number behind its text, and ALSA's behind that one where PortAudio has no word for it.
    """
    match error.args[1:]:
        case [int(code)]:
            return code not in _DEVICE_IS_AWAY
        case [int(), (_, int(code), *_)]:
            return code == -errno.EINVAL
        case _:
            return True
