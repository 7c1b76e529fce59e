"""A disk that fills up in the middle of a file: the old one stays as it was, and no half one is left beside it."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from appliance.adapters.face_picture import draw_face, write_picture
from appliance.adapters.wav_file import WavFile, write_wav
from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.config_file import set_values
from appliance.errors import ApplianceError
from appliance.ports import FaceState
from appliance.store.atomic_file import write_json

SECOND = AudioChunk(np.ones(16_000, dtype=np.int16), HEARING_FORMAT)

WRITERS: dict[str, Callable[[Path], None]] = {
    "sound": lambda file: write_wav(file, SECOND),
    "picture": lambda file: write_picture(draw_face(FaceState()), file),
    "settings": lambda file: set_values(file, "chat", {"name": "x" * 5_000}),
    "document": lambda file: write_json(file, ["x" * 5_000]),
}


@contextmanager
def _little_room() -> Iterator[None]:
    """No file can grow beyond a kilobyte."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("is_there", [True, False], ids=["replaced", "new"])
def test_there_is_the_old_file_or_the_new_one_and_nothing_beside_it(tmp_path: Path, name: str, is_there: bool) -> None:
    file = tmp_path / "file"
    if is_there:
        file.write_text('["old"]' if name == "document" else "# old\n", encoding="utf-8")
    before = [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()]

    with pytest.raises((ApplianceError, OSError)), _little_room():
        WRITERS[name](file)

    after = [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir() if entry.suffix != ".bak"]
    assert after == before
    WRITERS[name](file)
    assert file.stat().st_size > 1_000


def test_sound_may_go_into_what_is_no_file_and_behind_a_link(tmp_path: Path) -> None:
    write_wav(Path("/dev/null"), SECOND)
    assert not Path("/dev/null").is_file()
    (tmp_path / "link.wav").symlink_to(tmp_path / "real.wav")
    write_wav(tmp_path / "link.wav", SECOND)
    assert (tmp_path / "link.wav").is_symlink()
    assert WavFile(tmp_path / "real.wav") is not None
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.wav", "real.wav"]
