"""A heartbeat beside work, run as a program: how late its beats are.

``python -m appliance.bench.jitter_worker WAY LOAD SECONDS``: ``WAY`` is the face's own stage as a device runs it, or a
plain timer thread with Python's defaults; ``LOAD`` what else the process does. Prints the time of each beat, as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.clock import SystemClock
from appliance.config import load
from appliance.face.animator import Animator
from appliance.face.stage import Stage
from appliance.home import Home
from appliance.ports import FacePart, FaceState
from appliance.promptness import share_promptly
from appliance.wiring_speech import SpeechParts, speech_parts

BEATS_PER_SECOND = 20.0
STAGE, TIMER = "stage", "timer"
IDLE, HEARING, SPEAKING, PYTHON, ALL = "idle", "hearing", "speaking", "python", "all of it"

_SETTLING_SECONDS = 1.0
_SENTENCE = "The washing machine will be done in about forty minutes, and then the dryer can begin."


class Beats:
    """Meets ``FaceBackend``: keeps when each pose came."""

    name = "beats"
    poses_per_second = BEATS_PER_SECOND
    parts: frozenset[FacePart] = frozenset()

    def __init__(self) -> None:
        self.times: list[float] = []

    def apply(self, _state: FaceState) -> None:
        """See ``FaceBackend``."""
        self.beat()

    def beat(self) -> None:
        """Keep the time."""
        self.times.append(time.monotonic())

    def park(self) -> None:
        """See ``FaceBackend``."""

    def close(self) -> None:
        """See ``FaceBackend``."""


def main(way: str, load_name: str, seconds: float) -> None:
    """Beat beside the work, and print."""
    beats = Beats()
    with at_work(load_name), _beating(way, beats):
        time.sleep(_SETTLING_SECONDS)
        beats.times.clear()
        time.sleep(seconds)
        times = list(beats.times)
    print(json.dumps(times), flush=True)
    os._exit(0)  # the work does not end by itself


@contextlib.contextmanager
def _beating(way: str, beats: Beats) -> Iterator[None]:
    if way == STAGE:
        share_promptly()
        stage = Stage(Animator(mouth=lambda _seconds: 0.0), [beats], SystemClock(), BEATS_PER_SECOND)
        stage.open()
        yield
        stage.close()
        return
    is_over = threading.Event()

    def run() -> None:
        while not is_over.wait(1.0 / BEATS_PER_SECOND):
            beats.beat()

    threading.Thread(target=run, daemon=True).start()
    yield
    is_over.set()


@contextlib.contextmanager
def at_work(load_name: str) -> Iterator[None]:
    """With that going on, on threads of its own and for ever."""
    speech = speech_parts(Home(Path("/nonexistent")), load(None, {}))
    kinds: dict[str, Callable[[], None]] = {
        HEARING: lambda: _hear(speech),
        SPEAKING: lambda: _speak(speech),
        PYTHON: _count,
    }
    for name, work in kinds.items():
        if load_name in (name, ALL):
            threading.Thread(target=work, daemon=True).start()
    yield


def _hear(speech: SpeechParts) -> None:
    noise = np.random.default_rng(1).normal(0.0, 2000.0, 2 * HEARING_FORMAT.sample_rate_hz).astype(np.int16)

    async def work() -> None:
        while True:
            await speech.transcriber.transcribe(AudioChunk(noise, HEARING_FORMAT))

    asyncio.run(work())


def _speak(speech: SpeechParts) -> None:
    async def work() -> None:
        while True:
            async for _ in speech.synthesizer.synthesize(_SENTENCE):
                pass

    asyncio.run(work())


def _count() -> None:
    while True:
        sum(number * number for number in range(1_000))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
