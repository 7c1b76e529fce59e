"""The real canceller, in a room that is made of numbers."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from appliance.adapters.echo_canceller import WebRtcEchoCanceller
from appliance.audio import Samples, level_dbfs

STEP = 160
RATE_HZ = 16_000


def speechlike(seconds: float, seed: int = 1) -> Samples:
    """Noise that comes and goes as syllables do."""
    at = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    noise = np.random.default_rng(seed).normal(0.0, 3000.0, len(at))
    wave = noise * np.clip(np.sin(2 * np.pi * 3.0 * at), 0.0, 1.0)
    spoken: Samples = np.clip(wave, -30000, 30000).astype(np.int16)
    return spoken


def echo_of(far: Samples, delay_seconds: float, gain: float) -> Samples:
    delay = round(delay_seconds * RATE_HZ)
    late = np.concatenate([np.zeros(delay), far.astype(np.float64)])[: len(far)] * gain
    return (late + np.random.default_rng(2).normal(0.0, 8.0, len(far))).astype(np.int16)


def cancelled(canceller: WebRtcEchoCanceller, far: Samples, near: Samples) -> Samples:
    heard = []
    for start in range(0, len(near) - STEP + 1, STEP):
        canceller.play(far[start : start + STEP])
        heard.append(canceller.hear(near[start : start + STEP], 0.05))
    return np.concatenate(heard)


@pytest.mark.parametrize("delay_seconds", [0.03, 0.15])
async def test_our_own_voice_is_gone_from_what_is_heard(delay_seconds: float) -> None:
    canceller = WebRtcEchoCanceller()
    await canceller.warm_up()
    far = speechlike(5.0)
    near = echo_of(far, delay_seconds, 0.3)
    heard = cancelled(canceller, far, near)
    late = slice(4 * RATE_HZ, 5 * RATE_HZ)
    assert level_dbfs(heard[late]) < level_dbfs(near[late]) - 25.0


async def test_a_person_is_still_heard_while_nothing_is_played() -> None:
    canceller = WebRtcEchoCanceller()
    await canceller.warm_up()
    person = speechlike(2.0, seed=3)
    heard = cancelled(canceller, np.zeros_like(person), person)
    assert abs(level_dbfs(heard) - level_dbfs(person)) < 2.0


async def test_noise_suppression_and_gain_control_do_what_they_are_switched_on_for() -> None:
    noise = np.random.default_rng(4).normal(0.0, 100.0, 4 * RATE_HZ).astype(np.int16)
    quiet_person = (speechlike(4.0, seed=5) // 20).astype(np.int16)
    levels = {}
    for name in ("off", "noise", "gain"):
        canceller = WebRtcEchoCanceller(noise_suppression=name == "noise", gain_control=name == "gain")
        await canceller.warm_up()
        near = quiet_person if name == "gain" else noise
        levels[name] = level_dbfs(cancelled(canceller, np.zeros_like(near), near)[-RATE_HZ:])
    assert levels["noise"] < levels["off"] - 8.0
    assert levels["gain"] > level_dbfs(quiet_person[-RATE_HZ:]) + 3.0


def test_before_it_is_loaded_sound_passes_as_it_is() -> None:
    near = speechlike(0.01)
    assert np.array_equal(WebRtcEchoCanceller().hear(near, 0.05), near)


class Broken:
    """A processing that fails, as often as it is told."""

    def __init__(self, failures: int) -> None:
        self.left = failures

    def process_reverse_stream(self, _frame: Any) -> None:
        pass

    def set_stream_delay_ms(self, _milliseconds: int) -> None:
        pass

    def process_stream(self, _frame: Any) -> None:
        if self.left:
            self.left -= 1
            raise RuntimeError("the library is broken")


class Frame:
    def __init__(self, data: bytearray, _rate_hz: int, _channels: int, _samples: int) -> None:
        self.data = data


def broken(failures: int) -> WebRtcEchoCanceller:
    return WebRtcEchoCanceller(load=lambda: (Frame, Broken(failures)))


async def test_one_failure_loses_no_sound_and_is_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    canceller = broken(4)
    await canceller.warm_up()
    near = speechlike(0.2)
    assert np.array_equal(cancelled(canceller, near, near), near)
    assert canceller.is_working
    assert not caplog.records


async def test_five_failures_in_a_row_let_sound_pass_for_good_and_are_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    canceller = broken(1000)
    await canceller.warm_up()
    near = speechlike(0.5)
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(cancelled(canceller, near, near), near)
    assert not canceller.is_working
    assert len(caplog.records) == 1


async def test_a_machine_without_the_library_hears_as_before(caplog: pytest.LogCaptureFixture) -> None:
    def missing() -> tuple[Any, Any]:
        raise ImportError("no such library on this machine")

    canceller = WebRtcEchoCanceller(load=missing)
    await canceller.warm_up()
    near = speechlike(0.01)
    assert np.array_equal(canceller.hear(near, 0.05), near)
    assert len(caplog.records) == 1
