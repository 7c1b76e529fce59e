from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from appliance import models
from appliance.adapters.piper import PiperSynthesizer, WholeVoice, load_whole_voice
from appliance.adapters.piper_parts import Scales
from appliance.audio import AudioChunk, AudioFormat, join
from appliance.errors import SynthesisError, WeightsError
from appliance.ports import SynthesizedChunk

VOICE_FILE = models.locate("en_US-joe-medium", Path("nowhere"))


@pytest.fixture(scope="module", params=["streamed", "whole"])
def voice(request: pytest.FixtureRequest) -> Iterator[PiperSynthesizer]:
    loaded = PiperSynthesizer(VOICE_FILE, threads=1, load=load_whole_voice if request.param == "whole" else None)
    yield loaded
    loaded.close()


async def _say(voice: PiperSynthesizer, text: str, speed: float = 1.0) -> list[SynthesizedChunk]:
    return [chunk async for chunk in voice.synthesize(text, speed=speed)]


async def _sound(voice: PiperSynthesizer, text: str, speed: float = 1.0) -> AudioChunk:
    return join([chunk.audio for chunk in await _say(voice, text, speed)], AudioFormat(voice.sample_rate_hz))


def _seconds(chunks: list[SynthesizedChunk]) -> float:
    return sum(chunk.audio.duration_seconds for chunk in chunks)


def test_rate_and_key_are_known_before_the_voice_is_loaded() -> None:
    voice = PiperSynthesizer(VOICE_FILE)
    assert voice.sample_rate_hz == 22_050
    assert voice.voice_key == "en_US-joe-medium-3d6d5410b379-63201294"


async def test_a_sentence_becomes_sound_in_the_voice_s_format(voice: PiperSynthesizer) -> None:
    await voice.warm_up()
    chunks = await _say(voice, "It is seven minutes past three.")
    assert all(chunk.audio.samples.dtype == np.int16 and chunk.audio.samples.ndim == 1 for chunk in chunks)
    assert {chunk.audio.format.sample_rate_hz for chunk in chunks} == {voice.sample_rate_hz}
    assert 1.0 < _seconds(chunks) < 4.0
    sound = await _sound(voice, "It is seven minutes past three.")
    assert -35.0 < sound.level_dbfs < -10.0


async def test_each_sentence_is_given_as_soon_as_it_is_made(voice: PiperSynthesizer) -> None:
    assert len(await _say(voice, "One. Two. Three.")) >= 3


@pytest.mark.parametrize("text", ["", "   ", "\n", "...", "?!", "👍", "[[", "—"])
async def test_nothing_to_say_makes_no_sound(voice: PiperSynthesizer, text: str) -> None:
    assert await _say(voice, text) == []


async def test_double_speed_takes_about_half_the_time(voice: PiperSynthesizer) -> None:
    text = "The quick brown fox jumps over the lazy dog."
    assert 0.35 < _seconds(await _say(voice, text, speed=2.0)) / _seconds(await _say(voice, text)) < 0.7


async def test_sentences_do_not_jump_in_loudness(voice: PiperSynthesizer) -> None:
    texts = ("Really?", "Done.", "Good night.", "I am looking into the weather for Lisbon.", "Stop.")
    levels = [(await _sound(voice, text)).level_dbfs for text in texts]
    assert max(levels) - min(levels) < 9.0


async def test_words_without_a_full_stop_are_cut_into_pieces_that_fit_in_memory(voice: PiperSynthesizer) -> None:
    chunks = await _say(voice, "one two three four five six seven " * 16, speed=4.0)
    assert 5.0 < _seconds(chunks) < 20.0


async def test_leaving_early_frees_the_voice_for_the_next_text(voice: PiperSynthesizer) -> None:
    sounds = voice.synthesize("One. Two. Three. Four.")
    first = await anext(sounds)
    assert len(first.audio.samples)
    await sounds.aclose()  # type: ignore[attr-defined]
    assert _seconds(await _say(voice, "Again.")) > 0.2


async def test_a_cancelled_listener_leaves_the_voice_usable(voice: PiperSynthesizer) -> None:
    talk = asyncio.create_task(_say(voice, "This is a sentence. " * 20))
    await asyncio.sleep(0)
    talk.cancel()
    with pytest.raises(asyncio.CancelledError):
        await talk
    assert _seconds(await _say(voice, "Again.")) > 0.2


async def test_two_texts_take_turns(voice: PiperSynthesizer) -> None:
    first, second = await asyncio.gather(_say(voice, "One. Two."), _say(voice, "Three. Four."))
    assert len(first) >= 2 and len(second) >= 2


async def test_a_sentence_is_not_held_up_by_one_that_was_asked_for_later() -> None:
    said: list[str] = []

    class Listed:
        def sentences(
            self, text: str, scales: Scales, *, in_haste: bool = False, begun: Any = None
        ) -> Iterator[Iterator[SynthesizedChunk]]:
            yield (self._piece(text, number) for number in range(3))

        def _piece(self, text: str, number: int) -> SynthesizedChunk:
            said.append(f"{text} {number}")
            return SynthesizedChunk(AudioChunk(np.zeros(10, dtype=np.int16), AudioFormat(22_050)))

    voice = PiperSynthesizer(VOICE_FILE, load=lambda *_: Listed())
    await asyncio.gather(_say(voice, "now"), _say(voice, "next"))
    assert said == ["now 0", "now 1", "now 2", "next 0", "next 1", "next 2"]
    voice.close()


