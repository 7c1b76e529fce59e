"""A sound card whose microphone does not hear its loudspeaker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest

from appliance.adapters.fakes.echo_canceller import FakeEchoCanceller
from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.audio import AudioChunk, AudioFormat, Samples, level_dbfs
from appliance.clock import settle
from appliance.errors import SoundCardLostError
from appliance.listen.duplex import DuplexSoundCard
from appliance.listen.echo_meter import DuplexMode, EchoFigure, EchoMeter

RATE = 16_000
BLOCK = 320
#: The far signal is kept so far ahead.
AHEAD = 80


def voice(blocks: int, seed: int = 1) -> Samples:
    return np.random.default_rng(seed).normal(0.0, 3000.0, blocks * BLOCK).clip(-30000, 30000).astype(np.int16)


@dataclass
class House:
    """The card, a loudspeaker that plays ``to_play``, and what came of it."""

    delay: int = 3 * BLOCK
    echo_gain: float = 0.5
    card: FakeSoundCard = field(default_factory=FakeSoundCard)
    heard: list[Samples] = field(default_factory=list)
    played: Samples = field(default_factory=lambda: np.zeros(0, dtype=np.int16))
    to_play: Samples = field(default_factory=lambda: np.zeros(0, dtype=np.int16))
    losses: int = 0

    def __post_init__(self) -> None:
        self.canceller = FakeEchoCanceller(echo_gain=self.echo_gain, delay_samples=self.delay - AHEAD)
        self.meter = EchoMeter()
        self.duplex = DuplexSoundCard(self.card, self.canceller, self.meter)
        self.card.is_attentive = True

    def render(self, frames: int) -> Samples:
        block = np.zeros(frames, dtype=np.int16)
        taken, self.to_play = self.to_play[:frames], self.to_play[frames:]
        block[: len(taken)] = taken
        return block

    async def goes_on(self, blocks: int, person: Samples | None = None) -> Samples:
        """So many blocks of 20 ms; what was heard in them."""
        before = len(self.heard)
        for number in range(blocks):
            self.played = np.concatenate([self.played, self.card.play(BLOCK)])
            end = len(self.played) - self.delay
            heard = self.played[end - BLOCK : end] if end >= BLOCK else np.zeros(BLOCK, dtype=np.int16)
            echo = heard * self.echo_gain
            said = person[number * BLOCK : (number + 1) * BLOCK] if person is not None else np.zeros(BLOCK)
            self.card.hear(np.clip(echo + said, -32768, 32767).astype(np.int16))
            await settle(5)
        return np.concatenate(self.heard[before:] or [np.zeros(0, dtype=np.int16)])

    async def listens(self) -> None:
        while True:
            try:
                async for chunk in self.duplex.chunks():
                    self.heard.append(chunk.samples)
                return
            except SoundCardLostError:
                self.losses += 1
                await asyncio.sleep(0)


@asynccontextmanager
async def a_house(**parts: float) -> AsyncIterator[House]:
    house = House(**parts)  # type: ignore[arg-type]
    # What was measured before a restart: an echo that has to be taken out.
    house.duplex.meter.remember(EchoFigure(loss_decibels=6.0, left_decibels=40.0))
    await house.duplex.open(house.render)
    task = asyncio.create_task(house.listens())
    await settle()
    try:
        yield house
    finally:
        await house.duplex.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_what_is_played_is_not_heard() -> None:
    async with a_house() as house:
        await house.goes_on(10)
        house.to_play = voice(50)
        heard = await house.goes_on(60)
        assert level_dbfs(heard[20 * BLOCK :]) < -60


async def test_a_person_is_heard_while_the_box_speaks() -> None:
    async with a_house() as house:
        house.to_play = voice(50)
        await house.goes_on(10)
        person = voice(20, seed=2)
        heard = await house.goes_on(20, person)
        assert np.max(np.abs(heard.astype(np.int32) - person)) < 10


@pytest.mark.parametrize("figure", [None, EchoFigure(loss_decibels=50.0, left_decibels=60.0)])
async def test_where_no_echo_is_known_what_people_say_is_left_as_it_is(figure: EchoFigure | None) -> None:
    async with a_house() as house:
        house.duplex.meter.remember(figure)
        house.echo_gain = 0.0
        house.to_play = voice(50)
        await house.goes_on(10)
        person = voice(20, seed=2)
        assert np.array_equal(await house.goes_on(20, person), person)
        assert house.canceller.steps, "it is measured all the same"


async def test_while_nothing_is_played_nothing_is_worked_on() -> None:
    async with a_house() as house:
        person = voice(100, seed=2)
        heard = await house.goes_on(100, person)
        assert house.canceller.steps == 0
        assert np.array_equal(heard, person)
        house.to_play = voice(10)
        await house.goes_on(10 + 75 + 10)
        steps = house.canceller.steps
        assert steps
        await house.goes_on(50)
        assert house.canceller.steps == steps, "a while behind the last sound it rests again"


async def test_a_card_that_comes_back_is_heard_without_echo_again() -> None:
    async with a_house() as house:
        house.to_play = voice(20)
        await house.goes_on(20)
        house.card.lose()
        await house.goes_on(30)
        house.card.come_back()
        await settle()
        assert house.losses
        await house.goes_on(5)
        house.to_play = voice(50, seed=4)
        heard = await house.goes_on(50)
        assert level_dbfs(heard[20 * BLOCK :]) < -60


async def test_what_was_played_while_the_microphone_was_closed_leaves_no_trace() -> None:
    async with a_house() as house:
        house.to_play = voice(400)
        await house.duplex.mute(True)
        await house.goes_on(300)
        await house.duplex.mute(False)
        heard = await house.goes_on(60)
        assert level_dbfs(heard[20 * BLOCK :]) < -60


async def test_chunks_of_80_ms_are_cancelled_as_well() -> None:
    async with a_house() as house:
        house.card.is_attentive = False
        await house.goes_on(10)
        house.to_play = voice(50)
        for _ in range(12):
            near = np.zeros(0, dtype=np.int16)
            for _ in range(4):
                house.played = np.concatenate([house.played, house.card.play(BLOCK)])
                end = len(house.played) - house.delay
                near = np.concatenate([near, (house.played[end - BLOCK : end] * 0.5).astype(np.int16)])
            house.card.hear(near)
            await settle(5)
        heard = np.concatenate(house.heard)
        assert level_dbfs(heard[-30 * BLOCK :]) < -60


async def test_it_tells_when_its_own_sound_is_in_the_room() -> None:
    async with a_house() as house:
        await house.goes_on(5)
        told = [house.duplex.is_sounding]
        house.to_play = voice(5)
        await house.goes_on(6)
        told.append(house.duplex.is_sounding)
        await asyncio.wait_for(house.duplex.sounding(), 1)
        await house.goes_on(90)
        told.append(house.duplex.is_sounding)
        assert told == [False, True, False]


async def test_the_measured_echo_decides_whether_it_may_be_talked_over() -> None:
    async with a_house() as house:
        house.duplex.meter.remember(None)
        before = house.meter.mode
        house.to_play = voice(250)
        await house.goes_on(250)
        assert (before, house.meter.mode) == (DuplexMode.HALF, DuplexMode.FULL)
        assert house.meter.figure is not None
        assert house.meter.figure.loss_decibels == pytest.approx(6.0, abs=1.0)


async def test_a_canceller_that_does_nothing_leaves_half_duplex() -> None:
    async with a_house(echo_gain=1.0) as house:
        house.canceller.echo_gain = 0.0
        house.to_play = voice(250)
        await house.goes_on(250)
        assert house.meter.mode is DuplexMode.HALF


async def test_everything_else_is_the_card_itself() -> None:
    async with a_house() as house:
        told: list[AudioChunk] = []
        leave = house.duplex.tap(told.append)
        house.card.deliver(AudioChunk(voice(1), AudioFormat(RATE)))
        leave()
        house.card.deliver(AudioChunk(voice(1), AudioFormat(RATE)))
        house.duplex.set_attentive(False)
        house.duplex.output_ready()
        assert len(told) == 1
        assert not house.card.is_attentive
        assert house.card.output_calls == 1
        assert house.duplex.info == house.card.info and house.duplex.health == house.card.health
