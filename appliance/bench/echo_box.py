"""The part of the box that hears while it speaks, whole and real, in a simulated room and on a clock of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, AudioFormat, Samples
from appliance.barge_in import BargeIn
from appliance.bench.simulated_room import Room, SimulatedRoom
from appliance.clock import FakeClock, settle
from appliance.listen.config import ListenConfig
from appliance.listen.duplex import DuplexSoundCard
from appliance.listen.ear import Ear
from appliance.listen.echo_meter import EchoMeter
from appliance.ports import SynthesizedChunk, Transcriber, Transcript
from appliance.ports_speaking import GrowingText
from appliance.speak.mixer import Mixer
from appliance.speak.speaker import Speaker
from appliance.wiring_duplex import EchoParts

OUTPUT_RATE_HZ = 48_000
STEP_SAMPLES = 320
STEP_SECONDS = STEP_SAMPLES / HEARING_FORMAT.sample_rate_hz
_VOLUME_PERCENT = 70
#: Behind so many steps the fade of a held voice is over.
_FADED_STEPS = 2


class CannedVoice:
    """Meets ``Synthesizer`` with sentences that were spoken beforehand: the benchmark's clock does not wait for it."""

    voice_key = "canned"

    def __init__(self, spoken: dict[str, AudioChunk]) -> None:
        self._spoken = spoken
        self.sample_rate_hz = next(iter(spoken.values())).format.sample_rate_hz

    async def warm_up(self) -> None:
        """Nothing to load."""

    def start_over(self) -> None:
        """Nothing can hang."""

    async def synthesize(
        self, text: str, *, speed: float = 1.0, in_haste: bool = False
    ) -> AsyncIterator[SynthesizedChunk]:
        yield SynthesizedChunk(self._spoken[text])

    async def synthesize_growing(self, text: GrowingText, *, speed: float = 1.0) -> AsyncIterator[SynthesizedChunk]:
        await text.more(text.text, 0.0)
        yield SynthesizedChunk(self._spoken[text.text])

    def close(self) -> None:
        """Nothing to close."""


class _TimelessTranscriber:
    """The real one, for whom the benchmark's clock stands still: its time is measured elsewhere."""

    def __init__(self, transcriber: Transcriber) -> None:
        self._transcriber = transcriber
        self._at_work = 0
        self.idle = asyncio.Event()
        self.idle.set()
        self.heard: list[str] = []

    async def warm_up(self) -> None:
        await self._transcriber.warm_up()

    async def transcribe(self, utterance: AudioChunk) -> Transcript:
        self._at_work += 1
        self.idle.clear()
        try:
            transcript = await self._transcriber.transcribe(utterance)
        finally:
            self._at_work -= 1
            if not self._at_work:
                self.idle.set()
        self.heard.append(transcript.text)
        return transcript

    def close(self) -> None:
        """It is not ours."""


