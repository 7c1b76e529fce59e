from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from appliance.audio import AudioChunk, AudioFormat, Samples
from appliance.clock import settle
from appliance.ports import TimedPhoneme
from appliance.speak.clip import FADE_SECONDS
from appliance.speak.mixer import DUCK_GAIN, LISTENING_GAIN, Lane, Mixer

RATE_HZ = 16_000
BLOCK = 320


def tone(level: int, seconds: float = 0.1, rate_hz: int = RATE_HZ) -> AudioChunk:
    return AudioChunk(np.full(round(seconds * rate_hz), level, dtype=np.int16), AudioFormat(rate_hz))


def loud_mixer() -> Mixer:
    return Mixer(RATE_HZ, volume_percent=100, alert_floor_percent=0)


def test_nothing_to_play_is_silence_of_the_length_asked_for() -> None:
    block = loud_mixer().render(BLOCK)
    assert block.shape == (BLOCK,)
    assert block.dtype == np.int16
    assert not block.any()


async def test_clips_of_one_lane_sound_one_after_another_without_a_gap() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(1000, 0.01))
    mixer.play(Lane.SPEECH, tone(2000, 0.01))
    played = mixer.render(BLOCK)
    assert played[:160].tolist() == [1000] * 160
    assert played[160:320].tolist() == [2000] * 160


async def test_lanes_sound_together() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(1000))
    mixer.play(Lane.HUM, tone(300))
    assert set(mixer.render(BLOCK)) == {1300}


async def test_too_loud_a_sum_is_clipped_and_does_not_wrap() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(30_000))
    mixer.play(Lane.HUM, tone(30_000))
    assert set(mixer.render(BLOCK)) == {32767}


async def test_a_clip_that_waits_for_its_sound_keeps_its_place() -> None:
    mixer = loud_mixer()
    slow = mixer.open_clip(Lane.SPEECH)
    mixer.play(Lane.SPEECH, tone(2000, 0.02))
    assert not mixer.has_sound()
    assert not mixer.render(BLOCK).any()
    slow.write(tone(1000, 0.01))
    slow.end()
    assert list(dict.fromkeys(mixer.render(480).tolist())) == [1000, 2000]


async def test_start_and_end_of_a_clip_are_told_on_the_loop() -> None:
    mixer = loud_mixer()
    threads: list[int] = []
    clip = mixer.open_clip(Lane.SPEECH, "hello", lambda: threads.append(threading.get_ident()))
    clip.write(tone(1000, 0.05))
    clip.end()
    ended = asyncio.ensure_future(clip.finished())
    await asyncio.to_thread(mixer.render, BLOCK)
    await settle()
    assert threads == [threading.get_ident()]
    assert not ended.done()
    await asyncio.to_thread(mixer.render, 2 * BLOCK)
    assert await ended == pytest.approx(0.05)


async def test_a_flush_leaves_one_block_with_a_short_fade_and_no_click() -> None:
    mixer = loud_mixer()
    clip = mixer.play(Lane.SPEECH, tone(10_000, 5.0))
    mixer.play(Lane.SPEECH, tone(5_000, 5.0))
    mixer.render(BLOCK)
    mixer.flush(Lane.SPEECH)
    last = mixer.render(BLOCK)
    fade = round(FADE_SECONDS * RATE_HZ)
    assert last[0] == 10_000
    assert not last[fade:].any()
    steps = np.abs(np.diff(last.astype(int)))
    assert steps.max() <= 10_000 / fade * 1.1
    assert not mixer.render(BLOCK).any()
    assert await clip.finished() == pytest.approx(0.02)


async def test_a_flush_drops_only_its_lanes_and_counts_them() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(1000, 1.0))
    mixer.play(Lane.ALERT, tone(500, 1.0))
    mixer.flush(Lane.SPEECH, Lane.HUM)
    assert set(mixer.render(BLOCK)) == {500}
    assert [mixer.generation(lane) for lane in (Lane.SPEECH, Lane.HUM, Lane.ALERT)] == [1, 1, 0]


