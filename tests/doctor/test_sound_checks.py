"""What the doctor says of a microphone and a speaker, whose faults a test makes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import numpy as np
import pytest

from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.wav_sound_card import WavSoundCard
from appliance.clock import FakeClock, settle
from appliance.doctor.checks import sound_heard
from appliance.doctor.finding import Finding, Verdict
from appliance.doctor.sound_signal import Floats
from appliance.doctor.sound_trial import SoundTrial
from appliance.ports import SoundCardHealth, SoundCardInfo
from appliance.speak.mixer import Mixer
from tests.doctor.test_sound_signal import a_voice, hiss, recorded

RATE_HZ = 48_000
_BLOCK_SECONDS = 0.02

Look = Callable[[SoundTrial], Awaitable[Finding]]


class Room:
    """A room with a card in it, in a world whose time a test moves."""

    def __init__(self, *channels: Floats, speed: float = 1.0) -> None:
        self.clock = FakeClock()
        self.card = FakeSoundCard(output_rate_hz=RATE_HZ)
        self.mixer = Mixer(RATE_HZ, volume_percent=100)
        self.is_muted = self.is_busy = False
        #: How much of what is played comes back.
        self.echo_gain = 0.0
        self._channels = channels
        self._speed = speed
        self.trial = SoundTrial(
            self.card, self.mixer, self.clock, is_muted=lambda: self.is_muted, is_busy=lambda: self.is_busy
        )

    async def look(self, check: Look) -> Finding:
        """Do a check while sound comes and time goes by."""
        await self.card.open(self.mixer.render)
        task = asyncio.ensure_future(check(self.trial))
        await settle()
        at = 0
        while not task.done():
            await self.clock.advance(_BLOCK_SECONDS)
            at = await self._deliver(at)
        return await task

    async def _deliver(self, at: int) -> int:
        count = round(_BLOCK_SECONDS * RATE_HZ * self._speed)
        played = self.card.play(count).astype(np.float64) * self.echo_gain
        if self._channels:
            heard = [np.resize(channel, at + count)[at:] + played for channel in self._channels]
            self.card.deliver(recorded(*heard))
        await asyncio.sleep(0)
        return at + count


async def test_a_microphone_that_hears_the_room_is_fine() -> None:
    room = Room(a_voice(-50.0), a_voice(-52.0))
    finding = await room.look(sound_heard.sound_level)
    assert finding.verdict is Verdict.FINE and "-50, -52 dBFS" in finding.sentence
    assert (await room.look(sound_heard.sound_frames)).sentence == (
        "48000 of 48000 frames come in a second, in 2 channels."
    )


@pytest.mark.parametrize("channel", [np.zeros(RATE_HZ), hiss(-88, 1)])
async def test_a_box_that_hears_nothing_though_it_is_not_muted_is_told_to_look_for_the_switch(channel: Floats) -> None:
    finding = await Room(channel).look(sound_heard.sound_level)
    assert finding.verdict is Verdict.WRONG
    assert "hears nothing" in finding.sentence and "switch" in finding.advice


async def test_a_muted_box_is_not_called_deaf() -> None:
    room = Room(np.zeros(RATE_HZ))
    room.is_muted = True
    finding = await room.look(sound_heard.sound_level)
    assert finding.verdict is Verdict.FINE and "muted" in finding.sentence
    assert (await room.look(sound_heard.sound_frames)).verdict is Verdict.CANNOT_TELL


async def test_a_stuck_card_that_brings_not_even_silence_is_wrong() -> None:
    room = Room()
    finding = await room.look(sound_heard.sound_frames)
    assert finding.verdict is Verdict.WRONG and "No sound at all came from fake microphone" in finding.sentence
    assert (await room.look(sound_heard.sound_level)).verdict is Verdict.CANNOT_TELL


async def test_a_card_that_brings_too_few_frames_is_wrong() -> None:
    finding = await Room(a_voice(), speed=0.8).look(sound_heard.sound_frames)
    assert finding.verdict is Verdict.WRONG and finding.sentence.startswith("Only 38400 of 48000")


async def test_a_dead_channel_is_named() -> None:
    finding = await Room(a_voice(), np.zeros(RATE_HZ)).look(sound_heard.sound_channels)
    assert finding.verdict is Verdict.WRONG and "Channel 2 of 2 is dead" in finding.sentence


async def test_an_inverted_channel_is_told() -> None:
    voice = a_voice()
    finding = await Room(voice, -voice).look(sound_heard.sound_channels)
    assert finding.verdict is Verdict.WRONG and "inverted" in finding.sentence
    assert (await Room(voice).look(sound_heard.sound_channels)).sentence == "The microphone has one channel."


async def test_a_microphone_that_is_too_loud_is_told() -> None:
    assert (await Room(a_voice(0.0)).look(sound_heard.sound_clipping)).verdict is Verdict.WRONG
    assert (await Room(a_voice(-30.0)).look(sound_heard.sound_clipping)).verdict is Verdict.FINE


async def test_lost_sound_is_told() -> None:
    room = Room(a_voice())
    assert (await room.look(sound_heard.sound_dropouts)).verdict is Verdict.FINE
    room.card.health = SoundCardHealth(input_overruns=40)
    assert (await room.look(sound_heard.sound_dropouts)).verdict is Verdict.WRONG


@pytest.mark.parametrize(("gain", "loss"), [(0.1, "20 dB"), (0.01, "40 dB")])
async def test_the_echo_of_the_speaker_is_measured(gain: float, loss: str) -> None:
    room = Room(hiss(-75, 5))
    room.echo_gain = gain
    finding = await room.look(sound_heard.sound_echo)
    assert finding.verdict is Verdict.FINE and loss in finding.sentence


async def test_a_speaker_beside_the_microphone_is_told() -> None:
    room = Room(hiss(-75, 5))
    room.echo_gain = 0.9
    finding = await room.look(sound_heard.sound_echo)
    assert finding.verdict is Verdict.WRONG and "Move the speaker away" in finding.advice


async def test_a_silent_speaker_cannot_be_told_from_one_that_is_far_away() -> None:
    assert (await Room(hiss(-60, 5)).look(sound_heard.sound_echo)).verdict is Verdict.CANNOT_TELL


async def test_nobody_is_interrupted_by_a_chirp() -> None:
    room = Room(hiss(-75, 5))
    room.is_busy = True
    assert (await room.look(sound_heard.sound_echo)).verdict is Verdict.CANNOT_TELL
    assert not room.mixer.has_sound()


async def test_all_checks_listen_to_the_room_once() -> None:
    room = Room(a_voice())
    for check in (sound_heard.sound_level, sound_heard.sound_channels, sound_heard.sound_clipping):
        before = room.clock.monotonic_seconds()
        await room.look(check)
        if check is not sound_heard.sound_level:
            assert room.clock.monotonic_seconds() - before < 0.1


async def test_what_is_missing_is_told_with_one_thing_to_do() -> None:
    room = Room()
    room.card.info = SoundCardInfo("", "a speaker", RATE_HZ, "no microphone was found; plug one in (`x` lists them)")
    finding = sound_heard.sound_devices(room.trial)
    assert (finding.verdict, finding.sentence) == (Verdict.WRONG, "No microphone was found.")
    room.card.info = replace(room.card.info, problem="")
    assert sound_heard.sound_devices(room.trial).sentence == "There is no microphone."
    room.card.info = SoundCardInfo("a microphone", "a speaker", RATE_HZ)
    assert sound_heard.sound_devices(room.trial).verdict is Verdict.FINE


async def test_a_card_that_nobody_can_listen_in_on_is_no_fault() -> None:
    room = Room(a_voice())
    room.card.info = SoundCardInfo("", "", RATE_HZ)
    assert (await room.look(sound_heard.sound_level)).verdict is Verdict.CANNOT_TELL


async def test_a_box_for_typed_turns_does_not_complain_of_its_sound() -> None:
    clock = FakeClock()
    trial = SoundTrial(WavSoundCard(clock), Mixer(RATE_HZ), clock)
    assert sound_heard.sound_devices(trial).verdict is Verdict.CANNOT_TELL
    assert (await sound_heard.sound_level(trial)).verdict is Verdict.CANNOT_TELL
