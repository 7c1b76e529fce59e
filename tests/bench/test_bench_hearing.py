"""What hearing costs: the ways, the errors beside them, silence, and the end of speech."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.audio import Samples
from appliance.bench.endings import EndingRow, endings
from appliance.bench.hearing import BOX, FULL, STOCK, compare
from appliance.bench.intervals import estimate
from appliance.bench.speech_clips import Clip, room
from appliance.listen.config import ListenConfig
from appliance.listen.utterance import STEP_SAMPLES
from appliance.wiring_hearing import HearingParts
from tests.cli.conftest import shell
from tests.cli.shell import Shell

__all__ = ["shell"]


def _speech(steps: int) -> Samples:
    """So many steps of voice activity (32 ms each) of a loud tone."""
    return np.tile(np.array([6_000, -6_000], dtype=np.int16), steps * STEP_SAMPLES // 2)


def _pause(steps: int) -> Samples:
    return room(1.0)[:STEP_SAMPLES].repeat(steps)


def _end(*sound: Samples, seconds: float = 0.1) -> EndingRow:
    clip = Clip("box", np.concatenate(sound), "hello")
    return endings([clip], {"the box": [seconds]}, ListenConfig(), LoudnessVoiceActivity())[0]


def test_text_that_is_ready_before_the_pause_is_over_is_given_at_its_end() -> None:
    row = _end(_speech(32))
    assert row.soft_end == pytest.approx(128)
    assert row.ready == pytest.approx(228)
    assert row.given == row.given_p95 == pytest.approx(704)
    assert (row.transcripts_each, row.cut_early, row.missed) == (1, 0, 0)


def test_a_slow_transcriber_makes_the_person_wait() -> None:
    assert _end(_speech(32), seconds=2.0).given == pytest.approx(2_128)


def test_a_pause_in_mid_sentence_begins_a_transcript_that_is_thrown_away() -> None:
    row = _end(_speech(20), _pause(10), _speech(20))
    assert (row.transcripts_each, row.cut_early) == (2, 0)
    assert row.soft_end == pytest.approx(128)


def test_an_utterance_that_is_over_too_early_is_counted_and_no_time_is_taken_from_it() -> None:
    row = _end(_speech(20), _pause(40), _speech(20))
    assert (row.cut_early, row.missed, row.given) == (1, 0, 0.0)


def test_speech_that_voice_activity_does_not_see_is_counted() -> None:
    row = _end(_pause(32))
    assert (row.cut_early, row.missed) == (0, 1)


def test_an_interval_holds_its_figure() -> None:
    values = np.random.default_rng(3).normal(10.0, 1.0, (50, 1))
    found = estimate(values, lambda rows: float(np.median(rows)))
    assert found.low < found.value < found.high
    assert found.high - found.low < 1.5


def _parts(text: str) -> HearingParts:
    """The box always hears ``text``, the others something else."""
    return HearingParts(
        short=FakeTranscriber(*[text] * 20),
        full=FakeTranscriber(*["wrong"] * 20),
        stock=lambda _utterance: "you",
        full_windows=lambda: 0,
        voice=FakeSynthesizer(),
        activity=LoudnessVoiceActivity,
    )


async def test_every_way_takes_every_clip_and_errors_stand_beside_the_times() -> None:
    result = await compare(_parts("stop"), ListenConfig(), [Clip("box", _speech(20), "stop")] * 2)
    rows = {row.way: row for row in result.ways}
    assert list(rows) == [BOX, FULL, STOCK]
    assert [row.clips for row in rows.values()] == [2, 2, 2]
    assert [row.word_error_percent for row in rows.values()] == [0.0, 100.0, 100.0]
    assert rows[BOX].more_errors_percent.value == -100.0
    assert rows[STOCK].ratio.value == 1.0
    assert {(row.sound, row.heard) for row in result.silences if row.way == STOCK} == {
        ("silence", "you"),
        ("a quiet room", "you"),
        ("noise", "you"),
    }
    assert [row.way for row in result.endings] == [BOX, FULL]


def test_the_same_clip_with_noise_has_the_noise_that_was_asked_for() -> None:
    clip = Clip("box", _speech(100), "hello")
    noise = clip.noisy(10.0, 1).samples.astype(np.float64) - clip.samples
    assert 10 * np.log10(6_000**2 / np.mean(noise**2)) == pytest.approx(10.0, abs=0.1)
    assert clip.noisy(10.0, 1).noise == "10 dB"


def test_a_clip_ends_with_its_last_loud_sample() -> None:
    clip = Clip("box", np.concatenate([_speech(10), _pause(10)]), "hello")
    assert len(clip.trimmed().samples) == 10 * STEP_SAMPLES


def test_the_command_prints_times_and_errors(shell: Shell) -> None:
    listed = shell("bench", "hearing", "--clips", "1", "--json").json
    assert {"ways", "again_ratio", "full_windows", "silences", "endings"} <= set(listed)
    assert {"way", "ratio", "word_error_percent", "more_errors_percent"} <= set(listed["ways"][0])
    assert all(row["heard"] == "" for row in listed["silences"] if row["way"] == BOX)
    ran = shell("bench", "hearing", "--clips", "1")
    assert (ran.code, ran.err) == (0, "")
    assert "against faster-whisper" in ran.out and "cut early" in ran.out
