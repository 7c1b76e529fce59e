from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from appliance import models
from appliance.adapters.piper import PiperSynthesizer
from appliance.errors import SynthesisError, WeightsError
from appliance.ports import SynthesizedChunk

VOICE_FILE = models.locate("en_US-joe-medium", Path("nowhere"))


@pytest.fixture(scope="module")
def voice() -> Iterator[PiperSynthesizer]:
    loaded = PiperSynthesizer(VOICE_FILE, threads=1)
    yield loaded
    loaded.close()


async def _say(voice: PiperSynthesizer, text: str, speed: float = 1.0) -> list[SynthesizedChunk]:
    return [chunk async for chunk in voice.synthesize(text, speed=speed)]


def _seconds(chunks: list[SynthesizedChunk]) -> float:
    return sum(chunk.audio.duration_seconds for chunk in chunks)


def test_rate_and_key_are_known_before_the_voice_is_loaded() -> None:
    voice = PiperSynthesizer(VOICE_FILE)
    assert voice.sample_rate_hz == 22_050
    assert voice.voice_key == "en_US-joe-medium-3d6d5410b379-63201294"


async def test_a_sentence_becomes_sound_in_the_voice_s_format(voice: PiperSynthesizer) -> None:
    await voice.warm_up()
    (chunk,) = await _say(voice, "It is seven minutes past three.")
    assert chunk.audio.samples.dtype == np.int16
    assert chunk.audio.samples.ndim == 1
    assert chunk.audio.format.sample_rate_hz == voice.sample_rate_hz
    assert 1.0 < chunk.audio.duration_seconds < 4.0
    assert -35.0 < chunk.audio.level_dbfs < -10.0


async def test_each_sentence_is_given_as_soon_as_it_is_made(voice: PiperSynthesizer) -> None:
    assert len(await _say(voice, "One. Two. Three.")) == 3


@pytest.mark.parametrize("text", ["", "   ", "\n", "...", "?!", "👍", "[[", "—"])
async def test_nothing_to_say_makes_no_sound(voice: PiperSynthesizer, text: str) -> None:
    assert await _say(voice, text) == []


async def test_double_speed_takes_about_half_the_time(voice: PiperSynthesizer) -> None:
    text = "The quick brown fox jumps over the lazy dog."
    assert 0.35 < _seconds(await _say(voice, text, speed=2.0)) / _seconds(await _say(voice, text)) < 0.7


async def test_sentences_do_not_jump_in_loudness(voice: PiperSynthesizer) -> None:
    texts = ("Really?", "Done.", "Good night.", "I am looking into the weather for Lisbon.", "Stop.")
    levels = [chunk.audio.level_dbfs for text in texts for chunk in await _say(voice, text)]
    assert max(levels) - min(levels) < 9.0


async def test_words_without_a_full_stop_are_cut_into_pieces_that_fit_in_memory(voice: PiperSynthesizer) -> None:
    chunks = await _say(voice, "one two three four five six seven " * 16, speed=4.0)
    assert len(chunks) == 2
    assert 5.0 < _seconds(chunks) < 20.0


async def test_leaving_early_frees_the_voice_for_the_next_text(voice: PiperSynthesizer) -> None:
    sounds = voice.synthesize("One. Two. Three. Four.")
    first = await anext(sounds)
    assert len(first.audio.samples)
    await sounds.aclose()  # type: ignore[attr-defined]
    assert len(await _say(voice, "Again.")) == 1


async def test_a_cancelled_listener_leaves_the_voice_usable(voice: PiperSynthesizer) -> None:
    talk = asyncio.create_task(_say(voice, "This is a sentence. " * 20))
    await asyncio.sleep(0)
    talk.cancel()
    with pytest.raises(asyncio.CancelledError):
        await talk
    assert len(await _say(voice, "Again.")) == 1


async def test_two_texts_take_turns(voice: PiperSynthesizer) -> None:
    first, second = await asyncio.gather(_say(voice, "One. Two."), _say(voice, "Three. Four."))
    assert len(first) == len(second) == 2


class _Session:
    def __init__(self, outputs: int) -> None:
        self._outputs = ["output"] * outputs

    def get_outputs(self) -> list[str]:
        return self._outputs


class _AlignedVoice:
    """Stands in for a piper voice that knows how long each phoneme lasts."""

    session = _Session(2)

    def synthesize(self, text: str, syn_config: Any, include_alignments: bool) -> Iterator[Any]:
        assert include_alignments
        lengths = (("^", 10), ("h", 20), ("aɪ", 30), ("$", 5))
        yield SimpleNamespace(
            audio_int16_array=np.zeros(65, dtype=np.int16),
            phoneme_alignments=[SimpleNamespace(phoneme=name, num_samples=count) for name, count in lengths],
        )


class _FailingVoice:
    session = _Session(1)

    def synthesize(self, text: str, syn_config: Any, include_alignments: bool) -> Iterator[Any]:
        raise RuntimeError("bad phoneme")


async def test_phonemes_are_passed_on_when_the_voice_knows_their_lengths() -> None:
    (chunk,) = await _say(PiperSynthesizer(VOICE_FILE, load=lambda *_: _AlignedVoice()), "Hi.")
    assert [(entry.phoneme, entry.samples) for entry in chunk.phonemes] == [("", 10), ("h", 20), ("aɪ", 30), ("", 5)]
    assert sum(entry.samples for entry in chunk.phonemes) == len(chunk.audio.samples)


async def test_a_voice_without_alignments_gives_no_phonemes(voice: PiperSynthesizer) -> None:
    assert [chunk.phonemes for chunk in await _say(voice, "Hi.")] == [()]


async def test_a_failing_voice_is_a_synthesis_error() -> None:
    with pytest.raises(SynthesisError, match="bad phoneme"):
        await _say(PiperSynthesizer(VOICE_FILE, load=lambda *_: _FailingVoice()), "Hi.")


async def test_a_closed_voice_says_so() -> None:
    closed = PiperSynthesizer(VOICE_FILE)
    closed.close()
    with pytest.raises(SynthesisError, match="closed"):
        await _say(closed, "Hello.")


def test_a_missing_voice_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"is missing; run \./run setup"):
        PiperSynthesizer(tmp_path / "voice.onnx")


def test_a_voice_without_its_settings_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "voice.onnx").write_bytes(b"x")
    with pytest.raises(WeightsError, match=r"voice\.onnx\.json is missing"):
        PiperSynthesizer(tmp_path / "voice.onnx")


@pytest.mark.parametrize("settings", ["not json", "[]", "{}", '{"audio": {"sample_rate": "fast"}}'])
def test_settings_of_something_else_are_refused(tmp_path: Path, settings: str) -> None:
    (tmp_path / "voice.onnx").write_bytes(b"x")
    (tmp_path / "voice.onnx.json").write_text(settings)
    with pytest.raises(WeightsError, match="does not describe a piper voice"):
        PiperSynthesizer(tmp_path / "voice.onnx")


async def test_a_broken_voice_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "voice.onnx").write_bytes(b"no model at all")
    shutil.copy(f"{VOICE_FILE}.json", tmp_path / "voice.onnx.json")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        await PiperSynthesizer(tmp_path / "voice.onnx").warm_up()
