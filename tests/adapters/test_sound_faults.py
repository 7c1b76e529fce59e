"""Sound devices that fail in every way, one after another: when they work again, the box hears and sounds again."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.adapters.sound_card import PortAudioSoundCard
from appliance.audio import AudioChunk, Samples
from appliance.clock import FakeClock, settle
from appliance.device_news import DeviceNews
from appliance.events import ErrorRaised, Event
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Ear
from tests.adapters.portaudio import Device, FakePortAudio

_STEP_SECONDS = 0.1
#: From the moment at which the devices work; the goal of the whole box.
_HEARS_WITHIN_SECONDS = 2.0


@dataclass
class House:
    """A card on fake hardware, an ear that hears with it, and who tells of it."""

    microphone: Device
    speaker: Device
    names: dict[str, str] = field(default_factory=dict)
    signs: str = "as it was"
    asleep: float = 0.0
    heard_chunks: int = 0
    levels: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    is_quiet: bool = False
    rendered: int = 0

    def __post_init__(self) -> None:
        self.portaudio = FakePortAudio([self.microphone] + [self.speaker] * (self.speaker is not self.microphone))
        self.clock = FakeClock()
        self.card = PortAudioSoundCard(
            self.clock, load=lambda: self.portaudio, signs=lambda: self.signs, asleep=lambda: self.asleep, **self.names
        )
        self.ear = Ear(self.card, LoudnessVoiceActivity(), FakeWakeWords(), self.clock, ListenConfig())
        self.news = DeviceNews(
            self.card,
            self.ear,
            self.clock,
            self.events.append,
            say=lambda key: self.said.append(key.removeprefix("assistant.")),
            is_quiet=lambda: self.is_quiet,
        )
        self.noise = np.random.default_rng(1)

    async def run(self, seconds: float, step_seconds: float = _STEP_SECONDS) -> None:
        """The devices go on, the box with them."""
        for _ in range(round(seconds / step_seconds)):
            self.portaudio.run(step_seconds, self._sound)
            await self.clock.advance(step_seconds)
            await self.settle()

    async def until(self, is_so: Callable[[], bool], within_seconds: float) -> float:
        """How long it took."""
        began = self.clock.monotonic_seconds()
        while not is_so():
            assert self.clock.monotonic_seconds() - began < within_seconds, f"not within {within_seconds:g} s"
            await self.run(_STEP_SECONDS)
        return self.clock.monotonic_seconds() - began

    async def settle(self) -> None:
        """Until the sound thread has nothing to do, which takes it no time of the fake clock."""
        await settle()
        while self.card._one_at_a_time.locked() and not self.portaudio.is_hanging.locked():
            await asyncio.to_thread(_nothing)
            await settle()

    async def hears_and_sounds(self, within_seconds: float = _HEARS_WITHIN_SECONDS) -> float:
        """How long until it does; it must go on to do so."""
        chunks, frames = self.heard_chunks, self.rendered

        def does() -> bool:
            return self.heard_chunks > chunks and self.rendered > frames and self.ear.can_hear

        return await self.until(does, within_seconds)

    def render(self, frames: int) -> Samples:
        self.rendered += frames
        return np.zeros(frames, dtype=np.int16)

    def lights(self) -> list[str]:
        return [event.where for event in self.events if isinstance(event, ErrorRaised)]

    def _sound(self, frames: int, channels: int) -> Samples:
        return self.noise.integers(-300, 300, (frames, channels), dtype=np.int16)

    def note(self, sound: AudioChunk) -> None:
        self.heard_chunks += 1
        self.levels.append(sound.level_dbfs)


def _nothing() -> None:
    """Another thread had the time to run."""


@asynccontextmanager
async def a_house(
    microphone: Device | None = None, speaker: Device | None = None, names: dict[str, str] | None = None
) -> AsyncIterator[House]:
    microphone = microphone or Device("USB Microphone: Audio (hw:1,0)", inputs=1)
    speaker = speaker or Device("Box: Speaker (hw:0,0)", outputs=2)
    house = House(microphone, speaker, names or {})
    tasks_then, threads_then = len(asyncio.all_tasks()), threading.active_count()
    await house.card.open(house.render)
    house.card.tap(house.note)
    house.ear.when_card_lost = lambda error: setattr(house.news, "reason", str(error))
    hearing, telling = asyncio.create_task(house.ear.run()), asyncio.create_task(house.news.run())
    await house.run(3.0)
    try:
        yield house
    finally:
        closing = asyncio.create_task(house.card.close())
        await house.run(2.0)
        await closing
        telling.cancel()
        await asyncio.wait_for(hearing, 5.0)
        await asyncio.gather(telling, return_exceptions=True)
        await settle()
    gc.collect()
    assert len(asyncio.all_tasks()) == tasks_then, "no task is left"
    for thread in threading.enumerate():
        if thread.name.startswith("sound card"):
            thread.join(5.0)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sound card")]
    assert threading.active_count() <= threads_then + 32  # those of to_thread


# ------------------------------------------------------------------------------------------- one by one


async def test_a_microphone_that_froze_is_heard_again_as_soon_as_it_goes_on() -> None:
    async with a_house() as house:
        house.microphone.pace = 0.0
        await house.until(lambda: not house.ear.can_hear, 2.1)
        await house.run(60.0)
        house.microphone.pace = 1.0
        await house.hears_and_sounds()
        await house.run(40.0)
        assert house.said == ["microphone_lost", "microphone_back"]
        assert house.lights() == ["listening"]


async def test_a_speaker_that_froze_is_opened_again_while_the_microphone_goes_on() -> None:
    async with a_house() as house:
        house.speaker.pace = 0.0
        await house.run(3.0)
        house.speaker.pace = 1.0
        await house.hears_and_sounds()
        assert house.ear.can_hear
        inputs = [stream for stream in house.portaudio.streams if stream.is_input]
        assert len(inputs) == 1, "nobody who spoke was cut short"
        assert house.said == []


async def test_a_speaker_that_is_gone_is_told_by_light_alone_and_by_voice_when_it_is_back() -> None:
    async with a_house() as house:
        house.portaudio.pull(house.speaker)
        await house.run(1.0)
        assert house.card.info.speaker == "Box: Speaker", "what is to be said waits for a moment"
        await house.run(9.0)
        assert house.card.info.speaker == ""
        assert (house.said, house.lights()) == ([], ["speaker"])
        house.portaudio.devices.append(house.speaker)
        await house.hears_and_sounds()
        await house.run(5.0)
        assert (house.said, house.lights()) == (["speaker_back"], ["speaker"])


async def test_a_headset_that_is_pulled_and_plugged_into_another_port_is_told_when_it_can_be_heard() -> None:
    headset = Device("USB Headset: Audio (hw:1,0)", inputs=1, outputs=2)
    async with a_house(headset, headset) as house:
        house.portaudio.pull(headset)
        house.signs = "pulled"
        await house.run(20.0)
        assert house.said == []
        house.portaudio.devices[:] = [Device("USB Headset: Audio (hw:3,0)", inputs=1, outputs=2)]
        house.signs = "plugged in"
        await house.hears_and_sounds()
        await house.run(5.0)
        assert house.said == ["microphone_back"]


async def test_a_microphone_that_comes_back_with_another_rate_and_more_channels_is_heard() -> None:
    async with a_house() as house:
        house.portaudio.pull(house.microphone)
        house.signs = "pulled"
        await house.run(5.0)
        again = Device(house.microphone.name, 4, rate_hz=16_000, rates=frozenset({16_000}), channels=frozenset({4}))
        house.portaudio.devices.append(again)
        house.signs = "plugged in"
        await house.hears_and_sounds()


async def test_a_speaker_that_comes_back_with_a_rate_of_its_own_sounds_right() -> None:
    async with a_house() as house:
        assert house.card.info.output_rate_hz == 48_000
        house.portaudio.pull(house.speaker)
        again = Device(house.speaker.name, outputs=2, rate_hz=44_100, rates=frozenset({44_100}))
        house.portaudio.devices.append(again)
        house.signs = "another speaker"
        await house.hears_and_sounds()
        before = house.rendered
        await house.run(10.0)
        assert house.rendered - before == pytest.approx(480_000, rel=0.01), "as fast as before"
        assert (house.portaudio.speaker.rate_hz, house.card.info.output_rate_hz) == (44_100, 48_000)


async def test_a_wild_microphone_is_opened_anew_more_and_more_rarely() -> None:
    async with a_house() as house:
        house.microphone.pace = 4.0
        await house.run(300.0, 0.5)
        opened = [stream for stream in house.portaudio.streams if stream.is_input]
        assert 3 <= len(opened) <= 8
        house.microphone.pace = 1.0
        await house.run(15.0)
        assert house.ear.can_hear


@pytest.mark.parametrize("pace", [0.98, 1.02])
async def test_a_clock_that_is_two_percent_off_bothers_nobody(pace: float) -> None:
    async with a_house() as house:
        house.microphone.pace = house.speaker.pace = pace
        await house.run(60.0)
        assert len(house.portaudio.streams) == 2
        assert (house.said, house.lights()) == ([], [])


async def test_a_stream_that_gives_only_zeros_is_opened_anew_a_few_times_and_told_once() -> None:
    async with a_house() as house:
        await house.run(310.0, 0.5)
        house.microphone.is_dead_silent = True
        await house.run(600.0, 0.5)
        assert len([stream for stream in house.portaudio.streams if stream.is_input]) == 4
        assert house.said == ["microphone_dead"]
        house.microphone.is_dead_silent = False
        await house.run(1.0)
        assert max(house.levels[-3:]) > -60.0


async def test_after_the_machine_slept_both_directions_are_opened_anew() -> None:
    async with a_house() as house:
        house.asleep = 3600.0
        await house.run(0.6)
        await house.hears_and_sounds()
        await house.run(10.0)
        assert len(house.portaudio.streams) == 4
        assert house.said == []


async def test_the_systems_new_choice_is_followed_when_nobody_speaks() -> None:
    better = Device("Better Microphone (hw:2,0)", inputs=1)
    async with a_house() as house:
        house.card.set_attentive(True)
        house.portaudio.devices.append(better)
        house.portaudio.default_devices = (2, 1)
        house.signs = "settings"
        await house.run(3.0)
        assert house.card.info.microphone == "USB Microphone: Audio", "not in the middle of a sentence"
        house.card.set_attentive(False)
        await house.run(2.0)
        assert house.card.info.microphone == "Better Microphone"
        await house.run(10.0)
        assert house.said == []


async def test_who_named_the_devices_is_not_disturbed_by_others() -> None:
    async with a_house(names={"microphone": "USB", "speaker": "Box"}) as house:
        house.portaudio.devices.append(Device("HDMI (hw:4,0)", outputs=8))
        house.signs = "a screen was plugged in"
        await house.run(10.0)
        assert len(house.portaudio.streams) == 2


async def test_a_device_that_flaps_is_told_once() -> None:
    async with a_house() as house:
        for _ in range(20):
            house.portaudio.pull(house.microphone)
            await house.run(3.0)
            house.portaudio.devices.append(house.microphone)
            await house.run(3.0)
        assert len(house.said) <= 2
        assert house.said[:1] == ["microphone_lost"]
        assert len(house.lights()) == 1
        await house.run(60.0)
        assert house.said == ["microphone_lost", "microphone_back"]


async def test_a_blink_is_told_nobody() -> None:
    async with a_house() as house:
        house.portaudio.microphone.end()
        await house.run(30.0)
        assert house.ear.can_hear
        assert (house.said, house.lights()) == ([], [])


async def test_in_quiet_hours_only_the_light_tells() -> None:
    async with a_house() as house:
        house.is_quiet = True
        house.portaudio.pull(house.microphone)
        await house.run(30.0)
        assert (house.said, house.lights()) == ([], ["listening"])
        house.is_quiet = False
        await house.run(2.0)
        assert house.said == ["microphone_lost"], "who gets up is told that it is still so"


async def test_a_sound_system_that_hangs_is_told_to_the_watchdog_and_used_again_when_it_answers() -> None:
    async with a_house() as house:
        with house.portaudio.is_hanging:
            house.portaudio.microphone.end()
            await house.run(90.0, 0.5)
            assert house.card.health.hanging_seconds > 60.0
            assert "does not answer" in house.card.info.problem
        await house.until(lambda: house.card.health.hanging_seconds == 0.0, 5.0)
        await house.hears_and_sounds()
        assert house.card.info.problem == ""


async def test_a_lost_device_costs_little_however_long_it_is_lost() -> None:
    async with a_house() as house:
        house.portaudio.pull(house.microphone)
        house.portaudio.pull(house.speaker)
        await house.run(60.0)
        at_first = house.portaudio.initialisations
        await house.run(900.0, 0.5)
        later, attempts = house.portaudio.initialisations, house.portaudio.attempts
        await house.run(300.0, 0.5)
        assert at_first <= 45
        assert house.portaudio.initialisations - later <= 31
        assert house.portaudio.attempts - attempts <= 2 * 31


# ------------------------------------------------------------------------------------------- at random


class Vandal:
    """Breaks and mends devices at random, and leaves them working in the end."""

    def __init__(self, house: House, seed: int) -> None:
        self._house = house
        self._random = random.Random(seed)
        self._plugs = 0
        self.done: list[str] = []

    async def rage(self, times: int) -> None:
        for _ in range(times):
            deed = self._random.choice(
                [self.pull, self.plug, self.freeze, self.go_wild, self.mute_it, self.occupy, self.end, self.sleep]
            )
            device = self._random.choice([self._house.microphone, self._house.speaker])
            self.done.append(f"{deed.__name__} {device.name}")
            deed(device)
            await self._house.run(self._random.choice([0.1, 0.4, 1.0, 3.0, 8.0]))

    def make_good(self) -> None:
        for device in (self._house.microphone, self._house.speaker):
            device.pace, device.is_dead_silent, device.is_busy = self._random.choice([0.98, 1.0, 1.02]), False, False
            self.plug(device)

    def pull(self, device: Device) -> None:
        if device in self._house.portaudio.devices:
            self._house.portaudio.pull(device)
            self._change()

    def plug(self, device: Device) -> None:
        if device not in self._house.portaudio.devices:
            self._plugs += 1
            base = device.name.partition(" (")[0]
            device.name = f"{base} (hw:{self._plugs},0)"
            device.rate_hz = self._random.choice([16_000, 44_100, 48_000])
            device.rates = self._random.choice([frozenset(), frozenset({device.rate_hz})])
            where = self._random.randrange(len(self._house.portaudio.devices) + 1)
            self._house.portaudio.devices.insert(where, device)
            self._change()

    def freeze(self, device: Device) -> None:
        device.pace = self._random.choice([0.0, 1.0])

    def go_wild(self, device: Device) -> None:
        device.pace = self._random.choice([0.1, 1.0, 3.0])

    def mute_it(self, device: Device) -> None:
        device.is_dead_silent = not device.is_dead_silent

    def occupy(self, device: Device) -> None:
        device.is_busy = not device.is_busy

    def end(self, device: Device) -> None:
        for stream in self._house.portaudio.streams:
            if stream.is_open and stream.device is device:
                stream.end()

    def sleep(self, _device: Device) -> None:
        self._house.asleep += 100.0

    def _change(self) -> None:
        self._house.signs = f"{self._house.signs[:20]} {self._random.random()}"


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_happened_before_devices_that_work_are_used_within_two_seconds(seed: int) -> None:
    async with a_house() as house:
        vandal = Vandal(house, seed)
        await vandal.rage(15)
        vandal.make_good()
        took = await house.hears_and_sounds(within_seconds=3.0)
        await house.run(80.0, 0.5)
        assert house.ear.can_hear, vandal.done
        assert house.card.info.problem == ""
        assert took <= _HEARS_WITHIN_SECONDS, vandal.done
        told = [key for key in house.said if key.startswith("microphone")]
        assert not [key for key, following in pairwise(told) if key == following], "once each"
        assert told[-1:] != ["microphone_lost"]
