from __future__ import annotations

import numpy as np
import pytest

from appliance.adapters.fakes.quick_reader import FakeQuickReader
from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.audio import AudioChunk, Samples, level_dbfs
from appliance.bench.wake import CallRow, Finding, Listener, in_a_room
from appliance.bench.wake_phrases import CALLS, FIRST_HALF, NEAR_MISSES, SECOND_HALF
from appliance.bench.wake_sounds import CONDITIONS, RATE_HZ, SPEECH_DBFS, at_level, music, pitched
from appliance.wiring_wake import WakeParts


class _LoudIsCall(FakeWakeWords):
    """Finds a wake word in whatever is very loud."""

    def detect(self, chunk: AudioChunk) -> str | None:
        return "okay nabu" if level_dbfs(chunk.samples) > -10.0 else None


class _Reader(FakeQuickReader):
    async def warm_up(self) -> None:
        """Is always."""


def listener(text: str) -> Listener:
    reader = _Reader(text)
    return Listener(WakeParts(lambda _phrases: _LoudIsCall(), LoudnessVoiceActivity(), reader, FakeSynthesizer()))


def loud(seconds: float) -> Samples:
    return np.full(round(seconds * RATE_HZ), 30_000, dtype=np.int16)


def quiet(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE_HZ), dtype=np.int16)


def test_each_finding_is_noted_with_its_place_and_what_the_second_look_said() -> None:
    heard = listener("Okay, Nabu.").hear([loud(1.0), quiet(12.0), loud(1.0)])
    assert [finding.is_call for finding in heard] == [True, True]
    heard = listener("Okay, Google.").hear([loud(1.0), quiet(12.0), loud(1.0)])
    assert [finding.is_call for finding in heard] == [False, False]
    assert [round(finding.at / RATE_HZ) for finding in heard] == [0, 13]


def test_a_second_of_sound_is_a_second_to_who_calls_again() -> None:
    heard = listener("Okay, Google.").hear([loud(0.5), quiet(4.0), loud(0.5)])
    assert [finding.is_call for finding in heard] == [False, True]


def test_second_looks_are_timed() -> None:
    one = listener("Okay, Nabu.")
    assert one.hear([loud(0.5)]) == [Finding(1280, True)]
    assert len(one.milliseconds) == 1


def test_no_threshold_was_chosen_with_what_is_second_half() -> None:
    assert len(NEAR_MISSES) >= 40
    assert not set(FIRST_HALF) & set(SECOND_HALF)
    assert set(FIRST_HALF) | set(SECOND_HALF) == set(NEAR_MISSES)
    assert all("nabu" in call.casefold() for call in CALLS)
    assert not any("nabu" in phrase.casefold() for phrase in NEAR_MISSES)


@pytest.mark.parametrize(("condition", "dbfs"), [("clean", SPEECH_DBFS), ("soft, -50 dBFS", -50.0)])
def test_a_call_has_the_level_that_its_condition_says(condition: str, dbfs: float) -> None:
    speech = (8_000 * np.sin(np.arange(RATE_HZ) / 5.0)).astype(np.int16)
    sound = in_a_room(speech, condition, 1)
    assert level_dbfs(sound[3 * RATE_HZ : 4 * RATE_HZ]) == pytest.approx(dbfs, abs=1.0)


def test_noise_is_10_db_below_the_call() -> None:
    sound = in_a_room((8_000 * np.sin(np.arange(RATE_HZ) / 5.0)).astype(np.int16), "noise at 10 dB", 1)
    assert level_dbfs(sound[:RATE_HZ]) == pytest.approx(SPEECH_DBFS - 10.0, abs=0.5)


def test_sounds_are_the_same_each_time() -> None:
    speech = at_level(loud(0.2), SPEECH_DBFS)
    for change in CONDITIONS.values():
        assert np.array_equal(change(speech, 3), change(speech, 3))
    assert np.array_equal(music(2.0, 3), music(2.0, 3))
    assert not np.array_equal(music(2.0, 3), music(2.0, 4))


def test_a_higher_voice_is_faster() -> None:
    assert len(pitched(loud(1.0), 1.25)) == pytest.approx(RATE_HZ / 1.25, abs=2)


def test_what_was_refused_is_told_as_a_share_of_what_was_found() -> None:
    assert CallRow("box", "clean", 10, 9, 8, 6).refused_percent == 25.0
    assert CallRow("box", "clean", 10, 0, 0, 0).refused_percent == 0.0
