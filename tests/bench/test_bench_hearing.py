"""What hearing costs: the ways, the errors beside them, silence, and the end of speech."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.turn_detector import FakeTurnDetector
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.audio import Samples
from appliance.bench.endings import FIXED_TIMER, WITHOUT_DETECTOR, EndingRow, endings
from appliance.bench.endings import figures as ending_figures
from appliance.bench.hearing import BOX, FULL, STOCK, compare, figures
from appliance.bench.intervals import estimate
from appliance.bench.speech_clips import Clip, room
from appliance.listen.config import ListenConfig
from appliance.listen.patience import manner_of
from appliance.listen.utterance import STEP_SAMPLES
from appliance.wiring_hearing import HearingParts
from tests.cli.conftest import shell
from tests.cli.shell import Shell

__all__ = ["shell"]

MANNER = manner_of(ListenConfig())


def _speech(steps: int) -> Samples:
    """So many steps of voice activity (32 ms each) of a loud tone."""
    return np.tile(np.array([6_000, -6_000], dtype=np.int16), steps * STEP_SAMPLES // 2)


def _pause(steps: int) -> Samples:
    return room(1.0)[:STEP_SAMPLES].repeat(steps)


async def _ends(
    *sound: Samples, chance: float = 1.0, text: str = "hello", seconds: float = 0.0
) -> dict[str, EndingRow]:
    """The rows of one clip, with a turn detector that always says the same."""
    clip = Clip("box", np.concatenate(sound), "hello")
    transcriber, detector = FakeTranscriber(*[text] * 20), FakeTurnDetector(usually=chance)
    found = await endings([clip], ListenConfig(), transcriber, detector, LoudnessVoiceActivity())
    return {row.way: row for row in found.rows}


async def test_each_timer_ends_a_turn_at_its_time_and_a_sure_detector_earlier() -> None:
    rows = await _ends(_speech(32))
    assert [row.soft_end for row in rows.values()] == pytest.approx([128] * 5)
    assert rows[FIXED_TIMER].over == pytest.approx(416)
    assert rows[WITHOUT_DETECTOR].over == pytest.approx(704)
    assert rows["normal"].over == pytest.approx(1000 * MANNER.looks[0].silence_seconds, abs=40)
    assert rows["quick"].over <= rows["normal"].over < rows["relaxed"].over
    assert [(row.transcripts_each, row.cut_early, row.missed) for row in rows.values()] == [(1, 0, 0)] * 5


async def test_a_detector_that_is_never_sure_makes_the_person_wait() -> None:
    rows = await _ends(_speech(32), chance=0.0)
    assert rows["normal"].over == pytest.approx(1000 * MANNER.longest_silence_seconds, abs=32)


@pytest.mark.parametrize("text", ["set a timer for", ""])
async def test_a_text_that_cannot_be_all_of_it_makes_the_person_wait(text: str) -> None:
    rows = await _ends(_speech(32), text=text)
    assert rows["normal"].over == pytest.approx(1000 * MANNER.longest_silence_seconds, abs=32)


async def test_a_pause_in_mid_sentence_begins_a_transcript_that_is_thrown_away() -> None:
    rows = await _ends(_speech(20), _pause(10), _speech(20), chance=0.0)
    assert (rows["normal"].transcripts_each, rows["normal"].cut_early) == (2, 0)
    assert rows["normal"].soft_end == pytest.approx(128)


async def test_an_utterance_that_is_over_too_early_is_counted_and_no_time_is_taken_from_it() -> None:
    rows = await _ends(_speech(20), _pause(40), _speech(20))
    assert (rows[FIXED_TIMER].cut_early, rows[FIXED_TIMER].missed, rows[FIXED_TIMER].given) == (1, 0, 0.0)


async def test_speech_that_voice_activity_does_not_see_is_counted() -> None:
    rows = await _ends(_pause(32))
    assert {(row.cut_early, row.missed) for row in rows.values()} == {(0, 1)}


async def test_pauses_that_end_a_broken_off_turn_are_counted_by_their_length() -> None:
    rows = await _ends(_speech(50), chance=0.0)
    assert rows[FIXED_TIMER].cut_percent_of == {"0.3 s": 0.0, "0.45 s": 100.0, "0.6 s": 100.0}
    assert rows["normal"].cut_percent == 0.0


async def test_the_figures_say_how_often_the_box_interrupts_against_a_timer() -> None:
    clips = [Clip("box", _speech(50), "hello")] * 2
    found = await endings(
        clips, ListenConfig(), FakeTranscriber(*["hello"] * 20), FakeTurnDetector(0.0, 0.0), LoudnessVoiceActivity()
    )
    ids = {figure.id: figure for figure in ending_figures(found)}
    assert set(ids) == {"P18", "P19"}
    assert ids["P18"].ratio == pytest.approx(ids["P18"].own / ids["P18"].peer)
    assert ids["P19"].ratio == 1.0


def test_an_interval_holds_its_figure() -> None:
    values = np.random.default_rng(3).normal(10.0, 1.0, (50, 1))
    found = estimate(values, lambda rows: float(np.median(rows)))
    assert found.low < found.value < found.high
    assert found.high - found.low < 1.5


def _parts(text: str) -> HearingParts:
    """The box always hears ``text``, the others something else."""
    return HearingParts(
        short=FakeTranscriber(*[text] * 40),
        full=FakeTranscriber(*["wrong"] * 20),
        stock=lambda _utterance: "you",
        full_windows=lambda: 0,
        voice=FakeSynthesizer(),
        activity=LoudnessVoiceActivity,
        turn_detector=FakeTurnDetector(),
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
    assert [row.way for row in result.endings.rows][:2] == [FIXED_TIMER, WITHOUT_DETECTOR]
    assert {figure.id for figure in figures(result)} == {"P6", "P7", "P18", "P19"}


async def test_what_is_no_speech_costs_the_box_no_transcript_and_any_text_misses_the_goal() -> None:
    quiet = await compare(_parts("you"), ListenConfig(), [Clip("box", _speech(20), "stop")])
    heard = {row.sound: row.heard for row in quiet.silences if row.way == BOX}
    assert heard["silence"] == heard["a quiet room"] == ""
    assert heard["noise"] == "you", "the fake activity takes loud noise for speech"
    silence = next(figure for figure in figures(quiet) if figure.id == "P7")
    assert not silence.is_met and "'you'" in silence.guard


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
