"""Whisper's weights as integers, which are kept between starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance import models
from appliance.adapters import whisper_weights
from appliance.adapters.whisper import WhisperTranscriber, load_weights
from appliance.adapters.whisper_weights import KeptWeights
from appliance.errors import WeightsError
from appliance.home import shipped
from tests.cli.shell import read_wav

NOWHERE = Path("/nonexistent")
_FILES = ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt")


@pytest.fixture(scope="module")
def shipped_weights() -> Path:
    return models.locate("tiny.en", NOWHERE)


@pytest.fixture
def weights(shipped_weights: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    folder = tmp_path / "tiny.en"
    folder.mkdir()
    for name in _FILES:
        shutil.copy(shipped_weights / name, folder)
    return folder


def _copies(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def _loaded_from(kept: KeptWeights, weights: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that it tries to load, the last of them with success."""
    tried: list[Path] = []

    def load(folder: Path, threads: int) -> Any:
        tried.append(folder)
        return load_weights(folder, threads)

    monkeypatch.setattr(whisper_weights, "load_weights", load)
    kept.load(weights, 1)
    return tried


def test_the_model_computes_exactly_what_it_did(weights: Path, tmp_path: Path) -> None:
    kept = KeptWeights(tmp_path / "kept", weights)
    kept.keep()
    (copy,) = _copies(tmp_path / "kept")
    assert (copy / "model.bin").stat().st_size < 0.6 * (weights / "model.bin").stat().st_size
    original, smaller = load_weights(weights, 1), load_weights(copy, 1)
    from ctranslate2 import StorageView

    sound = np.random.default_rng(1).standard_normal((1, 80, 400)).astype(np.float32)
    encoded = [np.array(model.model.encode(StorageView.from_array(sound))) for model in (original, smaller)]  # type: ignore[attr-defined]
    assert np.array_equal(*encoded)
    results = [
        model.model.generate(  # type: ignore[attr-defined]
            StorageView.from_array(encoded[0]), [[50257, 50362]], beam_size=3, max_length=40, return_scores=True
        )[0]
        for model in (original, smaller)
    ]
    assert results[0].sequences_ids == results[1].sequences_ids
    assert results[0].scores == results[1].scores


async def test_the_same_words_are_heard(weights: Path, tmp_path: Path) -> None:
    kept = KeptWeights(tmp_path / "kept", weights)
    question = read_wav(shipped("soul") / "demo.wav")
    before = await WhisperTranscriber(weights, threads=1, load=kept.load).transcribe(question)
    kept.keep()
    after = await WhisperTranscriber(weights, threads=1, load=kept.load).transcribe(question)
    assert before == after
    assert before.text


def test_the_next_start_loads_the_copy(weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptWeights(tmp_path / "kept", weights)
    assert _loaded_from(kept, weights, monkeypatch) == [weights]
    kept.keep()
    assert _loaded_from(kept, weights, monkeypatch) == _copies(tmp_path / "kept")


def test_it_is_made_once(weights: Path, tmp_path: Path) -> None:
    KeptWeights(tmp_path / "kept", weights).keep()
    (copy,) = _copies(tmp_path / "kept")
    made_at = (copy / "model.bin").stat().st_mtime_ns
    KeptWeights(tmp_path / "kept", weights).keep()
    assert [(folder / "model.bin").stat().st_mtime_ns for folder in _copies(tmp_path / "kept")] == [made_at]


@pytest.mark.parametrize("name", ["model.bin", "config.json", "weights.json"])
def test_a_damaged_copy_is_not_used_and_made_again(
    name: str, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptWeights(tmp_path / "kept", weights)
    kept.keep()
    (copy,) = _copies(tmp_path / "kept")
    spoiled = bytearray((copy / name).read_bytes())
    spoiled[len(spoiled) // 2] ^= 0xFF
    (copy / name).write_bytes(spoiled)
    assert _loaded_from(kept, weights, monkeypatch) == [weights]
    kept.keep()
    assert _loaded_from(kept, weights, monkeypatch) == [copy]


def test_a_copy_that_the_library_does_not_take_is_not_used(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptWeights(tmp_path / "kept", weights)
    kept.keep()
    (copy,) = _copies(tmp_path / "kept")

    def refuse(folder: Path, threads: int) -> Any:
        if folder == copy:
            raise WeightsError("another layout")
        return load_weights(folder, threads)

    monkeypatch.setattr(whisper_weights, "load_weights", refuse)
    kept.load(weights, 1)
    assert _copies(tmp_path / "kept") == []


def test_other_weights_make_their_own_and_the_old_copy_goes(weights: Path, tmp_path: Path) -> None:
    kept = KeptWeights(tmp_path / "kept", weights)
    kept.keep()
    before = _copies(tmp_path / "kept")
    os.utime(weights / "model.bin", ns=(1, 1))
    kept.keep()
    after = _copies(tmp_path / "kept")
    assert len(after) == 1 and after != before


def test_weights_of_integers_need_no_copy(weights: Path, tmp_path: Path) -> None:
    KeptWeights(tmp_path / "kept", weights).keep()
    (copy,) = _copies(tmp_path / "kept")
    KeptWeights(tmp_path / "again", copy).keep()
    assert _copies(tmp_path / "again") == []


@pytest.mark.parametrize("content", [b"", b"\6\0\0\0", b"\7\0\0\0" + bytes(100)], ids=["empty", "cut off", "layout"])
def test_weights_that_are_not_understood_are_left_to_the_library(content: bytes, weights: Path, tmp_path: Path) -> None:
    (weights / "model.bin").write_bytes(content)
    KeptWeights(tmp_path / "kept", weights).keep()
    assert _copies(tmp_path / "kept") == []


def test_half_a_file_of_weights_leaves_nothing_behind(weights: Path, tmp_path: Path) -> None:
    whole = (weights / "model.bin").read_bytes()
    (weights / "model.bin").write_bytes(whole[: len(whole) // 2])
    KeptWeights(tmp_path / "kept", weights).keep()
    assert _copies(tmp_path / "kept") == []


def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    kept = KeptWeights(tmp_path / "kept", tmp_path / "nowhere")
    kept.keep()
    with pytest.raises(WeightsError, match=r"run \./run setup"):
        kept.load(tmp_path / "nowhere", 1)


def test_a_disk_that_is_nearly_full_is_left_alone(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whisper_weights, "_LEFT_FREE_BYTES", 1 << 60)
    KeptWeights(tmp_path / "kept", weights).keep()
    assert _copies(tmp_path / "kept") == []


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(weights: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file is in the way")
    kept = KeptWeights(tmp_path / "kept", weights)
    kept.keep()
    kept.load(weights, 1)
