"""The ear with its real detectors and a real voice: what is said behind the wake word arrives whole."""

from __future__ import annotations

import asyncio
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
from appliance.clock import SystemClock
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Ear, Utterance
from tests.listen.spoken import room, speak


def _louder(samples: Samples, gain: float) -> Samples:
    louder: Samples = np.clip(samples * gain, -32768, 32767).astype(np.int16)
    return louder


async def heard_after_wake_word(tmp_path: Path, *said: Samples) -> tuple[str, Utterance | None]:
    """One turn of listening in a quiet room: the wake word that was found, and the utterance behind it."""
    sound = np.concatenate([room(1.0), *said, room(1.5)])
    write_wav(tmp_path / "said.wav", AudioChunk(sound, HEARING_FORMAT))
    card = WavSoundCard(SystemClock(), tmp_path / "said.wav")
    ear = Ear(card, SileroVoiceActivity(), MicroWakeWords(["okay_nabu"]), SystemClock(), ListenConfig())
    await card.open(lambda frames: np.zeros(frames, dtype=np.int16))
    running = asyncio.create_task(ear.run())
    try:
        word = await asyncio.wait_for(ear.wake(), 10.0)
        return word, await ear.listen(no_speech_seconds=2.0, after_wake_word=True)
    finally:
        running.cancel()
        await card.close()


async def transcribed(utterance: Utterance | None) -> str:
    assert utterance is not None
    transcriber = WhisperTranscriber(models.locate("tiny.en", Path("nowhere")), threads=1)
    try:
        return (await transcriber.transcribe(utterance.audio)).text.strip().casefold().rstrip(".?!")
    finally:
        transcriber.close()


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("Okay Nabu, what time is it?", "what time is it"),
        ("Okay Nabu. Set a timer, please.", "set a timer, please"),
        ("Okay Nabu, stop.", "stop"),
    ],
)
@pytest.mark.parametrize("gain", [0.2, 1.0])
async def test_a_command_in_one_breath_with_the_wake_word(tmp_path: Path, said: str, command: str, gain: float) -> None:
    word, utterance = await heard_after_wake_word(tmp_path, _louder(speak(said), gain))
    assert word == "okay nabu"
    assert await transcribed(utterance) == command


async def test_a_command_after_a_moment_of_thought_in_two_halves(tmp_path: Path) -> None:
    said = [speak("Okay Nabu."), room(1.0), speak("Turn on the light"), room(0.4), speak("in the kitchen.")]
    _, utterance = await heard_after_wake_word(tmp_path, *said)
    text = await transcribed(utterance)
    assert text.startswith("turn on the light")
    assert text.endswith("in the kitchen")
    assert "nabu" not in text


async def test_the_wake_word_alone_is_followed_by_nothing(tmp_path: Path) -> None:
    _, utterance = await heard_after_wake_word(tmp_path, speak("Okay Nabu."), room(2.0))
    assert utterance is None


async def test_a_noise_after_the_wake_word_is_no_utterance(tmp_path: Path) -> None:
    click = np.concatenate([room(0.5), _louder(room(0.03), 500.0), room(2.0)])
    _, utterance = await heard_after_wake_word(tmp_path, speak("Okay Nabu."), click)
    assert utterance is None