class EchoFloor:
    """The word is the box's for as long as it speaks; what people make of that is written down."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self.stops = 0
        self.interruptions: list[str] = []

    @property
    def turn_to_talk_over(self) -> str:
        """There is one while something is said."""
        return "turn" if self._speaker.is_speaking else ""

    def stop(self) -> bool:
        """Somebody said so."""
        self.stops += 1
        self._speaker.stop()
        return True

    def interrupt(self, text: str) -> None:
        """Somebody said something else."""
        self.interruptions.append(text)
        self._speaker.stop()


class EchoBox:
    """One box in one room. ``run`` lets time go on; what was heard and played is counted."""

    def __init__(self, parts: EchoParts, room: Room, voice: CannedVoice, rules: ListenConfig) -> None:
        self.clock = FakeClock()
        self._room = SimulatedRoom(room, OUTPUT_RATE_HZ)
        self._card = parts.card(OUTPUT_RATE_HZ)
        self._mixer = Mixer(OUTPUT_RATE_HZ, volume_percent=_VOLUME_PERCENT)
        self.card = DuplexSoundCard(self._card, parts.canceller(), EchoMeter())
        ear = Ear(self.card, parts.activity(), parts.wake_words(), self.clock, rules)
        ear.wake_sound = self.card.for_wake_words
        self.speaker = Speaker(self._mixer, voice, self.clock, lambda _event: None)
        self.floor = EchoFloor(self.speaker)
        self.transcriber = _TimelessTranscriber(parts.transcriber)
        self.barge_in = BargeIn(
            self.floor,
            self.card,
            ear,
            self._mixer,
            self.speaker,
            self.transcriber,
            parts.activity(),
            parts.offline,
            parts.catalogue,
            self.clock,
            publish=lambda _event: None,
            sound=lambda _kind: None,
            rules=lambda: rules,
        )
        self._ear = ear
        #: How often the voice was lowered, how often held, and what the wake word detector found.
        self.ducks = self.holds = 0
        self.wakes: list[str] = []
        #: When the last sample that is no silence went out, and how long that was computed.
        self.last_sound_seconds = 0.0
        self.processor_seconds = 0.0
        self._steps_held = 0
        self._was_ducked = False
        #: When it had fallen silent, for each time that its voice was held for longer than its fade.
        self.silent_at_seconds: list[float] = []
        self._began_seconds = self.clock.monotonic_seconds()

    @property
    def cost_share(self) -> float:
        """Of real time, for hearing while speaking; transcribing is apart."""
        return self.processor_seconds / (self.clock.monotonic_seconds() - self._began_seconds)

    async def open(self) -> None:
        """Load what is late."""
        await self.card.open(self._mixer.render)
        await self.card.warm_up()

    async def run(self, seconds: float, person: Samples | None = None) -> None:
        """Let time go on; ``person`` speaks meanwhile."""
        steps = round(seconds / STEP_SECONDS)
        said = np.zeros(steps * STEP_SAMPLES, dtype=np.int32)
        if person is not None:
            said[: len(person)] = person[: len(said)]
        for step in range(steps):
            await self._step(said[step * STEP_SAMPLES : (step + 1) * STEP_SAMPLES])

    async def until_silent(self, at_most_seconds: float = 30.0) -> None:
        """Let time go on until nothing is said any more, and the room is silent."""
        until = self.clock.monotonic_seconds() + at_most_seconds
        while self.clock.monotonic_seconds() < until and (self.speaker.is_speaking or self.card.is_sounding):
            await self._step(np.zeros(STEP_SAMPLES, dtype=np.int32))

    async def _step(self, said: np.ndarray) -> None:
        played = self._card.play(self._room.frames_for(STEP_SAMPLES))
        loud = np.flatnonzero(played)
        if len(loud):
            self.last_sound_seconds = self.clock.monotonic_seconds() + (loud[-1] + 1) / OUTPUT_RATE_HZ
        near = self._room.hear(played, STEP_SAMPLES) + said
        began = time.process_time()
        self._card.hear(np.clip(near, -32768, 32767).astype(np.int16))
        await self.clock.advance(STEP_SECONDS)
        self.processor_seconds += time.process_time() - began
        await self.transcriber.idle.wait()
        await settle(5)
        self.ducks += self._mixer.is_ducked and not self._was_ducked
        self._was_ducked = self._mixer.is_ducked
        self._steps_held = self._steps_held + 1 if self.barge_in.is_holding else 0
        if self._steps_held == 1:
            self.holds += 1
        elif self._steps_held == _FADED_STEPS:
            self.silent_at_seconds.append(self.last_sound_seconds)

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """With the ear, barge-in and the wake word at work."""
        tasks = [
            asyncio.create_task(work, name=name)
            for name, work in (("ear", self._ear.run()), ("barge-in", self.barge_in.run()), ("wake", self._wake()))
        ]
        try:
            await settle()
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.speaker.close()
            await self.card.close()

    async def _wake(self) -> None:
        while True:
            self.wakes.append(await self._ear.wake())


def as_spoken(samples: Samples, rate_hz: int) -> AudioChunk:
    """A sentence of the canned voice."""
    return AudioChunk(samples, AudioFormat(rate_hz))
