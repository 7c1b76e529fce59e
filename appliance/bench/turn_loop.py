"""The loops that most scripts for a local assistant are: hear until it is silent, transcribe, ask, speak.

They are copies of a style, made of the same weights as the box, not the programs that have it: one step after the
other, as scripts do it; sentence by sentence with a short pause, as GLaDOS does it; and with a turn model that is asked
in every shorter pause, as pipecat does it.
"""

from __future__ import annotations

import asyncio
import json
import queue
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from appliance.audio import HEARING_FORMAT, Samples
from appliance.bench.paced_sound import Feeder, FirstSound, PreparedClip, is_audible
from appliance.bench.turn_worker import SENTENCES, SEQUENTIAL, SMART_TURN, Floor, Setup, TurnTaken
from appliance.home import Home
from appliance.wiring_turns import LoopParts, loop_parts

_STEP_SAMPLES = 512
_STEP_SECONDS = _STEP_SAMPLES / HEARING_FORMAT.sample_rate_hz
#: Voice activity in so many steps is speech; so many before them are kept.
_SPEECH_STEPS, _LEAD_STEPS = 3, 12
_THRESHOLD = 0.5
_SENTENCE = re.compile(r"(.+?[.!?])\s+", re.DOTALL)


@dataclass(frozen=True)
class Style:
    """``silence_seconds`` end an utterance; ``beam_size`` readings; spoken sentence by sentence, or all at once.

    With ``fallback_seconds`` the turn model is asked whether that silence is the end, and this much of it always is.
    """

    silence_seconds: float
    beam_size: int
    is_by_sentence: bool
    fallback_seconds: float = 0.0


STYLES = {
    SEQUENTIAL: Style(silence_seconds=0.7, beam_size=5, is_by_sentence=False),
    SENTENCES: Style(silence_seconds=0.416, beam_size=1, is_by_sentence=True),
    SMART_TURN: Style(silence_seconds=0.2, beam_size=5, is_by_sentence=True, fallback_seconds=3.0),
}


class Loop:
    """Meets ``Opened`` with a style over ``parts``; ``url`` is where Chat Completions are served."""

    def __init__(self, style: Style, parts: LoopParts, url: str) -> None:
        self._style = style
        self._parts = parts
        self._url = f"{url}/chat/completions"
        self._client = httpx.Client(timeout=60.0)

    async def take_turn(self, clip: PreparedClip) -> TurnTaken:
        """See ``Opened``."""
        return await asyncio.to_thread(self._take, clip)

    async def take_floor(self) -> Floor:
        """See ``Opened``."""
        return Floor()

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()

    def _take(self, clip: PreparedClip) -> TurnTaken:
        blocks: queue.SimpleQueue[Samples | None] = queue.SimpleQueue()
        feeder = Feeder(clip, blocks.put, when_over=lambda: blocks.put(None))
        feeder.start()
        try:
            utterance = self._listen(blocks)
        finally:
            feeder.stop()
        was_cut = time.monotonic() < feeder.speech_ended_at
        heard = self._parts.transcribe(utterance, self._style.beam_size) if len(utterance) else ""
        first: FirstSound | None = None
        for piece in self._answer(heard) if heard else ():
            if first is None and is_audible(piece):
                first = FirstSound.now()
        return TurnTaken(heard, *feeder.cost_of(first), was_cut=was_cut)

    # ------------------------------------------------------------------------------------------------ hearing

    def _listen(self, blocks: queue.SimpleQueue[Samples | None]) -> Samples:
        """What was said, from a little before it to the end of the silence behind it; nothing when nobody spoke."""
        self._parts.activity.reset()
        said, unheard = _Said(), np.zeros(0, dtype=np.int16)
        asks_at = self._style.silence_seconds
        while (block := blocks.get()) is not None:
            unheard = np.concatenate([unheard, block])
            while len(unheard) >= _STEP_SAMPLES:
                step, unheard = unheard[:_STEP_SAMPLES], unheard[_STEP_SAMPLES:]
                said.add(step, is_voiced=self._parts.activity.probability(step) >= _THRESHOLD)
                if not said.silent_seconds:
                    asks_at = self._style.silence_seconds
                elif said.has_begun and said.silent_seconds >= asks_at:
                    if asks_at > self._style.silence_seconds or self._is_finished(said.samples):
                        return said.samples
                    asks_at = self._style.fallback_seconds
        return said.samples

    def _is_finished(self, so_far: Samples) -> bool:
        return not self._style.fallback_seconds or self._parts.is_finished(so_far)

    # ----------------------------------------------------------------------------------------------- answering

    def _answer(self, heard: str) -> Iterator[Samples]:
        if self._style.is_by_sentence:
            for sentence in sentences(self._words(heard)):
                yield from self._parts.say(sentence)
        else:
            # All of it is made before any of it sounds.
            yield from list(self._parts.say("".join(self._words(heard))))

    def _words(self, heard: str) -> Iterator[str]:
        body = {"model": "stub", "stream": True, "messages": [{"role": "user", "content": heard}]}
        with self._client.stream("POST", self._url, json=body) as answer:
            for line in answer.iter_lines():
                data = line.removeprefix("data:").strip()
                if data and data != "[DONE]":
                    yield json.loads(data)["choices"][0]["delta"].get("content", "")


class _Said:
    """Steps of sound, from a little before the first speech on."""

    def __init__(self) -> None:
        self.has_begun = False
        self._steps: list[Samples] = []
        self._voiced = self._silent = 0

    def add(self, step: Samples, *, is_voiced: bool) -> None:
        self._steps.append(step)
        self._voiced, self._silent = (self._voiced + 1, 0) if is_voiced else (0, self._silent + 1)
        self.has_begun = self.has_begun or self._voiced >= _SPEECH_STEPS
        if not self.has_begun:
            self._steps = self._steps[-_LEAD_STEPS - _SPEECH_STEPS :]

    @property
    def silent_seconds(self) -> float:
        return self._silent * _STEP_SECONDS

    @property
    def samples(self) -> Samples:
        return np.concatenate(self._steps) if self.has_begun else np.zeros(0, dtype=np.int16)


def sentences(words: Iterator[str]) -> Iterator[str]:
    """Each sentence as soon as its last word is there."""
    text = ""
    for word in words:
        text += word
        if (whole := _SENTENCE.match(text)) is not None:
            yield whole[1]
            text = text[whole.end() :]
    if text.strip():
        yield text


@asynccontextmanager
async def open_loop(setup: Setup) -> AsyncIterator[Loop]:
    """The loop of that name. Raises ``WeightsError``."""
    folder, voice, home = Path(setup.whisper_folder), Path(setup.voice_file), Home(Path(setup.home))
    with loop_parts(folder, voice, home, setup.language, setup.threads) as parts:
        loop = Loop(STYLES[setup.system], parts, setup.url)
        try:
            yield loop
        finally:
            loop.close()
