"""What is packed here is taken by every box, and the same files give the same bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.adapters.signing import LibraryEd25519
from appliance.errors import RefusedError, UsageError
from appliance.install.fetch import NoFetch
from appliance.install.pack import pack
from appliance.install.signature import SignatureState, new_key, read_signature, sign
from appliance.install.staging import stage
from tests.install.evil import TOOL


@pytest.fixture
def dice(tmp_path: Path) -> Path:
    folder = tmp_path / "dice"
    (folder / "data").mkdir(parents=True)
    (folder / "roll.py").write_bytes(TOOL)
    (folder / "data" / "zeros.bin").write_bytes(bytes(500_000))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "roll.cpython-311.pyc").write_bytes(b"x")
    return folder


def test_what_is_packed_is_installed_again_as_it_was(tmp_path: Path, dice: Path) -> None:
    pack(dice, tmp_path / "anything.zip")
    staged = stage(str(tmp_path / "anything.zip"), tmp_path / "stage", fetch=NoFetch())
    assert (staged.name, sorted(staged.files)) == ("dice", ["data/zeros.bin", "roll.py"])
    assert (staged.place / "roll.py").read_bytes() == TOOL


def test_the_same_files_give_the_same_bytes(tmp_path: Path, dice: Path) -> None:
    pack(dice, tmp_path / "one.zip")
    for path in dice.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700 if path.is_dir() else 0o600)
    pack(dice, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dice", "one.zip", "two.zip"]


def test_a_signature_lasts_through_packing(tmp_path: Path, dice: Path) -> None:
    scheme, key = LibraryEd25519(), tmp_path / "ada.key"
    new_key(key, scheme)
    sign(dice, key, scheme)
    pack(dice, tmp_path / "dice.zip")
    staged = stage(str(tmp_path / "dice.zip"), tmp_path / "stage", fetch=NoFetch())
    assert read_signature(staged.place, tmp_path, scheme).state is SignatureState.KNOWN


def test_what_no_box_would_take_is_not_packed(tmp_path: Path, dice: Path) -> None:
    (dice / "link.py").symlink_to("roll.py")
    (tmp_path / "dice.zip").write_text("the old one")
    with pytest.raises(RefusedError, match="is a link"):
        pack(dice, tmp_path / "dice.zip")
    assert (tmp_path / "dice.zip").read_text() == "the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dice", "dice.zip"]


def test_a_zip_is_not_packed_into_itself(dice: Path) -> None:
    with pytest.raises(UsageError, match="would lie in the folder that is packed"):
        pack(dice, dice / "dice.zip")
