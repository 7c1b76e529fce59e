from __future__ import annotations

import numpy as np
import pytest

from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.audio import AudioChunk, Samples
from appliance.listen.config import ListenConfig
from appliance.listen.endpointing import Endpointing
from appliance.listen.utterance import STEP_SAMPLES, Progress, UtteranceRecorder

RATE = 16_000


def speech(seconds: float, value: int = 5000) -> Samples:
    return np.full(round(seconds * RATE), value, dtype=np.int16)


def quiet(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), dtype=np.int16)


class Told:
    """Keeps what a recorder tells."""

    def __init__(self) -> None:
        self.what: list[str] = []
        self.soft_ends: list[AudioChunk] = []
        self.progress = Progress(
            on_speech_started=lambda: self.what.append("started"),
            on_soft_end=self._soft,
            on_resumed=lambda: self.what.append("resumed"),
        )

    def _soft(self, audio: AudioChunk) -> None:
        self.what.append("soft")
        self.soft_ends.append(audio)


def recorder(told: Told | None = None, *, discard_samples: int = 0) -> UtteranceRecorder:
    endpointing = Endpointing(ListenConfig(), no_speech_seconds=5.0)
    progress = told.progress if told else Progress()
    return UtteranceRecorder(LoudnessVoiceActivity(), endpointing, progress, discard_samples)


def test_an_utterance_is_whole_with_a_little_around_it() -> None:
    recording = recorder()
    recording.hear(np.concatenate([quiet(3.0), speech(1.0, 6000), speech(0.2, 7000), quiet(2.0)]))
    assert recording.is_over
    utterance = recording.utterance
    assert utterance is not None
    loud = utterance.audio.samples[utterance.audio.samples != 0]
    assert len(loud) == round(1.2 * RATE), "no sample of the speech is lost"
    assert utterance.speech_seconds == pytest.approx(1.2, abs=0.07)
    lead = int(np.flatnonzero(utterance.audio.samples)[0]) / RATE
    assert lead == pytest.approx(0.3, abs=0.04), "the wait before the first word is not transcribed"
    assert utterance.audio.duration_seconds < 1.2 + 0.3 + 0.3


def test_the_size_of_the_chunks_changes_nothing() -> None:
    sound = np.concatenate([quiet(0.5), speech(1.0), quiet(2.0)])
    at_once, in_pieces = recorder(), recorder()
    at_once.hear(sound)
    for start in range(0, len(sound), 333):
        in_pieces.hear(sound[start : start + 333])
    assert at_once.utterance is not None and in_pieces.utterance is not None
    assert np.array_equal(at_once.utterance.audio.samples, in_pieces.utterance.audio.samples)


def test_what_was_worked_out_at_the_soft_end_holds_when_nobody_went_on() -> None:
    told = Told()
    recording = recorder(told)
    recording.hear(np.concatenate([speech(1.0), quiet(2.0)]))
    assert told.what == ["started", "soft"]
    assert recording.utterance is not None
    assert recording.utterance.audio is told.soft_ends[0]


def test_after_a_pause_the_utterance_holds_both_halves() -> None:
    told = Told()
    recording = recorder(told)
    recording.hear(np.concatenate([speech(1.0), quiet(0.5), speech(0.5), quiet(2.0)]))
    assert told.what == ["started", "soft", "resumed", "soft"]
    assert recording.utterance is not None
    assert np.count_nonzero(recording.utterance.audio.samples) == round(1.5 * RATE)


def test_nothing_said_is_nothing() -> None:
    told = Told()
    recording = recorder(told)
    recording.hear(quiet(6.0))
    assert recording.is_over
    assert recording.utterance is None
    assert told.what == []


def test_the_end_of_our_own_sentence_is_let_pass() -> None:
    recording = recorder(discard_samples=round(0.3 * RATE))
    recording.hear(np.concatenate([speech(0.3, 9000), quiet(0.2), speech(0.5, 4000), quiet(1.0)]))
    assert recording.utterance is not None
    assert recording.utterance.audio.samples.max() < 9000


def test_releasing_the_button_ends_the_utterance_in_mid_word() -> None:
    recording = recorder()
    recording.hear(speech(0.64))
    recording.finish()
    assert recording.is_over
    assert recording.utterance is not None
    assert recording.utterance.audio.duration_seconds == pytest.approx(0.64, abs=0.032)


def test_releasing_the_button_makes_even_a_short_word_count() -> None:
    told = Told()
    recording = recorder(told)
    recording.hear(np.concatenate([quiet(0.32), speech(0.1), quiet(0.1)]))
    assert recording.utterance is None
    recording.finish()
    assert recording.utterance is not None
    assert told.what == ["started"]


def test_releasing_the_button_without_a_word_is_nothing() -> None:
    recording = recorder()
    recording.hear(quiet(1.0))
    recording.finish()
    assert recording.utterance is None


def test_a_dropped_utterance_is_gone() -> None:
    recording = recorder()
    recording.hear(speech(1.0))
    recording.drop()
    assert recording.is_over
    assert recording.utterance is None


def test_voice_activity_hears_the_room_before_it_decides() -> None:
    activity = LoudnessVoiceActivity()
    recording = UtteranceRecorder(activity, Endpointing(ListenConfig(), no_speech_seconds=5.0))
    recording.warm_up(speech(0.5))
    assert activity.resets == 1
    assert activity.steps == round(0.5 * RATE) // STEP_SAMPLES
    recording.hear(quiet(6.0))
    assert recording.utterance is None, "what warmed it up is no speech of the person"
