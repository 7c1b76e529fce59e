"""Stands in for the sounddevice module: devices that a test plugs, pulls and drives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from appliance.audio import Samples


class PortAudioError(Exception):
    """What sounddevice raises: a text, with PortAudio's number behind it."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass
class Device:
    """A device as PortAudio lists it, and what it really can do; empty sets can everything."""

    name: str
    inputs: int = 0
    outputs: int = 0
    rate_hz: int = 48_000
    rates: frozenset[int] = frozenset()
    channels: frozenset[int] = frozenset()
    is_busy: bool = False
    #: How fast its clock goes: 0 is frozen, 1.02 is 2 % fast.
    pace: float = 1.0
    is_dead_silent: bool = False


@dataclass
class FakePortAudio:
    """The part of sounddevice that is used."""

    devices: list[Device]
    default_devices: tuple[int, int] = (-1, -1)
    streams: list[Stream] = field(default_factory=list)
    initialisations: int = 0
    #: How often somebody tried to open a stream.
    attempts: int = 0
    PortAudioError: type[Exception] = PortAudioError
    #: Held by a test, whoever opens a stream hangs until it lets go.
    is_hanging: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._listed = list(self.devices)

    @property
    def default(self) -> Any:
        return SimpleNamespace(device=self.default_devices)

    def query_devices(self) -> list[dict[str, Any]]:
        return [
            {
                "name": device.name,
                "max_input_channels": device.inputs,
                "max_output_channels": device.outputs,
                "default_samplerate": float(device.rate_hz),
            }
            for device in self._listed
        ]

    def _terminate(self) -> None:
        assert not any(stream.is_open for stream in self.streams), "PortAudio must not be ended under open streams"

    def _initialize(self) -> None:
        self.initialisations += 1
        self._listed = list(self.devices)

    def InputStream(self, **options: Any) -> Stream:
        return self._open(True, options)

    def OutputStream(self, **options: Any) -> Stream:
        return self._open(False, options)

    def _open(self, is_input: bool, options: dict[str, Any]) -> Stream:
        device = self._listed[options["device"]]
        self.attempts += 1
        with self.is_hanging:
            pass
        most = device.inputs if is_input else device.outputs
        if device not in self.devices or device.is_busy:
            raise PortAudioError("Device unavailable", -9985)
        if options["channels"] > most or (device.channels and options["channels"] not in device.channels):
            raise PortAudioError("Invalid number of channels")
        if device.rates and options["samplerate"] not in device.rates:
            raise PortAudioError("Invalid sample rate")
        stream = Stream(device, is_input, options)
        self.streams.append(stream)
        return stream

    @property
    def has_microphone(self) -> bool:
        """Whether an input is open."""
        return any(stream.is_open and stream.is_input for stream in self.streams)

    @property
    def microphone(self) -> Stream:
        """The open input."""
        [stream] = [stream for stream in self.streams if stream.is_open and stream.is_input]
        return stream

    @property
    def speaker(self) -> Stream:
        """The open output."""
        [stream] = [stream for stream in self.streams if stream.is_open and not stream.is_input]
        return stream

    def run(self, seconds: float, sound: Callable[[int, int], Samples]) -> None:
        """All open streams go on for so long; microphones hear ``sound(frames, channels)``."""
        for stream in [stream for stream in self.streams if stream.is_open]:
            stream.run(seconds, sound)

    def pull(self, device: Device) -> None:
        """The device is gone: its streams end."""
        self.devices.remove(device)
        for stream in self.streams:
            if stream.device is device and stream.is_open:
                stream.end()


class Stream:
    """One stream; the test is its audio thread."""

    def __init__(self, device: Device, is_input: bool, options: dict[str, Any]) -> None:
        self.device = device
        self.is_input = is_input
        self.rate_hz: int = options["samplerate"]
        self.channels: int = options["channels"]
        self.block_frames: int = options["blocksize"]
        self.is_open = False
        self._due = 0.0
        self._callback: Callable[..., None] = options["callback"]
        self._finished: Callable[[], None] = options["finished_callback"]

    def start(self) -> None:
        self.is_open = True

    def close(self) -> None:
        if self.is_open:
            self.end()

    def end(self) -> None:
        """Stop for whatever reason."""
        self.is_open = False
        self._finished()

    def run(self, seconds: float, sound: Callable[[int, int], Samples]) -> None:
        """Go on for so long, as fast as the device does."""
        self._due += seconds * self.rate_hz * self.device.pace
        blocks = int(self._due / self.block_frames)
        self._due -= blocks * self.block_frames
        if self.is_input and blocks:
            frames = sound(blocks * self.block_frames, self.channels)
            self.deliver(np.zeros_like(frames) if self.device.is_dead_silent else frames)
        for _ in range(0 if self.is_input else blocks):
            self.demand()

    def deliver(self, frames: Samples, *, overflow: bool = False) -> None:
        """The device heard ``frames`` (shape ``(n, channels)``), in blocks."""
        assert frames.shape[1] == self.channels
        for start in range(0, len(frames), self.block_frames):
            block = frames[start : start + self.block_frames]
            self._callback(block, len(block), None, SimpleNamespace(input_overflow=overflow))

    def demand(self, *, underflow: bool = False) -> Samples:
        """The next block that the device plays, shape ``(n, channels)``."""
        block = np.full((self.block_frames, self.channels), 77, dtype=np.int16)
        self._callback(block, self.block_frames, None, SimpleNamespace(output_underflow=underflow))
        return block