async def test_who_still_writes_into_a_dropped_clip_is_told_to_stop() -> None:
    mixer = loud_mixer()
    clip = mixer.open_clip(Lane.SPEECH)
    assert clip.write(tone(1000))
    mixer.flush(Lane.SPEECH)
    assert not clip.write(tone(1000))
    assert not mixer.has_sound()


async def test_what_is_said_after_a_flush_sounds() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(1000, 1.0))
    mixer.render(BLOCK)
    mixer.flush(Lane.SPEECH)
    mixer.play(Lane.SPEECH, tone(2000, 1.0))
    mixer.render(BLOCK)
    assert set(mixer.render(BLOCK)) == {2000}


async def test_volume_is_a_gain_that_changes_without_a_step() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(10_000, 1.0))
    before = mixer.render(BLOCK)
    mixer.set_volume_percent(50)
    changing = np.concatenate([before, mixer.render(BLOCK)])
    assert np.abs(np.diff(changing.astype(int))).max() < 100
    assert set(mixer.render(BLOCK)) == {2500}
    assert mixer.volume_percent == 50


async def test_a_volume_that_was_changed_in_silence_holds_from_the_first_sample() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(10_000, 0.02))
    mixer.render(BLOCK)
    mixer.render(BLOCK)
    mixer.set_volume_percent(50)
    mixer.play(Lane.SPEECH, tone(10_000, 0.02))
    assert set(mixer.render(BLOCK)) == {2500}


async def test_an_alert_keeps_its_floor_when_the_volume_is_zero() -> None:
    mixer = Mixer(RATE_HZ, volume_percent=0, alert_floor_percent=50)
    mixer.play(Lane.SPEECH, tone(10_000, 1.0))
    assert not mixer.render(BLOCK).any()
    mixer.play(Lane.ALERT, tone(10_000, 1.0))
    assert set(mixer.render(BLOCK)) == {2500}


async def test_an_alert_ducks_the_other_lanes_while_it_sounds() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(10_000, 1.0))
    mixer.play(Lane.ALERT, tone(1, 0.04))
    mixer.render(BLOCK)
    assert set(mixer.render(BLOCK)) == {round(10_000 * DUCK_GAIN) + 1}
    mixer.render(BLOCK)
    assert set(mixer.render(BLOCK)) == {10_000}


async def test_ducking_goes_and_comes_back_whatever_happened_between() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, tone(10_000, 1.0))
    mixer.duck(True)
    assert set(mixer.render(BLOCK)) == {round(10_000 * LISTENING_GAIN)}
    mixer.flush(Lane.SPEECH)
    mixer.duck(False)
    mixer.render(BLOCK)
    mixer.play(Lane.SPEECH, tone(10_000, 1.0))
    assert set(mixer.render(BLOCK)) == {10_000}


@pytest.mark.parametrize("rate_hz", [22_050, 44_100, 48_000])
async def test_sound_of_another_rate_is_resampled_as_a_stream(rate_hz: int) -> None:
    mixer = loud_mixer()
    clip = mixer.open_clip(Lane.SPEECH)
    sine = (8000 * np.sin(2 * np.pi * 440 * np.arange(rate_hz) / rate_hz)).astype(np.int16)
    for piece in np.array_split(sine, 7):
        clip.write(AudioChunk(piece, AudioFormat(rate_hz)))
    clip.end()
    played = mixer.render(RATE_HZ).astype(float)
    assert not mixer.has_sound()
    spectrum = np.abs(np.fft.rfft(played))
    assert int(np.argmax(spectrum)) == 440
    # A seam between two pieces would click, which spreads energy over the spectrum.
    assert spectrum[440] ** 2 / np.sum(spectrum**2) > 0.999


