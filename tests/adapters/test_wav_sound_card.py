from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from appliance.adapters.wav_file import write_wav
from appliance.adapters.wav_sound_card import WavSoundCard
from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.clock import FakeClock, settle
from appliance.errors import BadAudioFileError

RATE = 16_000


class Mixer:
    """Has some sound to play; counts what was taken."""

    def __init__(self) -> None:
        self.queued = np.zeros(0, dtype=np.int16)
        self.calls = 0

    def has_sound(self) -> bool:
        return len(self.queued) > 0

    def render(self, frames: int) -> Samples:
        self.calls += 1
        block = np.zeros(frames, dtype=np.int16)
        taken, self.queued = self.queued[:frames], self.queued[frames:]
        block[: len(taken)] = taken
        return block


def sound(seconds: float, value: int = 1000) -> Samples:
    return np.full(round(seconds * RATE), value, dtype=np.int16)


@pytest.fixture
def question(tmp_path: Path) -> Path:
    file = tmp_path / "question.wav"
    write_wav(file, AudioChunk(sound(1.03), HEARING_FORMAT))
    return file


async def collect(card: WavSoundCard, into: list[AudioChunk]) -> None:
    async for chunk in card.chunks():
        into.append(chunk)


def seconds_of(chunks: list[AudioChunk]) -> float:
    return sum(chunk.duration_seconds for chunk in chunks)


async def test_the_file_and_two_seconds_of_silence_come_at_once_and_then_time_passes(question: Path) -> None:
    clock, heard = FakeClock(), list[AudioChunk]()
    card = WavSoundCard(clock, question)
    await card.open(Mixer().render)
    task = asyncio.create_task(collect(card, heard))
    await settle(500)
    everything = np.concatenate([chunk.samples for chunk in heard])
    assert np.array_equal(everything[: round(1.03 * RATE)], sound(1.03))
    assert not everything[round(1.03 * RATE) :].any()
    assert seconds_of(heard) == pytest.approx(1.03 + 2.0, abs=0.1)
    assert all(len(chunk.samples) % 160 == 0 for chunk in heard)
    before = seconds_of(heard)
    await settle(500)
    assert seconds_of(heard) == before, "silence is not made faster than it passes"
    await clock.advance(1.0)
    assert seconds_of(heard) == pytest.approx(before + 1.0, abs=0.1)
    await card.close()
    await clock.advance(0.1)
    await task


async def test_whoever_answers_the_wake_word_comes_to_act_on_it(question: Path) -> None:
    """Between two chunks every other task runs, so no second of sound passes unnoticed."""
    card = WavSoundCard(FakeClock(), question)
    await card.open(Mixer().render)
    turns = 0
    async for chunk in card.chunks():
        if not chunk.samples.any():
            break
        await asyncio.sleep(0)
        turns += 1
    assert turns >= 50
    await card.close()


async def test_a_file_longer_than_is_read_at_once_is_heard_whole(tmp_path: Path) -> None:
    ramp = np.arange(round(61.0 * RATE)) % 30_000
    file = tmp_path / "long.wav"
    write_wav(file, AudioChunk(ramp.astype(np.int16), HEARING_FORMAT))
    card = WavSoundCard(FakeClock(), file)
    await card.open(Mixer().render)
    heard: list[AudioChunk] = []
    async for chunk in card.chunks():
        heard.append(chunk)
        if seconds_of(heard) >= 61.0:
            break
    assert np.array_equal(np.concatenate([chunk.samples for chunk in heard]), ramp)
    await card.close()


async def test_a_bad_file_is_told_when_the_card_is_opened(tmp_path: Path) -> None:
    with pytest.raises(BadAudioFileError, match="there is no file"):
        await WavSoundCard(FakeClock(), tmp_path / "nothing.wav").open(Mixer().render)


async def test_what_is_said_is_recorded_without_the_pauses_between() -> None:
    mixer, clock = Mixer(), FakeClock()
    card = WavSoundCard(clock, has_sound=mixer.has_sound, output_rate_hz=RATE)
    await card.open(mixer.render)
    mixer.queued = sound(0.5, 1)
    card.output_ready()
    await settle(200)
    calls = mixer.calls
    await clock.advance(9.0)
    assert mixer.calls == calls, "nothing is asked for while nothing sounds"
    mixer.queued = sound(0.5, 2)
    card.output_ready()
    await settle(200)
    await card.close()
    recording = card.recording()
    assert recording.format.sample_rate_hz == RATE
    assert recording.samples.tolist() == [1] * 8000 + [2] * 8000


async def test_without_a_mixer_that_tells_silence_ends_the_recording() -> None:
    mixer = Mixer()
    card = WavSoundCard(FakeClock(), output_rate_hz=RATE)
    await card.open(mixer.render)
    mixer.queued = sound(0.5)
    card.output_ready()
    await settle(500)
    await card.close()
    assert 0.5 <= card.recording().duration_seconds <= 1.1


async def test_sound_may_become_ready_on_any_thread() -> None:
    mixer = Mixer()
    card = WavSoundCard(FakeClock(), has_sound=mixer.has_sound, output_rate_hz=RATE)
    await card.open(mixer.render)
    mixer.queued = sound(0.1)
    await asyncio.to_thread(card.output_ready)
    await settle(200)
    await card.close()
    assert card.recording().duration_seconds == pytest.approx(0.1)


async def test_without_a_file_there_is_no_microphone() -> None:
    card, heard = WavSoundCard(FakeClock()), list[AudioChunk]()
    await card.open(Mixer().render)
    assert card.info.microphone == ""
    task = asyncio.create_task(collect(card, heard))
    await settle()
    assert heard == []
    await card.close()
    await asyncio.wait_for(task, 1.0)


async def test_muted_the_file_waits(question: Path) -> None:
    card, heard = WavSoundCard(FakeClock(), question), list[AudioChunk]()
    await card.open(Mixer().render)
    await card.mute(True)
    task = asyncio.create_task(collect(card, heard))
    await settle()
    assert heard == []
    await card.mute(False)
    await settle(500)
    assert seconds_of(heard) > 1.0
    task.cancel()
    await card.close()
    await card.close()


async def test_a_file_without_a_wake_word_waits_until_somebody_listens(question: Path) -> None:
    card, heard = WavSoundCard(FakeClock(), question, waits_for_ear=True), list[AudioChunk]()
    await card.open(Mixer().render)
    task = asyncio.create_task(collect(card, heard))
    await settle(500)
    assert heard == []
    card.set_attentive(True)
    await settle(500)
    assert seconds_of(heard) > 3.0
    task.cancel()
    await card.close()
