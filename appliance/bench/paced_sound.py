"""Sound in real time without a sound card: a clip is heard block by block, and who looks knows when a reply begins.

Blocks are due on the monotonic clock, however busy the machine is, so that a system which is late gets them late and
not slower. The first block of a reply with a sample above -50 dBFS is its beginning, the same for every system.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.ports import Render, SoundCardHealth, SoundCardInfo
from appliance.speak.mixer import Mixer

BLOCK_SECONDS = 0.02
_BLOCK_SAMPLES = round(BLOCK_SECONDS * HEARING_FORMAT.sample_rate_hz)
_OUTPUT_RATE_HZ = 48_000
_OUTPUT_FRAMES = round(BLOCK_SECONDS * _OUTPUT_RATE_HZ)
#: -50 dBFS.
AUDIBLE = 104


def is_audible(samples: Samples) -> bool:
    """Whether a sample is above -50 dBFS; leading zeros are no sound."""
    return bool(len(samples)) and int(np.abs(samples.astype(np.int32)).max()) > AUDIBLE


@dataclass(frozen=True)
class FirstSound:
    """When a reply began, on the monotonic clock, and the processor time that the process had used by then."""

    at: float
    cpu_seconds: float

    @classmethod
    def now(cls) -> FirstSound:
        """It begins."""
        return cls(time.monotonic(), time.process_time())


@dataclass(frozen=True, eq=False)
class PreparedClip:
    """What the microphone hears: a quiet room, speech that ends at ``end_seconds``, then room again."""

    samples: Samples
    end_seconds: float

    @classmethod
    def load(cls, file: Path, end_seconds: float) -> PreparedClip:
        """From a file of 16-bit samples in ``HEARING_FORMAT`` without a head."""
        return cls(np.fromfile(file, dtype=np.int16), end_seconds)


class Feeder:
    """Hands the blocks of a clip to ``deliver``, each when it is due, in a thread of its own; then ``when_over``."""

    def __init__(
        self, clip: PreparedClip, deliver: Callable[[Samples], None], when_over: Callable[[], None] = lambda: None
    ) -> None:
        self._clip = clip
        self._deliver = deliver
        self._when_over = when_over
        self._is_over = threading.Event()
        self._began = time.monotonic()
        self._cpu_seconds = time.process_time()
        self._thread = threading.Thread(target=self._feed, name="feeder")

    @property
    def speech_ended_at(self) -> float:
        """On the monotonic clock."""
        return self._began + self._clip.end_seconds

    def cost_of(self, first: FirstSound | None) -> tuple[float | None, float | None]:
        """Milliseconds from the end of speech to that sound, and processor seconds from the beginning to it."""
        if first is None:
            return None, None
        return 1000 * (first.at - self.speech_ended_at), first.cpu_seconds - self._cpu_seconds

    def start(self) -> None:
        """Begin now."""
        self._began, self._cpu_seconds = time.monotonic(), time.process_time()
        self._thread.start()

    def stop(self) -> None:
        """Nothing more is heard."""
        self._is_over.set()
        self._thread.join()

    def _feed(self) -> None:
        samples = self._clip.samples
        for number, start in enumerate(range(0, len(samples) - _BLOCK_SAMPLES + 1, _BLOCK_SAMPLES), 1):
            # A block is there when its last sample is.
            if self._is_over.wait(max(0.0, self._began + number * BLOCK_SECONDS - time.monotonic())):
                return
            self._deliver(samples[start : start + _BLOCK_SAMPLES])
        self._when_over()


class PacedSoundCard:
    """Meets ``SoundCard``. Between ``begin`` and ``end`` it hears a clip and plays; otherwise nothing happens at all.

    A reply's beginning is looked for in real time; what comes behind it is taken as fast as it is made, so that nobody
    has to wait for a reply to be spoken.
    """

    def __init__(self, mixer: Mixer) -> None:
        self.first_sound: FirstSound | None = None
        self.health = SoundCardHealth()
        self._mixer = mixer
        self._blocks: asyncio.Queue[AudioChunk | None] = asyncio.Queue()
        self._feeder: Feeder | None = None
        self._is_on = threading.Event()
        self._is_closed = False
        self._player: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def info(self) -> SoundCardInfo:
        """No device."""
        return SoundCardInfo("benchmark", "benchmark", _OUTPUT_RATE_HZ)

    async def open(self, render: Render) -> None:
        """Play from the first ``begin`` on."""
        self._loop = asyncio.get_running_loop()
        self._player = threading.Thread(target=self._play, args=(render,), name="player")
        self._player.start()

    def begin(self, clip: PreparedClip) -> Feeder:
        """Hear ``clip`` from now on."""
        self.first_sound = None
        self._feeder = Feeder(clip, self._hear)
        self._is_on.set()
        self._feeder.start()
        return self._feeder

    def end(self) -> None:
        """Hear and play nothing more."""
        self._is_on.clear()
        if self._feeder is not None:
            self._feeder.stop()
            self._feeder = None

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """Blocks of 20 ms, until ``close``."""
        while (block := await self._blocks.get()) is not None:
            yield block

    def set_attentive(self, attentive: bool) -> None:
        """Always is."""

    async def mute(self, muted: bool) -> None:
        """Nobody mutes a benchmark."""

    def output_ready(self) -> None:
        """The player has a clock of its own."""

    async def close(self) -> None:
        """End both threads."""
        self._is_closed = True
        self.end()
        self._is_on.set()
        self._blocks.put_nowait(None)
        if self._player is not None:
            await asyncio.to_thread(self._player.join)

    def _hear(self, samples: Samples) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._blocks.put_nowait, AudioChunk(samples, HEARING_FORMAT))

    def _play(self, render: Render) -> None:
        due = time.monotonic()
        while not self._is_closed:
            self._is_on.wait()
            if self.first_sound is None or not self._mixer.has_sound():
                due = max(due + BLOCK_SECONDS, time.monotonic() - BLOCK_SECONDS)
                time.sleep(max(0.0, due - time.monotonic()))
            block = render(_OUTPUT_FRAMES)
            if self.first_sound is None and is_audible(block):
                self.first_sound = FirstSound.now()