async def test_the_card_decides_the_rate() -> None:
    mixer = loud_mixer()
    clip = mixer.play(Lane.SPEECH, tone(1000, 1.0))
    mixer.set_sample_rate(48_000)
    assert await clip.finished() == 0.0
    mixer.play(Lane.SPEECH, tone(1000, 0.5, rate_hz=48_000))
    assert set(mixer.render(24_000)) == {1000}
    assert not mixer.has_sound()


async def test_a_card_without_a_clock_is_told_when_there_is_sound_again() -> None:
    readies: list[bool] = []
    mixer = loud_mixer()
    mixer.on_ready = lambda: readies.append(mixer.has_sound())
    clip = mixer.open_clip(Lane.SPEECH)
    assert not readies
    assert not mixer.has_sound()
    clip.write(tone(1000, 0.02))
    assert readies == [True]
    mixer.render(BLOCK)
    assert not mixer.has_sound()


async def test_the_mouth_follows_speech_whatever_the_volume_and_no_other_sound() -> None:
    def level_of(lane: Lane, text: str, loudness: int, volume_percent: int) -> float:
        mouth: list[float] = []
        mixer = Mixer(RATE_HZ, volume_percent=volume_percent, on_mouth=mouth.append)
        clip = mixer.open_clip(lane, text)
        clip.write(tone(loudness))
        mixer.render(BLOCK)
        return mouth[-1]

    loud = level_of(Lane.SPEECH, "ah", 8000, 100)
    assert 0.8 < loud <= 1.0
    assert level_of(Lane.SPEECH, "ah", 8000, 10) == loud
    assert 0.0 < level_of(Lane.SPEECH, "ah", 800, 100) < loud
    assert level_of(Lane.ALERT, "the soup is ready", 8000, 100) == loud
    assert level_of(Lane.ALERT, "", 8000, 100) == 0.0
    assert level_of(Lane.HUM, "", 8000, 100) == 0.0


async def test_the_mouth_closes_when_speech_ends() -> None:
    mouth: list[float] = []
    mixer = Mixer(RATE_HZ, on_mouth=mouth.append)
    clip = mixer.open_clip(Lane.SPEECH, "ah")
    clip.write(tone(8000, 0.02))
    clip.end()
    mixer.render(BLOCK)
    mixer.render(BLOCK)
    assert mouth[0] > 0.0 and mouth[1] == 0.0


async def test_the_mouth_follows_the_phonemes_of_a_voice_that_tells_them_at_any_rate() -> None:
    mouth: list[float] = []
    mixer = Mixer(RATE_HZ, on_mouth=mouth.append)
    clip = mixer.open_clip(Lane.SPEECH, "mama")
    half = AudioChunk(tone(8000, 0.08).samples, AudioFormat(RATE_HZ // 2))
    clip.write(half, [TimedPhoneme("m", len(half.samples) // 2), TimedPhoneme("ˈa", len(half.samples) // 2)])
    clip.end()
    blocks = round(clip.written_seconds * RATE_HZ) // BLOCK
    for _ in range(blocks):
        mixer.render(BLOCK)
    assert set(mouth[: blocks // 2 - 1]) == {0.0}
    assert set(mouth[blocks // 2 + 1 :]) == {1.0}


async def test_the_loop_and_the_audio_thread_may_work_at_once() -> None:
    """Every sample that was written comes out once, in order, while another thread takes them."""
    mixer = loud_mixer()
    clip = mixer.open_clip(Lane.SPEECH)
    stop = threading.Event()
    taken: list[Samples] = []

    def pull() -> None:
        while not stop.is_set() or mixer.has_sound():
            taken.append(mixer.render(160))

    thread = threading.Thread(target=pull)
    thread.start()
    for start in range(1, 20_001, 100):
        clip.write(AudioChunk(np.arange(start, start + 100, dtype=np.int16), AudioFormat(RATE_HZ)))
        await asyncio.sleep(0)
    clip.end()
    await clip.finished()
    stop.set()
    thread.join()
    everything = np.concatenate(taken)
    assert everything[everything != 0].tolist() == list(range(1, 20_001))
