"""Wake words with all real weights: the box's voice calls, says what only sounds like it, and people talk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance import models
from appliance.adapters.microwakeword import MicroWakeWords
from appliance.adapters.silero_vad import SileroVoiceActivity
from appliance.adapters.wav_file import write_wav
from appliance.adapters.wav_sound_card import WavSoundCard
from appliance.adapters.whisper import WhisperTranscriber
from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.bench.speech_clips import people
from appliance.bench.wake import Listener, in_a_room
from appliance.bench.wake_sounds import CONDITIONS, finished, music, pitched
from appliance.clock import SystemClock
from appliance.config import load
from appliance.home import Home
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Ear
from appliance.listen.wake_check import WakeCheck
from appliance.wiring_wake import wake_parts
from tests.listen.spoken import room, speak


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    with wake_parts(load(None, {}, {"hear.threads": "1"}), Home(tmp_path_factory.mktemp("home"))) as parts:
        yield Listener(parts)


@pytest.mark.parametrize("condition", ["clean", "soft, -50 dBFS"])
def test_a_call_is_found_behind_the_gate_and_passes_the_second_look(listener: Listener, condition: str) -> None:
    call = in_a_room(speak("Okay Nabu."), condition, 1)
    assert [finding.is_call for finding in listener.hear([call])] == [True]


def test_in_noise_the_gate_costs_no_calls(listener: Listener) -> None:
    """The wake model itself finds about half of them; which half is chance, with the gate and without."""
    voices = [pitched(speak(text), pitch) for text in ("Okay Nabu.", "Okay, Nabu!") for pitch in (0.9, 0.95, 1.0, 1.1)]
    calls = [in_a_room(voice, "noise at 10 dB", seed) for seed, voice in enumerate(voices)]
    without, behind = sum(map(listener.finds_without_gate, calls)), [listener.hear([call]) for call in calls]
    assert without >= 2
    assert sum(map(bool, behind)) >= without - 1
    assert sum(finding.is_call for found in behind for finding in found) >= without - 2


def test_half_of_what_only_sounds_like_a_call_is_refused(listener: Listener) -> None:
    said = [
        "Okay, now do it.",
        "Okay, another.",
        "Okay, in a book.",
        "Okay, you know who.",
        "Okay, not blue.",
        "Okay, Abu.",
    ]
    findings = [finding for text in said for finding in listener.hear([in_a_room(speak(text), "clean", 1)])]
    assert len(findings) >= 4, "the wake model alone is fooled"
    assert sum(finding.is_call for finding in findings) <= len(findings) / 2


def test_people_who_talk_and_music_call_nobody(listener: Listener) -> None:
    talk = [clip.samples for clip in people()] or [speak("This is the news at nine o'clock.")]
    findings = listener.hear([room(3.0), *talk, finished(music(20.0, 1), 1)])
    assert not any(finding.is_call for finding in findings)


async def test_a_command_in_one_breath_is_whole_behind_the_second_look(tmp_path: Path) -> None:
    said: list[Samples] = [room(2.0), speak("Okay Nabu, what time is it?"), room(1.5)]
    write_wav(tmp_path / "said.wav", AudioChunk(np.concatenate(said), HEARING_FORMAT))
    clock, transcriber = SystemClock(), WhisperTranscriber(models.locate("tiny.en", Path("nowhere")), threads=1)
    await transcriber.warm_up()
    card = WavSoundCard(clock, tmp_path / "said.wav")
    ear = Ear(card, SileroVoiceActivity(), MicroWakeWords(["okay_nabu"]), clock, ListenConfig())
    ear.check_wake_words(WakeCheck(transcriber, SileroVoiceActivity(), clock))
    await card.open(lambda frames: np.zeros(frames, dtype=np.int16))
    running = asyncio.create_task(ear.run())
    try:
        assert await asyncio.wait_for(ear.wake(), 10.0) == "okay nabu"
        utterance = await ear.listen(no_speech_seconds=2.0, after_wake_word=True)
        assert utterance is not None
        assert (await transcriber.transcribe(utterance.audio)).text.casefold().startswith("what time is it")
    finally:
        running.cancel()
        await card.close()
        transcriber.close()


def test_every_condition_of_the_benchmark_is_a_sound_of_the_same_length() -> None:
    speech = speak("Okay Nabu.")
    lengths = {name: len(in_a_room(speech, name, 1)) for name in CONDITIONS}
    assert min(lengths.values()) >= len(speech)
    assert max(lengths.values()) - min(lengths.values()) <= HEARING_FORMAT.sample_rate_hz
