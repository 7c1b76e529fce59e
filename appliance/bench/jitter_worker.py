"""A heartbeat beside work, run as a program: how late its beats are.

``python -m appliance.bench.jitter_worker WAY LOAD``: ``WAY`` is the face's own stage as a device runs it, or a plain
timer thread with Python's defaults; ``LOAD`` what else the process does. It says that it is ready, and then works and
beats for as many seconds as each line of its input says, and answers with the time of each beat, as JSON; in between it
does not work. It ends when its input does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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
from appliance.wiring_listening import turn_detector
from appliance.wiring_speech import SpeechParts, speech_parts

BEATS_PER_SECOND = 20.0
STAGE, TIMER = "stage", "timer"
IDLE, HEARING, SPEAKING, PYTHON, ALL = "idle", "hearing", "speaking", "python", "all of it"

#: What a worker says before its first beat is asked for.
READY = "ready"

_SETTLING_SECONDS = 0.5
_SENTENCE = "The washing machine will be done in about forty minutes, and then the dryer can begin."
_NOISE = np.random.default_rng(1).normal(0.0, 2000.0, 2 * HEARING_FORMAT.sample_rate_hz).astype(np.int16)


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


class Work:
    """Does each piece again and again, on a thread of its own, while it goes on."""

    def __init__(self, pieces: Sequence[Callable[[], None]]) -> None:
        self._goes_on = threading.Event()
        self._at_work = [threading.Lock() for _ in pieces]
        for piece, at_work in zip(pieces, self._at_work, strict=True):
            piece()  # What is loaded with the first one is no work.
            threading.Thread(target=self._run, args=(piece, at_work), daemon=True).start()

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        """Behind it everything stands still."""
        self._goes_on.set()
        yield
        self._goes_on.clear()
        for at_work in self._at_work:
            with at_work:
                pass

    def _run(self, piece: Callable[[], None], at_work: threading.Lock) -> None:
        while self._goes_on.wait():
            with at_work:
                while self._goes_on.is_set():
                    piece()


def main(way: str, load_name: str) -> None:
    """Beat beside the work, and print, for each line of input."""
    if way == STAGE:
        share_promptly()
    beats, work = Beats(), Work(list(_pieces(load_name)))
    with _beating(way, beats):
        print(json.dumps(READY), flush=True)
        for line in sys.stdin:
            with work.going_on():
                time.sleep(_SETTLING_SECONDS)
                beats.times.clear()
                time.sleep(float(line))
                times = list(beats.times)
            print(json.dumps(times), flush=True)
    os._exit(0)  # nobody waits for the engines to end


@contextlib.contextmanager
def _beating(way: str, beats: Beats) -> Iterator[None]:
    if way == STAGE:
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


def _pieces(load_name: str) -> Iterator[Callable[[], None]]:
    """A piece of each kind of work that goes on; half a second or less."""
    home = Home(Path("/nonexistent"))
    speech = speech_parts(home, load(None, {}), turn_detector(home))
    kinds: dict[str, Callable[[], None]] = {
        HEARING: lambda: asyncio.run(_hear(speech)),
        SPEAKING: lambda: asyncio.run(_speak(speech)),
        PYTHON: _count,
    }
    for name, work in kinds.items():
        if load_name in (name, ALL):
            yield work


async def _hear(speech: SpeechParts) -> None:
    await speech.transcriber.transcribe(AudioChunk(_NOISE, HEARING_FORMAT))


async def _speak(speech: SpeechParts) -> None:
    async for _ in speech.synthesizer.synthesize(_SENTENCE):
        pass


def _count() -> None:
    for _ in range(100):
        sum(number * number for number in range(1_000))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
