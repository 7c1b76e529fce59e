from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from appliance.adapters.sound_card import PortAudioSoundCard
from appliance.adapters.sound_devices import Direction, SoundDevice, candidates, stable_name
from appliance.audio import AudioChunk, Samples
from appliance.clock import FakeClock, settle
from appliance.errors import AudioError, SoundCardLostError
from tests.adapters.portaudio import Device, FakePortAudio

HEADSET = Device("USB Headset: Audio (hw:1,0)", inputs=1, outputs=2, rate_hz=44_100)
CAMERA = Device("Camera: USB Audio (hw:2,0)", inputs=2)
HDMI = Device("HDMI 0: - (hw:0,3)", outputs=8)


@dataclass
class Desk:
    """A card on fake hardware, with what its microphone brought."""

    portaudio: FakePortAudio
    card: PortAudioSoundCard
    clock: FakeClock
    heard: list[AudioChunk] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    cards: str = "two cards"

    async def hear(self) -> None:
        """Listen until the card is closed or lost."""
        try:
            async for chunk in self.card.chunks():
                self.heard.append(chunk)
        except SoundCardLostError as error:
            self.losses.append(str(error))

    @asynccontextmanager
    async def hearing_again(self) -> AsyncIterator[None]:
        """Listen again after a loss, once sound comes; closes the card at the end."""
        task = asyncio.create_task(self.hear())
        self.heard.clear()
        await eventually(self._hears_silence)
        yield
        await self.card.close()
        await asyncio.wait_for(task, 5.0)

    def _hears_silence(self) -> bool:
        if self.portaudio.has_microphone:
            stream = self.portaudio.microphone
            stream.deliver(np.zeros((stream.rate_hz // 10, stream.channels), dtype=np.int16))
        return bool(self.heard)

    @property
    def samples(self) -> Samples:
        return np.concatenate([chunk.samples for chunk in self.heard])


async def breathe() -> None:
    """Let the loop finish what it does; no time passes."""
    await settle(100)


async def eventually(is_so: Callable[[], bool]) -> None:
    """Let the sound thread work until ``is_so``."""
    for _ in range(20_000):
        if is_so():
            return
        await asyncio.to_thread(settle_thread)
    raise AssertionError("it never came to that")


def settle_thread() -> None:
    """Nothing: another thread had the time to run."""


@asynccontextmanager
async def a_desk(*devices: Device, default: tuple[int, int] = (-1, -1), **names: str) -> AsyncIterator[Desk]:
    portaudio = FakePortAudio(list(devices), default)
    clock = FakeClock()
    desk: Desk
    card = PortAudioSoundCard(clock, load=lambda: portaudio, signs=lambda: desk.cards, **names)
    desk = Desk(portaudio, card, clock)
    await card.open(lambda frames: np.full(frames, 321, dtype=np.int16))
    task = asyncio.create_task(desk.hear())
    await breathe()
    try:
        yield desk
    finally:
        await card.close()
        await asyncio.wait_for(task, 5.0)


def tone(rate_hz: int, channels: int, *, live: int = 0, seconds: float = 1.0) -> Samples:
    frames = np.zeros((round(rate_hz * seconds), channels), dtype=np.int16)
    frames[:, live] = 10_000 * np.sin(2 * np.pi * 440 * np.arange(len(frames)) / rate_hz)
    return frames


# ------------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("listed", "stable"),
    [
        ("USB PnP Sound Device: Audio (hw:1,0)", "USB PnP Sound Device: Audio"),
        ("bcm2835 Headphones: - (hw:0,0)", "bcm2835 Headphones"),
        ("ReSpeaker 4 Mic Array (UAC1.0): USB Audio (hw:3,0)", "ReSpeaker 4 Mic Array (UAC1.0): USB Audio"),
        ("default", "default"),
        ("Monitor (2)", "Monitor (2)"),
    ],
)
def test_a_name_holds_no_number_that_moves(listed: str, stable: str) -> None:
    assert stable_name(listed) == stable


def devices(*names: str) -> list[SoundDevice]:
    return [SoundDevice(stable_name(name), index, 2, 2, 48_000, "(hw:" in name) for index, name in enumerate(names)]


def test_a_device_is_found_by_part_of_its_name_whatever_its_number() -> None:
    found = devices("HDMI: - (hw:0,3)", "USB Headset: Audio (hw:5,0)", "default")
    assert [device.index for device in candidates(found, "headset", Direction.INPUT)] == [1]
    assert [device.index for device in candidates(found, "USB Headset: Audio (hw:1,0)", Direction.INPUT)] == [1]
    assert candidates(found, "Camera", Direction.INPUT) == []


def test_a_whole_name_wins_over_a_part() -> None:
    found = devices("USB Headset Pro", "USB Headset")
    assert [device.index for device in candidates(found, "usb headset", Direction.INPUT)] == [1]


def test_without_a_name_the_systems_choice_comes_first_and_then_hardware() -> None:
    found = [*devices("surround", "HDMI (hw:0,3)"), SoundDevice("default", 2, 2, 2, 48_000, is_default_input=True)]
    assert [device.index for device in candidates(found, "", Direction.INPUT)] == [2, 1, 0]


# ------------------------------------------------------------------------------------------------ opening


async def test_what_the_system_chose_is_opened_in_both_directions() -> None:
    async with a_desk(HDMI, HEADSET, CAMERA, default=(2, 1)) as desk:
        info = desk.card.info
        assert (info.microphone, info.speaker) == ("Camera: USB Audio", "USB Headset: Audio")
        assert (info.output_rate_hz, info.problem) == (44_100, "")
        assert desk.card.health.dropped_chunks == 0


async def test_devices_are_opened_by_name() -> None:
    async with a_desk(HDMI, HEADSET, CAMERA, default=(2, 0), microphone="headset", speaker="Headset") as desk:
        assert desk.card.info.microphone == desk.card.info.speaker == "USB Headset: Audio"


@pytest.mark.parametrize(
    ("device", "shape"),
    [
        (Device("only 48 kHz", 1, rate_hz=16_000, rates=frozenset({48_000})), (48_000, 1)),
        (Device("only 8 kHz", 1, rates=frozenset({8_000})), (8_000, 1)),
        (Device("only six channels", 6, channels=frozenset({6})), (48_000, 6)),
        (Device("a sound server", 32), (48_000, 2)),
        (Device("odd", 4, rate_hz=96_000, rates=frozenset({16_000}), channels=frozenset({4})), (16_000, 4)),
    ],
)
async def test_a_microphone_is_opened_as_it_can(device: Device, shape: tuple[int, int]) -> None:
    async with a_desk(device) as desk:
        stream = desk.portaudio.microphone
        assert (stream.rate_hz, stream.channels) == shape
        stream.deliver(tone(stream.rate_hz, stream.channels, live=shape[1] - 1))
        await breathe()
        assert len(desk.samples) == pytest.approx(16_000, abs=2000)
        assert np.abs(desk.samples).max() == pytest.approx(10_000, abs=300), "a dead channel does not halve the level"
        assert all(len(chunk.samples) % 160 == 0 for chunk in desk.heard)


async def test_a_busy_device_leaves_the_choice_to_the_next() -> None:
    async with a_desk(Device("busy", 1, is_busy=True), CAMERA, default=(0, -1)) as desk:
        assert desk.card.info.microphone == "Camera: USB Audio"


async def test_a_box_without_devices_says_what_to_do_and_goes_on() -> None:
    async with a_desk() as desk:
        info = desk.card.info
        assert (info.microphone, info.speaker, info.output_rate_hz) == ("", "", 48_000)
        assert "no microphone was found; plug one in" in info.problem
        assert "no speaker was found" in info.problem


async def test_a_device_of_another_name_is_not_taken_instead() -> None:
    async with a_desk(CAMERA, HDMI, microphone="Headset") as desk:
        assert desk.card.info.microphone == ""
        assert desk.card.info.speaker == "HDMI 0"
        assert desk.card.info.problem == (
            "there is no microphone named 'Headset'; there are: 'Camera: USB Audio' (set audio.microphone)"
        )


async def test_a_microphone_that_another_program_uses_is_named() -> None:
    async with a_desk(Device("taken", 1, is_busy=True), HDMI) as desk:
        assert "perhaps another program uses it" in desk.card.info.problem
        assert "'taken': Device unavailable" in desk.card.info.problem


async def test_without_portaudio_it_says_what_to_install() -> None:
    def load() -> Any:
        raise AudioError("PortAudio is not installed; install it with: sudo apt install libportaudio2")

    card = PortAudioSoundCard(FakeClock(), load=load, signs=lambda: "")
    await card.open(lambda frames: np.zeros(frames, dtype=np.int16))
    assert "sudo apt install libportaudio2" in card.info.problem
    await card.mute(True)
    await card.mute(False)
    await card.close()
    await card.close()


# ------------------------------------------------------------------------------------------------ sound


async def test_blocks_are_large_while_idle_and_small_in_a_turn() -> None:
    async with a_desk(Device("microphone", 1, rate_hz=16_000)) as desk:
        stream = desk.portaudio.microphone
        stream.deliver(tone(16_000, 1, seconds=0.06))
        await breathe()
        assert desk.heard == []
        stream.deliver(tone(16_000, 1, seconds=0.02))
        await breathe()
        assert [len(chunk.samples) for chunk in desk.heard] == [1280]
        desk.card.set_attentive(True)
        stream.deliver(tone(16_000, 1, seconds=0.02))
        await breathe()
        assert len(desk.heard[-1].samples) == 320


async def test_the_oldest_sound_is_dropped_and_counted_when_the_core_is_late() -> None:
    async with a_desk(Device("microphone", 1, rate_hz=16_000)) as desk:
        frames = np.repeat(np.arange(300, dtype=np.int16), 320).reshape(-1, 1)
        desk.portaudio.microphone.deliver(frames, overflow=True)
        await breathe()
        assert desk.card.health.dropped_chunks == 50
        assert desk.card.health.input_overruns == 300
        assert desk.card.health.arrived_blocks == 300
        assert desk.samples[0] == 50
        assert desk.samples[-1] == 299


async def test_what_the_mixer_renders_sounds_on_every_channel() -> None:
    async with a_desk(HEADSET) as desk:
        block = desk.portaudio.speaker.demand()
        assert block.shape == (882, 2)
        assert (block == 321).all()


async def test_a_gap_in_a_sound_is_counted_and_a_gap_in_silence_is_none() -> None:
    async with a_desk(HEADSET) as desk:
        desk.portaudio.speaker.demand(underflow=True)
        assert desk.card.health.output_underruns == 0
        desk.portaudio.speaker.demand(underflow=True)
        assert desk.card.health.output_underruns == 1


async def test_a_mixer_that_fails_is_silence_for_one_block_and_not_the_end(caplog: pytest.LogCaptureFixture) -> None:
    portaudio = FakePortAudio([HEADSET])
    card = PortAudioSoundCard(FakeClock(), load=lambda: portaudio, signs=lambda: "")

    def render(_frames: int) -> Samples:
        raise ValueError("a fault of ours")

    await card.open(render)
    assert not portaudio.speaker.demand().any()
    assert not portaudio.speaker.demand().any()
    assert caplog.text.count("the mixer failed") == 1
    await card.close()


# ------------------------------------------------------------------------------------------------ mute


async def test_muted_nothing_is_captured_and_the_speaker_stays() -> None:
    async with a_desk(HEADSET) as desk:
        await desk.card.mute(True)
        assert [stream.is_input for stream in desk.portaudio.streams if stream.is_open] == [False]
        assert desk.card.info.microphone == "USB Headset: Audio"
        await desk.clock.advance(60.0)
        assert desk.losses == []
        await desk.card.mute(False)
        desk.portaudio.microphone.deliver(tone(44_100, 1))
        await breathe()
        assert len(desk.samples) > 14_000


async def test_muted_before_it_was_opened_the_microphone_never_opens() -> None:
    portaudio = FakePortAudio([HEADSET])
    card = PortAudioSoundCard(FakeClock(), load=lambda: portaudio, signs=lambda: "")
    await card.mute(True)
    await card.open(lambda frames: np.zeros(frames, dtype=np.int16))
    assert [stream.is_input for stream in portaudio.streams] == [False]
    assert card.info.microphone == "USB Headset: Audio"
    await card.close()


async def test_a_microphone_that_cannot_be_opened_after_muting_counts_as_lost() -> None:
    camera = Device("Camera: USB Audio (hw:2,0)", inputs=2)
    async with a_desk(camera, HDMI) as desk:
        await desk.card.mute(True)
        camera.is_busy = True
        await desk.card.mute(False)
        await breathe()
        assert len(desk.losses) == 1
        assert "perhaps another program uses it" in desk.losses[0]


# ------------------------------------------------------------------------------------------------ loss


async def test_a_pulled_device_is_lost_and_found_under_another_number() -> None:
    headset = Device("USB Headset: Audio (hw:1,0)", inputs=1, outputs=2)
    async with a_desk(headset, HDMI, microphone="Headset", speaker="Headset") as desk:
        desk.portaudio.pull(headset)
        desk.cards = "one card"
        await breathe()
        assert len(desk.losses) == 1
        assert "'USB Headset: Audio' is gone" in desk.losses[0]
        with pytest.raises(SoundCardLostError, match=r"no microphone (named|was found)"):
            await anext(aiter(desk.card.chunks()))
        desk.portaudio.devices.append(Device("USB Headset: Audio (hw:3,0)", inputs=1, outputs=2))
        desk.cards = "two cards again"
        async with desk.hearing_again():
            desk.portaudio.microphone.deliver(tone(48_000, 1))
            await breathe()
            assert np.abs(desk.samples).max() > 9_000
            assert desk.card.info.problem == ""
            assert (desk.portaudio.speaker.demand() == 321).all()


async def test_a_microphone_that_stands_still_is_noticed_within_two_seconds() -> None:
    async with a_desk(HEADSET) as desk:
        desk.portaudio.microphone.deliver(tone(44_100, 1, seconds=0.1))
        await desk.clock.advance(1.5)
        assert desk.losses == []
        await desk.clock.advance(0.5)
        await breathe()
        assert desk.losses == ["the microphone 'USB Headset: Audio' stands still"]


async def test_a_lost_microphone_is_opened_again_without_silencing_the_speaker() -> None:
    async with a_desk(CAMERA, HDMI) as desk:
        speaker = desk.portaudio.speaker
        desk.portaudio.microphone.end()
        await breathe()
        assert len(desk.losses) == 1
        async with desk.hearing_again():
            assert desk.portaudio.microphone.is_open
            assert desk.portaudio.speaker is speaker
            assert desk.portaudio.initialisations == 0


async def test_a_microphone_that_is_plugged_in_later_is_found() -> None:
    async with a_desk(HDMI) as desk:
        await desk.clock.advance(120.0)
        assert desk.losses == [], "while nothing changes a working speaker is left alone"
        desk.portaudio.devices.append(CAMERA)
        desk.cards = "three cards"
        await desk.clock.advance(1.0)
        await eventually(lambda: bool(desk.losses))
        assert desk.losses == ["sound devices came or went"]
        async with desk.hearing_again():
            assert desk.card.info.microphone == "Camera: USB Audio"
            assert desk.portaudio.speaker.device is HDMI


async def test_with_nothing_at_all_it_looks_again_now_and_then() -> None:
    async with a_desk() as desk:
        await desk.clock.advance(31.0)
        await breathe()
        assert len(desk.losses) == 1
        desk.portaudio.devices.append(CAMERA)
        async with desk.hearing_again():
            assert desk.card.info.microphone == "Camera: USB Audio"


async def test_a_speaker_that_comes_back_plays_at_the_rate_that_was_promised() -> None:
    speaker = Device("Speaker (hw:1,0)", outputs=2, rate_hz=44_100)
    async with a_desk(speaker, CAMERA) as desk:
        desk.portaudio.pull(speaker)
        desk.portaudio.devices.append(Device("Speaker (hw:4,0)", outputs=2, rate_hz=48_000))
        desk.cards = "other cards"
        await desk.clock.advance(1.0)
        await eventually(lambda: bool(desk.losses))
        assert desk.losses == ["sound devices came or went"]
        async with desk.hearing_again():
            assert desk.portaudio.speaker.rate_hz == desk.card.info.output_rate_hz == 44_100


async def test_a_speaker_plugged_in_later_plays_at_the_rate_that_was_promised() -> None:
    async with a_desk(CAMERA) as desk:
        assert desk.card.info.output_rate_hz == 48_000
        desk.portaudio.devices.append(Device("Speaker (hw:4,0)", outputs=2, rate_hz=44_100))
        desk.cards = "three cards"
        await desk.clock.advance(1.0)
        async with desk.hearing_again():
            assert desk.portaudio.speaker.rate_hz == desk.card.info.output_rate_hz == 48_000


async def test_what_the_problem_is_stays_true() -> None:
    camera = Device("Camera: USB Audio (hw:2,0)", inputs=2)
    async with a_desk(camera, HDMI) as desk:
        assert desk.card.info.problem == ""
        camera.is_busy = True
        desk.portaudio.microphone.end()
        await breathe()
        with pytest.raises(SoundCardLostError, match="another program"):
            await anext(aiter(desk.card.chunks()))
        assert "another program" in desk.card.info.problem
        assert desk.card.info.microphone == ""
        camera.is_busy = False
        async with desk.hearing_again():
            assert desk.card.info.problem == ""


async def test_closed_after_a_loss_it_ends_instead_of_trying_for_ever() -> None:
    async with a_desk(CAMERA) as desk:
        desk.portaudio.microphone.end()
        await breathe()
        await desk.card.close()
        await desk.hear()
        assert len(desk.losses) == 1