async def test_a_listener_who_leaves_in_mid_sentence_leaves_the_rest_unmade() -> None:
    made: list[int] = []
    is_left = threading.Event()

    class Endless:
        def sentences(
            self, text: str, scales: Scales, *, in_haste: bool = False, begun: Any = None
        ) -> Iterator[Iterator[SynthesizedChunk]]:
            yield (self._piece(number) for number in range(1000))

        def _piece(self, number: int) -> SynthesizedChunk:
            if number == 1:
                is_left.wait(10.0)
            made.append(number)
            return SynthesizedChunk(AudioChunk(np.zeros(10, dtype=np.int16), AudioFormat(22_050)))

    voice = PiperSynthesizer(VOICE_FILE, load=lambda *_: Endless())
    sounds = voice.synthesize("Hello.")
    await anext(sounds)
    await sounds.aclose()  # type: ignore[attr-defined]
    is_left.set()
    voice.close()
    await asyncio.to_thread(voice._thread.give_back, wait=True)
    assert len(made) <= 2, "the piece that was being made, and no more"


class _Hanging:
    """A voice whose thread never comes back, until the test is over."""

    def __init__(self, is_over: threading.Event) -> None:
        self._is_over = is_over

    def sentences(
        self, text: str, scales: Scales, *, in_haste: bool = False, begun: Any = None
    ) -> Iterator[Iterator[SynthesizedChunk]]:
        self._is_over.wait(20.0)
        yield iter(())


class _Short:
    def sentences(
        self, text: str, scales: Scales, *, in_haste: bool = False, begun: Any = None
    ) -> Iterator[Iterator[SynthesizedChunk]]:
        yield iter((SynthesizedChunk(AudioChunk(np.zeros(10, dtype=np.int16), AudioFormat(22_050))),))


async def _begun(voice: PiperSynthesizer, text: str) -> asyncio.Task[list[SynthesizedChunk]]:
    talk = asyncio.create_task(_say(voice, text))
    while not voice._thread.is_at_work:
        await asyncio.sleep(0)
    return talk


async def test_a_voice_that_hangs_starts_over_on_a_new_thread() -> None:
    is_over = threading.Event()
    voices: list[_Hanging | _Short] = [_Hanging(is_over), _Short()]
    voice = PiperSynthesizer(VOICE_FILE, load=lambda *_: voices.pop(0))
    stuck = await _begun(voice, "Hello.")
    waiting = asyncio.create_task(_say(voice, "Is anybody there?"))
    await asyncio.sleep(0)
    voice.start_over()
    with pytest.raises(SynthesisError, match="started over"):
        await waiting
    assert len(await _say(voice, "Hello again.")) == 1
    is_over.set()
    with pytest.raises(SynthesisError, match="closed"):
        await stuck
    voice.close()


async def test_a_voice_that_came_back_goes_on_as_it_is() -> None:
    voices = [_Short()]
    voice = PiperSynthesizer(VOICE_FILE, load=lambda *_: voices.pop(0))
    await _say(voice, "Hello.")
    voice.start_over()
    assert len(await _say(voice, "Hello again.")) == 1
    voice.close()


async def test_a_voice_that_always_hangs_does_not_fill_the_memory() -> None:
    is_over = threading.Event()
    loaded: list[_Hanging] = []

    def load(*_: Any) -> _Hanging:
        loaded.append(_Hanging(is_over))
        return loaded[-1]

    voice = PiperSynthesizer(VOICE_FILE, load=load)
    talks = []
    for _ in range(6):
        talks.append(await _begun(voice, "Hello."))
        voice.start_over()
    assert len(loaded) == 3
    is_over.set()
    await asyncio.gather(*talks, return_exceptions=True)
    voice.close()


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


def _whole(voice: Any) -> PiperSynthesizer:
    return PiperSynthesizer(VOICE_FILE, load=lambda *_: WholeVoice(voice, AudioFormat(22_050)))


async def test_phonemes_are_passed_on_when_the_voice_knows_their_lengths() -> None:
    (chunk,) = await _say(_whole(_AlignedVoice()), "Hi.")
    assert [(entry.phoneme, entry.samples) for entry in chunk.phonemes] == [("", 10), ("h", 20), ("aɪ", 30), ("", 5)]
    assert sum(entry.samples for entry in chunk.phonemes) == len(chunk.audio.samples)


async def test_a_whole_voice_without_alignments_gives_no_phonemes() -> None:
    voice = PiperSynthesizer(VOICE_FILE, threads=1, load=load_whole_voice)
    assert [chunk.phonemes for chunk in await _say(voice, "Hi.")] == [()]
    voice.close()


async def test_a_failing_voice_is_a_synthesis_error() -> None:
    with pytest.raises(SynthesisError, match="bad phoneme"):
        await _say(_whole(_FailingVoice()), "Hi.")


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
