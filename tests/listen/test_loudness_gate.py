from __future__ import annotations

import numpy as np
import pytest

from appliance.audio import HEARING_FORMAT, Samples
from appliance.listen.loudness_gate import LoudnessGate

RATE = HEARING_FORMAT.sample_rate_hz
#: Standard deviations: about -69, -50 and -40 dBFS.
QUIET, SOFT, FAN = 12.0, 104.0, 330.0


def noise(seconds: float, level: float, seed: int = 1) -> Samples:
    return np.random.default_rng(seed).normal(0.0, level, round(seconds * RATE)).astype(np.int16)


def tone(seconds: float, level: float, hertz: float) -> Samples:
    time = np.arange(round(seconds * RATE)) / RATE
    return (level * np.sqrt(2.0) * np.sin(2.0 * np.pi * hertz * time)).astype(np.int16)


def opens(gate: LoudnessGate, sound: Samples, block_seconds: float = 0.08) -> list[bool]:
    """Whether it is open, block by block."""
    size = round(block_seconds * RATE)
    return [gate.is_open_for(sound[at : at + size]) for at in range(0, len(sound) - size + 1, size)]


def in_a_room(level: float = QUIET) -> LoudnessGate:
    gate = LoudnessGate()
    opens(gate, noise(60.0, level))
    return gate


def test_a_quiet_room_keeps_it_closed() -> None:
    opened = opens(in_a_room(), noise(120.0, QUIET, seed=2))
    assert sum(opened) <= 0.02 * len(opened)


def test_it_is_open_until_it_knows_the_room() -> None:
    assert all(opens(LoudnessGate(), noise(1.0, QUIET)))


@pytest.mark.parametrize("block_seconds", [0.08, 0.02])
def test_a_soft_voice_opens_it_with_its_first_block(block_seconds: float) -> None:
    assert opens(in_a_room(), noise(0.2, SOFT, seed=3), block_seconds)[0]


def test_a_voice_10_db_above_a_fan_opens_it() -> None:
    assert opens(in_a_room(FAN), noise(0.2, FAN, seed=3) + noise(0.2, FAN * 3.2, seed=4))[0]


def test_speech_above_a_rumble_that_is_far_louder_opens_it() -> None:
    gate = LoudnessGate()
    opens(gate, tone(60.0, 1000.0, 50.0) + noise(60.0, QUIET))
    assert not opens(gate, tone(0.16, 1000.0, 50.0) + noise(0.16, QUIET, seed=5))[-1]
    assert opens(gate, tone(0.16, 1000.0, 50.0) + tone(0.16, 300.0, 1500.0))[-1]


def test_it_stays_open_for_a_slow_word_with_a_pause() -> None:
    gate = in_a_room()
    assert all(opens(gate, np.concatenate([noise(0.4, SOFT), noise(1.0, QUIET), noise(0.4, SOFT)])))


def test_it_closes_again_when_the_room_is_quiet() -> None:
    gate = in_a_room()
    opens(gate, noise(1.0, SOFT))
    assert not opens(gate, noise(4.0, QUIET, seed=6))[-1]


def test_a_fan_becomes_the_room_after_a_while() -> None:
    gate = in_a_room()
    assert all(opens(gate, noise(10.0, FAN)))
    opens(gate, noise(60.0, FAN, seed=7))
    assert not any(opens(gate, noise(10.0, FAN, seed=8)))


def test_people_who_talk_for_ten_minutes_keep_it_open() -> None:
    gate = in_a_room()
    talk = np.concatenate([part for _ in range(300) for part in (noise(1.5, 1000.0), noise(0.5, QUIET))])
    assert all(opens(gate, talk)[1:])


def test_a_microphone_that_gives_zeros_until_somebody_speaks_keeps_it_open() -> None:
    gate = in_a_room()
    assert all(opens(gate, np.zeros(10 * RATE, dtype=np.int16)))
    assert not opens(gate, noise(4.0, QUIET, seed=9))[-1], "the room is still known"


def test_nothing_to_hear_changes_nothing() -> None:
    gate = in_a_room()
    assert not gate.is_open_for(np.zeros(0, dtype=np.int16))
    opens(gate, noise(0.2, SOFT))
    assert gate.is_open_for(np.zeros(1, dtype=np.int16))
