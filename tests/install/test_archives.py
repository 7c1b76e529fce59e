"""What is wrong with an archive is said in one sentence, and nothing of it reaches the disk."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import socket
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import RefusedError
from appliance.install.archive_rules import Rules
from appliance.install.fetch import NoFetch
from appliance.install.stage import Staged
from appliance.install.staging import stage
from tests.install.evil import TOOL, Maker, tars, zips

EVIL = [
    *(pytest.param("evil.zip", maker, words, id=f"zip-{case}") for case, (maker, words) in zips().items()),
    *(pytest.param("evil.tar", maker, words, id=f"tar-{case}") for case, (maker, words) in tars().items()),
]


@pytest.mark.parametrize(("name", "make", "words"), EVIL)
def test_an_evil_archive_is_refused_in_one_sentence_and_leaves_nothing(
    tmp_path: Path, name: str, make: Maker, words: str
) -> None:
    archive = tmp_path / name
    make(archive)
    for place in ("up.py", "home/up.py", "home/plugins/b.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("canary")
    before = _everything(tmp_path)

    with pytest.raises(RefusedError) as refused:
        stage(str(archive), tmp_path / "home" / "stage", fetch=NoFetch())

    sentence = str(refused.value)
    assert words in sentence
    assert sentence.startswith(f"{archive} is refused: ")
    assert sentence.isprintable(), "one line, and nothing in it that moves the cursor"
    assert _everything(tmp_path) == before


def test_the_list_is_long() -> None:
    assert len(EVIL) >= 80


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tar.xz", "tar.bz2"])
def test_a_usual_archive_is_laid_out_for_everybody_to_read(tmp_path: Path, ending: str) -> None:
    archive = _usual(tmp_path / f"dice-1.2.{ending}")

    staged = stage(str(archive), tmp_path / "stage", fetch=NoFetch())

    assert staged.place == tmp_path / "stage" / "dice"
    assert staged.files == {
        "roll.py": hashlib.sha256(TOOL).hexdigest(),
        "data/words.txt": hashlib.sha256(b"one\n").hexdigest(),
    }
    assert _modes(tmp_path / "stage") == {
        "stage": 0o700,
        "dice": 0o755,
        "dice/data": 0o755,
        "dice/roll.py": 0o644,
        "dice/data/words.txt": 0o644,
    }


def test_a_tar_of_the_current_folder_is_taken(tmp_path: Path) -> None:
    archive = tmp_path / "dice.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in ((".", None), ("./roll.py", TOOL), ("./data", None), ("./data/words.txt", b"one\n")):
            _add(tar, name, content)

    staged = stage(str(archive), tmp_path / "stage", fetch=NoFetch())

    assert (staged.name, sorted(staged.files)) == ("dice", ["data/words.txt", "roll.py"])


def test_leftovers_of_tools_and_desktops_are_left_out(tmp_path: Path) -> None:
    archive = tmp_path / "dice.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name in ("dice/roll.py", "dice/__pycache__/roll.cpython-311.pyc", "dice/.git/config", "__MACOSX/dice/x"):
            made.writestr(name, TOOL)

    staged = stage(str(archive), tmp_path / "stage", fetch=NoFetch())

    assert sorted(staged.files) == ["roll.py"]
    assert sorted(path.name for path in staged.place.iterdir()) == ["roll.py"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dice/fast.so", "'fast.so' is machine code"),
        ("dice/lib/fast.cpython-311-aarch64-linux-gnu.so", "is machine code"),
        ("dice/libx.so.1", "is machine code"),
        ("dice/FAST.DLL", "is machine code"),
        ("dice/gone.pyc", "'gone.pyc' has no source beside it"),
    ],
)
def test_code_that_nobody_can_read_is_refused(tmp_path: Path, name: str, words: str) -> None:
    archive = tmp_path / "dice.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("dice/roll.py", TOOL)
        made.writestr(name, b"\x7fELF")

    with pytest.raises(RefusedError, match=words):
        stage(str(archive), tmp_path / "stage", fetch=NoFetch())
    assert not (tmp_path / "stage").exists()


def test_byte_code_beside_its_source_is_dropped(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "dice")
    (folder / "roll.pyc").write_bytes(b"anything")

    assert sorted(stage(str(folder), tmp_path / "stage", fetch=NoFetch()).files) == ["roll.py"]


def test_small_text_that_repeats_itself_is_no_bomb(tmp_path: Path) -> None:
    archive = tmp_path / "dice.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("roll.py", TOOL)
        made.writestr("spaces.txt", b" " * 60_000)

    assert "spaces.txt" in stage(str(archive), tmp_path / "stage", fetch=NoFetch()).files


# ----------------------------------------------------------------------------------------------------------- folders


def test_a_link_in_a_folder_is_refused_wherever_it_leads(tmp_path: Path) -> None:
    for number, target in enumerate(("roll.py", "/etc/passwd", "nowhere")):
        folder = _folder(tmp_path / f"dice{number}")
        (folder / "link.py").symlink_to(target)
        assert "'link.py' is a link" in _refusal(folder, tmp_path / "stage")


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "dice")
    (folder / "sub").symlink_to("/etc", target_is_directory=True)
    assert "'sub' is a link" in _refusal(folder, tmp_path / "stage")


def test_a_pipe_or_a_socket_in_a_folder_is_refused_without_waiting(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "dice")
    os.mkfifo(folder / "pipe")
    assert "'pipe' is a pipe" in _refusal(folder, tmp_path / "stage")
    (folder / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(folder / "door"))
        assert "'door' is a socket" in _refusal(folder, tmp_path / "stage")


def test_a_folder_obeys_the_rules_of_names_and_sizes_too(tmp_path: Path) -> None:
    for name, words in (
        ("a\nb.py", "cannot be seen"),
        ("a:b.py", "colon"),
        ("ROLL.py", "same place"),
        ("x.so", "code"),
    ):
        folder = _folder(tmp_path / f"d{len(words)}")
        (folder / name).write_bytes(b"")
        assert words in _refusal(folder, tmp_path / "stage")
    folder = _folder(tmp_path / "large")
    with (folder / "large.bin").open("wb") as sparse:
        sparse.truncate(10_000_001)
    assert "'large.bin' is larger than 10 MB" in _refusal(folder, tmp_path / "stage")


def test_a_name_that_is_not_utf8_in_a_folder_is_refused(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "dice")
    (folder / os.fsdecode(b"a\xe9.py")).write_bytes(b"")
    assert "not UTF-8" in _refusal(folder, tmp_path / "stage")


# ------------------------------------------------------------------------------------------------------------- names


@given(st.text(min_size=1, max_size=40), st.booleans())
def test_whatever_a_name_is_it_stays_inside_or_is_refused(name: str, is_folder: bool) -> None:
    try:
        parts = Rules("it").member(name, 0, is_folder=is_folder)
    except RefusedError as error:
        assert str(error).isprintable()
        return
    path = "/".join(parts)
    assert name in (path, f"{path}/", f"./{path}", f"./{path}/", *(() if parts else (".", "./", "/.")))
    assert os.path.normpath(path or ".") == (path or ".")
    assert ".." not in parts and not path.startswith("/") and path.isprintable()


@given(st.lists(st.sampled_from(["a", "A", "b", "a/x", "A/x", "a/X", "é", "e\u0301", "a/x/y"]), max_size=5))
def test_what_is_taken_are_different_places_on_every_file_system(names: list[str]) -> None:
    rules = Rules("it")
    taken: list[str] = []
    for name in names:
        try:
            rules.member(name, 0, is_folder=False)
        except RefusedError:
            break
        taken.append(name.replace("e\u0301", "é").casefold())
    assert len(set(taken)) == len(taken)
    assert not any(other.startswith(f"{name}/") for name in taken for other in taken)


# ------------------------------------------------------------------------------------------------------------- small


def _refusal(folder: Path, into: Path) -> str:
    with pytest.raises(RefusedError) as refused:
        stage(str(folder), into, fetch=NoFetch())
    assert not into.exists()
    assert str(refused.value).isprintable()
    return str(refused.value)


def _folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "roll.py").write_bytes(TOOL)
    return folder


def _usual(archive: Path) -> Path:
    members = (("dice-1.2", None), ("dice-1.2/roll.py", TOOL), ("dice-1.2/data/words.txt", b"one\n"))
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in members:
                made.writestr(name if content is not None else f"{name}/", content or b"")
        return archive
    packing = archive.suffix.removeprefix(".").removesuffix("tar")
    with tarfile.open(archive, f"w:{packing}") as tar:  # type: ignore[call-overload]
        for name, content in members:
            _add(tar, name, content)
    return archive


def _add(tar: tarfile.TarFile, name: str, content: bytes | None) -> None:
    info = tarfile.TarInfo(name)
    info.mode = 0o775
    if content is None:
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    else:
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))


def _everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Kind, mode and content of all that is there."""
    return {
        path.relative_to(folder).as_posix(): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


def _modes(folder: Path) -> dict[str, int]:
    places = {folder.name: folder, **{path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}}
    return {name: stat.S_IMODE(path.stat().st_mode) for name, path in places.items()}


def test_a_packed_tar_with_something_of_its_own_behind_it_is_read_to_the_end(tmp_path: Path) -> None:
    """Two packed streams in one file are one stream: as the usual programs read them."""
    archive = tmp_path / "dice.tar.gz"
    plain = _usual(tmp_path / "dice-1.2.tar").read_bytes()
    archive.write_bytes(gzip.compress(plain[:700]) + gzip.compress(plain[700:]))
    staged: Staged = stage(str(archive), tmp_path / "stage", fetch=NoFetch())
    assert sorted(staged.files) == ["data/words.txt", "roll.py"]
