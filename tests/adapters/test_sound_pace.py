from __future__ import annotations

import numpy as np
import pytest

from appliance.adapters.hearing_stream import ChannelChooser, Frames
from appliance.adapters.rate_bridge import RateBridge
from appliance.adapters.sound_pace import Pace, PerfectSilence
from appliance.audio import Samples

RATE_HZ = 48_000


def found_wrong(pace: float, *, seconds: float = 60.0, faults: int = 0) -> tuple[str, float]:
    """What is said of a device with such a clock, and when; "" when nothing ever is."""
    judge = Pace(RATE_HZ, faults)
    for step in range(round(seconds / 0.5)):
        now = step * 0.5
        if wrong := judge.look(round(now * RATE_HZ * pace), 100.0 + now):
            return wrong, now
    return "", seconds


@pytest.mark.parametrize("pace", [0.98, 1.0, 1.02, 0.9, 1.1])
def test_a_clock_that_is_some_percent_off_is_no_fault(pace: float) -> None:
    assert found_wrong(pace) == ("", 60.0)


@pytest.mark.parametrize(("pace", "wrong"), [(0.3, "is far too slow"), (2.0, "is far too fast")])
def test_a_device_at_quite_another_rate_is_found_after_five_seconds(pace: float, wrong: str) -> None:
    assert found_wrong(pace) == (wrong, 5.0)


def test_a_device_that_stands_still_is_found_after_a_second_and_a_half() -> None:
    assert found_wrong(0.0) == ("stands still", 1.5)


def test_a_device_that_was_wild_before_is_given_longer_each_time() -> None:
    assert found_wrong(2.0, faults=2)[1] == 20.0


def test_a_program_that_was_busy_itself_blames_nobody() -> None:
    judge = Pace(RATE_HZ)
    for now in (0.0, 0.5, 1.0, 9.0, 9.5, 10.0, 10.5):
        frames = RATE_HZ if now < 10.0 else 2 * RATE_HZ
        assert judge.look(frames, now) == ""


def reopened(silent: PerfectSilence, *, from_seconds: float, until: float) -> list[float]:
    return [now for now in np.arange(from_seconds, until, 0.5) if silent.look(False, float(now))]


def test_a_microphone_with_noise_that_falls_perfectly_silent_is_opened_anew_three_times_and_called_dead() -> None:
    silent = PerfectSilence()
    for now in np.arange(0.0, 400.0, 0.5):
        assert not silent.look(True, float(now))
    was_dead = [silent.is_dead]
    assert reopened(silent, from_seconds=400.0, until=5000.0) == [410.0, 430.0, 490.0]
    was_dead.append(silent.is_dead)
    silent.look(True, 5000.0)
    assert [*was_dead, silent.is_dead] == [False, True, False]


def test_a_microphone_that_is_silent_between_sounds_is_left_alone_for_long_and_never_called_dead() -> None:
    silent = PerfectSilence()
    for now in np.arange(0.0, 400.0, 0.5):
        assert not silent.look(int(now) % 10 < 5, float(now)), "a microphone that cancels noise"
    assert len(reopened(silent, from_seconds=400.0, until=9000.0)) == 3
    assert not silent.is_dead


def test_a_mute_of_ours_is_no_silence() -> None:
    silent = PerfectSilence()
    for now in np.arange(0.0, 400.0, 0.5):
        silent.look(True, float(now))
    silent.look(False, 400.0)
    silent.pause()
    assert reopened(silent, from_seconds=500.0, until=600.0) == []


# ------------------------------------------------------------------------------------------- channels


def room(*levels: float) -> Frames:
    noise = np.random.default_rng(1).standard_normal((16_000, 1))
    frames: Frames = (noise * np.array(levels)).astype(np.float32)
    return frames


def test_a_channel_that_dies_later_gives_way_to_one_that_lives() -> None:
    chooser = ChannelChooser(2, 16_000)
    assert [chooser.choose(room(0.1, 0.1)) for _ in range(3)] == [0, 0, 0]
    assert [chooser.choose(room(0.0, 0.1)) for _ in range(3)] == [0, 1, 1]


def test_a_channel_that_dies_in_a_quiet_room_is_noticed_by_its_missing_noise() -> None:
    chooser = ChannelChooser(2, 16_000)
    chooser.choose(room(0.1, 0.1))
    assert [chooser.choose(room(0.0, 0.0005)) for _ in range(3)] == [0, 1, 1]


def test_a_person_who_stands_on_one_side_changes_nothing() -> None:
    chooser = ChannelChooser(2, 16_000)
    chooser.choose(room(0.1, 0.1))
    assert {chooser.choose(room(0.01, 0.1)) for _ in range(10)} == {0}


def test_silence_of_all_channels_changes_nothing() -> None:
    chooser = ChannelChooser(2, 16_000)
    chooser.choose(room(0.1, 0.1))
    assert {chooser.choose(room(0.0, 0.0)) for _ in range(10)} == {0}


# ----------------------------------------------------------------------------------------------- rates


@pytest.mark.parametrize(("from_hz", "to_hz"), [(48_000, 44_100), (22_050, 48_000), (48_000, 8_000)])
def test_what_was_rendered_at_one_rate_sounds_the_same_at_another(from_hz: int, to_hz: int) -> None:
    at = 0

    def render(frames: int) -> Samples:
        nonlocal at
        wave = 10_000 * np.sin(2 * np.pi * 440 * (at + np.arange(frames)) / from_hz)
        at += frames
        return wave.astype(np.int16)

    bridge = RateBridge(render, from_hz, to_hz)
    block = to_hz // 50
    blocks = [bridge(block) for _ in range(100)]
    assert {len(block) for block in blocks} == {block}
    sound = np.concatenate(blocks)[to_hz // 10 :].astype(np.float64)
    strongest = np.argmax(np.abs(np.fft.rfft(sound))) * to_hz / len(sound)
    assert strongest == pytest.approx(440.0, abs=1.0)
    assert np.abs(sound).max() == pytest.approx(10_000, abs=200)
    assert at / from_hz == pytest.approx(2.0, abs=0.1), "it takes no more than it gives"
