"""A voice in windows: it sounds as it does whole, and its parts are kept, found again and made again."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from appliance.adapters.fakes.growing_text import FakeGrowingText
from appliance.adapters.onnx_graph import GraphError, OnnxGraph
from appliance.adapters.piper import PiperSynthesizer, load_whole_voice
from appliance.adapters.piper_parts import Parts, find_cuts, load_parts
from appliance.adapters.piper_windows import MOST_FIRST_FRAMES
from appliance.ports import SynthesizedChunk
from tests.adapters.voices import VOICE_FILE, steady_voice

TEXTS = (
    "Hi.",
    "It is seven minutes past three.",
    "According to the forecast, it will rain in the afternoon, and the temperature will drop to about seven degrees.",
)


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PiperSynthesizer, PiperSynthesizer]]:
    """The same voice streamed and whole."""
    folder = tmp_path_factory.mktemp("voice")
    file = steady_voice(folder)
    voices = (
        PiperSynthesizer(file, threads=1, parts_folder=folder / "parts"),
        PiperSynthesizer(file, threads=1, load=load_whole_voice),
    )
    yield voices
    for voice in voices:
        voice.close()


async def _say(voice: PiperSynthesizer, text: str, speed: float = 1.0) -> list[SynthesizedChunk]:
    return [chunk async for chunk in voice.synthesize(text, speed=speed)]


def _samples(chunks: list[SynthesizedChunk]) -> npt.NDArray[np.int32]:
    return np.concatenate([chunk.audio.samples for chunk in chunks]).astype(np.int32)


@pytest.mark.parametrize("speed", [0.7, 1.0, 1.6])
@pytest.mark.parametrize("text", TEXTS)
async def test_a_streamed_voice_sounds_as_it_does_whole(
    steady: tuple[PiperSynthesizer, PiperSynthesizer], text: str, speed: float
) -> None:
    streamed, whole = [_samples(await _say(voice, text, speed)) for voice in steady]
    assert len(streamed) == len(whole)
    assert np.abs(streamed - whole).max() <= 1


async def test_the_first_piece_is_short(steady: tuple[PiperSynthesizer, PiperSynthesizer]) -> None:
    lengths = [len(chunk.audio.samples) for chunk in await _say(steady[0], TEXTS[2])]
    assert lengths[0] <= MOST_FIRST_FRAMES * 256
    assert len(lengths) > 3


def _level_dbfs(samples: npt.NDArray[np.int32]) -> float:
    return 20 * float(np.log10(np.sqrt(np.mean(np.square(samples / 32768)))))


async def test_a_sentence_in_haste_is_the_same_but_for_a_breath(
    steady: tuple[PiperSynthesizer, PiperSynthesizer],
) -> None:
    hasty = [chunk async for chunk in steady[0].synthesize(TEXTS[2], in_haste=True)]
    at_leisure = await _say(steady[0], TEXTS[2])
    assert len({len(_samples(hasty)), len(_samples(at_leisure))}) == 2, "its first words were made alone"
    assert 0.95 < len(_samples(hasty)) / len(_samples(at_leisure)) < 1.05
    for half in (slice(None, 60_000), slice(60_000, None), slice(None)):
        assert abs(_level_dbfs(_samples(hasty)[half]) - _level_dbfs(_samples(at_leisure)[half])) < 1.0
    for chunk in hasty:
        assert sum(timed.samples for timed in chunk.phonemes) == len(chunk.audio.samples)


async def test_a_short_sentence_in_haste_is_the_same(steady: tuple[PiperSynthesizer, PiperSynthesizer]) -> None:
    hasty = [chunk async for chunk in steady[0].synthesize(TEXTS[1], in_haste=True)]
    assert np.abs(_samples(hasty) - _samples(await _say(steady[0], TEXTS[1]))).max() <= 1


async def _say_while_it_is_written(voice: PiperSynthesizer, texts: Sequence[str]) -> list[SynthesizedChunk]:
    return [chunk async for chunk in voice.synthesize_growing(FakeGrowingText(texts))]


@pytest.mark.parametrize("step", [1, 3, 40])
async def test_a_sentence_that_is_spoken_while_it_is_written_is_the_same_but_for_a_breath(
    steady: tuple[PiperSynthesizer, PiperSynthesizer], step: int
) -> None:
    words = TEXTS[2].split()
    begun = [" ".join(words[:count]).rstrip(",") for count in range(4, len(words), step)]
    early = await _say_while_it_is_written(steady[0], [*begun, TEXTS[2]])
    at_leisure = await _say(steady[0], TEXTS[2])
    assert 0.93 < len(_samples(early)) / len(_samples(at_leisure)) < 1.1
    for half in (slice(None, 60_000), slice(60_000, None), slice(None)):
        assert abs(_level_dbfs(_samples(early)[half]) - _level_dbfs(_samples(at_leisure)[half])) < 1.5
    for chunk in early:
        assert sum(timed.samples for timed in chunk.phonemes) in (0, len(chunk.audio.samples))
    # No click where two pieces meet: it is no rougher there than elsewhere nearby.
    joins = np.cumsum([len(chunk.audio.samples) for chunk in early])[:-1]
    rough = np.abs(np.diff(_samples(early), 2))
    for join in joins:
        assert rough[join - 3 : join + 3].max() <= 2 * np.quantile(rough[max(0, join - 500) : join + 500], 0.99) + 20


async def test_its_first_words_sound_before_the_rest_is_written(
    steady: tuple[PiperSynthesizer, PiperSynthesizer],
) -> None:
    growing = FakeGrowingText(["According to the forecast", TEXTS[2]])
    pieces = steady[0].synthesize_growing(growing)
    first = await anext(pieces)
    assert len(first.audio.samples) and growing.waits == []
    # Who speaks meanwhile has the voice.
    assert len(await _say(steady[0], TEXTS[0]))
    assert len([piece async for piece in pieces]) > 1
    ((known, seconds),) = growing.waits
    assert known == "According to the forecast"
    assert seconds < first.audio.duration_seconds, "more is made before what there is has sounded"


async def test_a_voice_that_is_whole_waits_for_the_sentence(
    steady: tuple[PiperSynthesizer, PiperSynthesizer],
) -> None:
    early = await _say_while_it_is_written(steady[1], ["According to the forecast", TEXTS[2]])
    assert np.abs(_samples(early) - _samples(await _say(steady[1], TEXTS[2]))).max() <= 1


async def test_the_phonemes_of_every_piece_last_as_long_as_its_sound(
    steady: tuple[PiperSynthesizer, PiperSynthesizer],
) -> None:
    chunks = await _say(steady[0], TEXTS[1])
    assert len(chunks) > 1
    for chunk in chunks:
        assert sum(timed.samples for timed in chunk.phonemes) == len(chunk.audio.samples)
        assert all(timed.samples for timed in chunk.phonemes)
    # A phoneme that sounds across two pieces is in both.
    names = [name for name, _ in itertools.groupby(timed.phoneme for chunk in chunks for timed in chunk.phonemes)]
    assert "".join(names).replace("ˈ", "").replace("ˌ", "") == "ɪɾ ɪz sɛvən mɪnɪts pæst θɹiː."


# ------------------------------------------------------------------------------------------------- parts


def _speaks(parts: Parts) -> bool:
    prior, durations = parts.prior([1, 0, 20, 0, 2], (0.0, 1.0, 0.0))
    return len(parts.sound(parts.latent(prior))) == int(durations.sum()) * parts.reach.frame_samples


def test_parts_are_made_once_and_found_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert _speaks(load_parts(VOICE_FILE, tmp_path / "parts", 1))
    (place,) = (tmp_path / "parts").iterdir()
    assert place.name.startswith("en_US-joe-medium-")
    before = {file.name: file.stat().st_mtime_ns for file in place.iterdir()}
    assert _speaks(load_parts(VOICE_FILE, tmp_path / "parts", 1))
    assert {file.name: file.stat().st_mtime_ns for file in place.iterdir()} == before
    assert caplog.text == ""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    load_parts(VOICE_FILE, folder, 1)
    (place,) = folder.iterdir()
    return place


@pytest.mark.parametrize("harm", ["torn", "flipped", "missing", "no list", "other list"])
def test_damaged_parts_are_made_again(kept: Path, harm: str) -> None:
    vocoder, listed = kept / "vocoder.onnx", kept / "parts.json"
    whole = vocoder.read_bytes()
    if harm == "torn":
        vocoder.write_bytes(whole[: len(whole) // 2])
    elif harm == "flipped":
        vocoder.write_bytes(whole[:5_000_000] + bytes([whole[5_000_000] ^ 1]) + whole[5_000_001:])
    elif harm == "missing":
        vocoder.unlink()
    elif harm == "no list":
        listed.unlink()
    else:
        listed.write_text(json.dumps({"crc32": {}}), encoding="utf-8")
    assert _speaks(load_parts(VOICE_FILE, kept.parent, 1))
    assert vocoder.read_bytes() == whole
    assert [entry.name for entry in kept.parent.iterdir()] == [kept.name]


def test_parts_of_another_voice_are_not_used_and_not_kept(kept: Path) -> None:
    older = kept.parent / "en_US-joe-medium-0123456789abcdef"
    kept.rename(older)
    assert _speaks(load_parts(VOICE_FILE, kept.parent, 1))
    assert [entry.name for entry in kept.parent.iterdir()] == [kept.name]


def test_a_disk_that_takes_nothing_costs_only_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "parts").write_text("a file where the folder should be")
    with caplog.at_level(logging.WARNING):
        assert _speaks(load_parts(VOICE_FILE, tmp_path / "parts", 1))
    assert len(caplog.records) == 1
    assert "cannot be kept" in caplog.text


async def test_a_voice_that_cannot_be_cut_speaks_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = steady_voice(tmp_path)
    file.unlink()
    # Lengths that are not rounded up: still a voice, but not of the form that is known.
    file.write_bytes(VOICE_FILE.read_bytes().replace(b"Ceil", b"Relu"))
    voice = PiperSynthesizer(file, threads=1, parts_folder=tmp_path / "parts")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            (chunk,) = await _say(voice, "It is seven minutes past three.")
            assert 1.0 < chunk.audio.duration_seconds < 4.0
    voice.close()
    (warning,) = [record.message for record in caplog.records]
    assert "makes its sentences whole" in warning and "not a piper voice of one speaker" in warning


@pytest.mark.parametrize("model", [b"", b"no model at all", b"\x3a\x05ab", b"\x08\x08", b"\xff" * 20])
def test_what_is_no_model_is_refused(model: bytes) -> None:
    with pytest.raises(GraphError):
        find_cuts(OnnxGraph(model))


def test_the_cuts_of_the_default_voice() -> None:
    cuts = find_cuts(OnnxGraph(VOICE_FILE.read_bytes()))
    assert (cuts.prior, cuts.durations, cuts.mask) == ("/Add_output_0", "/Ceil_output_0", "/Cast_2_output_0")
    assert (cuts.latent, cuts.sound) == ("/Mul_7_output_0", "output")
