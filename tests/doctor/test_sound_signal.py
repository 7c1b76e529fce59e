"""The doctor's arithmetic on sound, with signals whose faults are known."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.audio import AudioChunk, AudioFormat, level_dbfs
from appliance.doctor.sound_signal import CHIRP_DBFS, Floats, channels_of, chirp, echo_of, is_inverted

RATE_HZ = 48_000


def a_voice(level_dbfs: float = -30.0, seconds: float = 2.0, seed: int = 1) -> Floats:
    """Noise in the band of a voice."""
    noise = np.random.default_rng(seed).standard_normal(round(seconds * RATE_HZ))
    wave = np.convolve(noise, np.ones(12) / 12, mode="same")
    loud: Floats = wave / np.std(wave) * 32768.0 * 10.0 ** (level_dbfs / 20.0)
    return loud


def hiss(level_dbfs: float, seed: int, seconds: float = 2.0) -> Floats:
    noise: Floats = np.random.default_rng(seed).standard_normal(round(seconds * RATE_HZ))
    noise *= 32768.0 * 10.0 ** (level_dbfs / 20.0)
    return noise


def recorded(*channels: Floats, rate_hz: int = RATE_HZ) -> AudioChunk:
    columns = [np.clip(np.round(channel), -32768, 32767).astype(np.int16) for channel in channels]
    samples = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
    return AudioChunk(samples, AudioFormat(rate_hz, len(columns)))


def test_a_healthy_stereo_microphone_has_two_live_channels_that_agree() -> None:
    voice = a_voice()
    sound = recorded(voice + hiss(-60, 2), 0.8 * voice + hiss(-60, 3))
    left, right = channels_of(sound)
    assert left.level_dbfs == pytest.approx(-30.0, abs=0.3) and right.level_dbfs == pytest.approx(-31.9, abs=0.3)
    assert not left.is_dead and not right.is_dead and not is_inverted(sound)
    assert left.clipped_share == right.clipped_share == 0.0


def test_a_channel_without_a_microphone_is_dead_even_when_it_hums_a_little() -> None:
    left, right = channels_of(recorded(a_voice(), hiss(-85, 2)))
    assert (left.is_dead, right.is_dead) == (False, True)


def test_a_constant_offset_is_no_sound() -> None:
    left, right = channels_of(recorded(a_voice(), np.full(2 * RATE_HZ, 3000.0)))
    assert right.is_dead and right.is_silent and not left.is_silent


def test_in_a_silent_room_no_channel_is_called_dead() -> None:
    assert [channel.is_dead for channel in channels_of(recorded(hiss(-75, 1), hiss(-90, 2)))] == [False, False]


def test_an_inverted_channel_is_found_in_noise_and_with_another_gain() -> None:
    voice = a_voice()
    assert is_inverted(recorded(voice + hiss(-50, 2), -0.5 * voice + hiss(-50, 3)))
    assert is_inverted(recorded(hiss(-40, 4), voice, -voice))


def test_two_microphones_far_from_each_other_are_not_inverted() -> None:
    assert not is_inverted(recorded(a_voice(seed=1), a_voice(seed=9)))
    assert not is_inverted(recorded(a_voice()))
    assert not is_inverted(recorded(np.zeros(100), np.zeros(100)))


def test_clipping_counts_runs_at_full_scale_and_no_single_peaks() -> None:
    clipped = channels_of(recorded(a_voice(level_dbfs=0.0)))[0]
    assert clipped.clipped_share > 0.01
    lone = np.zeros(RATE_HZ)
    lone[::1000] = 32767.0
    assert channels_of(recorded(lone))[0].clipped_share == 0.0
    assert channels_of(recorded(lone))[0].peak_dbfs == pytest.approx(0.0, abs=0.01)


def test_nothing_recorded_is_silent_and_breaks_nothing() -> None:
    (channel,) = channels_of(recorded(np.zeros(0)))
    assert channel.is_silent and not channel.is_dead
    assert echo_of(recorded(np.zeros(0)), 1.0) is None


@pytest.mark.parametrize("rate_hz", [16_000, 44_100, 48_000])
def test_the_chirp_has_the_level_that_it_promises(rate_hz: int) -> None:
    assert level_dbfs(chirp(rate_hz).samples) == pytest.approx(CHIRP_DBFS, abs=0.1)


def in_a_room(
    loss_decibels: float, *, gain: float = 1.0, rate_hz: int = RATE_HZ, noise_dbfs: float = -70.0
) -> AudioChunk:
    """The chirp as a microphone hears it: the direct sound and reflections, together weaker by that loss."""
    paths = {0.200: 1.0, 0.207: -0.6, 0.213: 0.4, 0.231: 0.3, 0.262: -0.2, 0.298: 0.1}
    energy = sum(weight * weight for weight in paths.values())
    played = chirp(rate_hz).samples.astype(np.float64) * gain
    room = hiss(noise_dbfs, 7, seconds=2.5)[: round(2.5 * rate_hz)]
    for seconds, weight in paths.items():
        start = round(seconds * rate_hz)
        room[start : start + len(played)] += played * weight * 10.0 ** (-loss_decibels / 20.0) / np.sqrt(energy)
    return recorded(room, rate_hz=rate_hz)


@pytest.mark.parametrize("loss_decibels", [0.0, 6.0, 20.0, 35.0])
@pytest.mark.parametrize("rate_hz", [16_000, 48_000])
def test_the_echo_loss_of_a_room_is_measured_to_two_decibels(loss_decibels: float, rate_hz: int) -> None:
    echo = echo_of(in_a_room(loss_decibels, rate_hz=rate_hz), 1.0)
    assert echo is not None
    assert echo.loss_decibels == pytest.approx(loss_decibels, abs=2.0)
    assert echo.delay_seconds == pytest.approx(0.2, abs=0.002)


def test_the_volume_is_no_part_of_the_loss() -> None:
    echo = echo_of(in_a_room(12.0, gain=0.25), 0.25)
    assert echo is not None and echo.loss_decibels == pytest.approx(12.0, abs=2.0)


def test_an_inverted_speaker_is_heard_as_well() -> None:
    room = in_a_room(10.0)
    echo = echo_of(AudioChunk(-room.samples, room.format), 1.0)
    assert echo is not None and echo.loss_decibels == pytest.approx(10.0, abs=2.0)


def test_the_echo_is_found_below_a_talking_person() -> None:
    room = in_a_room(15.0)
    talked = recorded(room.samples.astype(np.float64) + a_voice(-35.0, 2.5))
    echo = echo_of(talked, 1.0)
    assert echo is not None and echo.loss_decibels == pytest.approx(15.0, abs=2.0)


def test_a_room_without_a_chirp_has_no_echo() -> None:
    assert echo_of(recorded(hiss(-50, 3, 2.5)), 1.0) is None
    assert echo_of(recorded(a_voice(-25.0, 2.5)), 1.0) is None
    assert echo_of(recorded(np.zeros(2 * RATE_HZ)), 1.0) is None
    assert echo_of(in_a_room(10.0), 0.0) is None


def test_the_channel_with_the_echo_is_the_one_that_counts() -> None:
    room = in_a_room(10.0).samples.astype(np.float64)
    echo = echo_of(recorded(np.zeros(len(room)), room), 1.0)
    assert echo is not None and echo.loss_decibels == pytest.approx(10.0, abs=2.0)
