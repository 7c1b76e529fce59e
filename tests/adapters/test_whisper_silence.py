"""The encoded silence that is kept between starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from appliance.adapters.whisper_silence import KeptSilence


def weights(folder: Path, content: bytes = b"weights") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "model.bin").write_bytes(content)
    return folder


def test_what_was_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    model, silence = weights(tmp_path / "base"), np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    assert KeptSilence(tmp_path / "kept", model).load() is None
    KeptSilence(tmp_path / "kept", model).keep(silence)
    found = KeptSilence(tmp_path / "kept", model).load()
    assert found is not None and np.array_equal(found, silence)


def test_other_weights_make_their_own_and_the_old_one_goes(tmp_path: Path) -> None:
    model = weights(tmp_path / "base")
    KeptSilence(tmp_path / "kept", model).keep(np.zeros(3))
    weights(model, b"other weights")
    kept = KeptSilence(tmp_path / "kept", model)
    assert kept.load() is None
    kept.keep(np.ones(3))
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_half_a_file_is_none(tmp_path: Path) -> None:
    kept = KeptSilence(tmp_path / "kept", weights(tmp_path / "base"))
    kept.keep(np.ones(1000))
    (file,) = (tmp_path / "kept").iterdir()
    file.write_bytes(file.read_bytes()[:500])
    assert kept.load() is None
    file.write_bytes(b"")
    assert kept.load() is None


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file is in the way")
    kept = KeptSilence(tmp_path / "kept", weights(tmp_path / "base"))
    kept.keep(np.ones(3))
    assert kept.load() is None
