"""What the installer does with a store (``systemd/store.py``), as it calls it: a program on its own."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.systemd.small_version import ROOT


def _do(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(ROOT / "systemd/store.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


def _notes(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as store:
        return [text for (text,) in store.execute("SELECT text FROM notes")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A store in use, whose last words are still in its log."""
    with closing(sqlite3.connect(tmp_path / "appliance.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.execute("INSERT INTO notes VALUES ('milk')")
        connection.execute("PRAGMA user_version=3")
        yield connection


def test_a_store_in_use_is_copied_whole_and_for_its_owner_only(store: sqlite3.Connection, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere.db"
    assert _do("copy", tmp_path / "appliance.db", copy).returncode == 0
    store.execute("INSERT INTO notes VALUES ('bread')")
    assert _notes(copy) == ["milk"]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert _do("copy", tmp_path / "appliance.db", copy).returncode == 0
    assert _notes(copy) == ["milk", "bread"], "a later copy takes the place of the earlier one"


def test_a_store_goes_back_to_its_copy_together_with_the_head_of_its_audit_trail(
    store: sqlite3.Connection, tmp_path: Path
) -> None:
    file, copy, head = tmp_path / "appliance.db", tmp_path / "appliance.db.schema-of-1", tmp_path / "audit.head"
    head.write_text("7 lines")
    _do("copy", file, copy)
    store.execute("DROP TABLE notes")
    store.execute("PRAGMA user_version=4")
    head.write_text("8 lines")
    for _ in range(2):
        assert _do("restore", copy, file).returncode == 0
        assert _notes(file) == ["milk"]
        assert _do("schema", file).stdout == "3\n"
        assert head.read_text() == "7 lines"


def test_a_store_that_is_not_there_is_an_empty_one(tmp_path: Path) -> None:
    assert _do("copy", tmp_path / "appliance.db", tmp_path / "copy.db").returncode == 0
    assert _do("schema", tmp_path / "appliance.db").stdout == "0\n"
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_store_is_a_sentence_and_leaves_no_copy(tmp_path: Path) -> None:
    (tmp_path / "appliance.db").write_bytes(b"this is no database, whatever its name says" * 100)
    done = _do("copy", tmp_path / "appliance.db", tmp_path / "copy.db")
    assert done.returncode == 1
    assert "install: file is not a database" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "copy.db").exists()
