"""Before the box is given away: nothing of the owner stays, in no file, not even in those that SQLite left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from appliance.clock import FakeClock
from appliance.home import Home
from appliance.keeping.backup import make_backup
from appliance.keeping.reset import reset
from appliance.keeping.restore import restore
from tests.keeping.home_of_an_owner import CIPHER, HIDDEN, MARKS, bytes_of, wrapped_key

NOW = FakeClock().now()


def test_no_word_of_the_owner_is_in_any_file(home: Home) -> None:
    before, key = bytes_of(home.folder), wrapped_key(home)
    assert all(mark.encode() in before for mark in MARKS) and key in before, "the test looks for what is there"
    with home.lock():
        gone = reset(home, NOW)
    after = bytes_of(home.folder.parent)
    assert [mark for mark in (*MARKS, HIDDEN) if mark.encode() in after] == []
    assert key not in after
    assert home.database_file in gone
    assert sorted(path.name for path in home.folder.iterdir()) == ["lock", "models"]
    assert (home.models_folder / "voice.onnx").exists()


def test_what_is_only_in_the_log_of_a_store_that_was_killed_goes_too(home: Home) -> None:
    script = (
        "import os, sqlite3, sys; store = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "words = ('t', 'k', 'only-in-the-log')\n"
        "store.execute('INSERT INTO documents (collection, key, value) VALUES (?, ?, ?)', words)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(home.database_file)], check=False)
    assert b"only-in-the-log" in Path(f"{home.database_file}-wal").read_bytes()
    with home.lock():
        reset(home, NOW)
    assert b"only-in-the-log" not in bytes_of(home.folder)


def test_backups_that_were_made_here_and_old_homes_go_too(home: Home, tmp_path: Path) -> None:
    backup, old = tmp_path / "box.tar", home.folder.with_name("home.before-restore-20260101T000000")
    make_backup(home, backup, cipher=CIPHER, version="9", now=NOW)
    old.mkdir()
    (old / "appliance.db").write_text("older words")
    with home.lock():
        gone = reset(home, NOW)
    assert {backup, old} <= set(gone)
    assert not backup.exists()
    assert not old.exists()


def test_a_backup_is_remembered_over_a_restore(home: Home, tmp_path: Path) -> None:
    backup = tmp_path / "box.tar"
    make_backup(home, backup, cipher=CIPHER, version="9", now=NOW)
    restore(backup, home, cipher=CIPHER, now=NOW)
    with home.lock():
        assert backup in reset(home, NOW)


def test_plugins_can_stay_without_what_they_kept(home: Home) -> None:
    with home.lock():
        reset(home, NOW, keep_plugins=True)
    assert sorted(path.name for path in home.folder.iterdir()) == ["installed", "lock", "models", "plugins"]
    assert (home.plugins_folder / "lamp" / "plugin.json").exists()
    assert home.pins_file.exists()
    assert not home.plugin_state_folder.exists()


def test_a_damaged_store_is_no_reason_to_leave_it(home: Home) -> None:
    home.database_file.write_bytes(b"no database " * 1000)
    with home.lock():
        reset(home, NOW)
    assert not home.database_file.exists()


def test_the_keys_go_before_anything_else(home: Home) -> None:
    """A reset that is killed after its first step has closed the private chats for good."""
    key = wrapped_key(home)
    script = (
        "import os, sys; from pathlib import Path; from appliance.keeping import reset as it\n"
        "it._destroy_keys(Path(sys.argv[1])); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(home.database_file)], check=False)
    assert done.returncode == -9
    assert key not in bytes_of(home.folder)
    with home.lock():
        reset(home, NOW)
    assert sorted(path.name for path in home.folder.iterdir()) == ["lock", "models"]
