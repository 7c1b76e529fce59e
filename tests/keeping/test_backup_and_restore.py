"""A home in one file, and back: on the same box, on a new card, with keys and without."""

from __future__ import annotations

import io
import json
import signal
import stat
import subprocess
import sys
import tarfile
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.contracts.sapphire.state import PluginStates
from appliance.errors import ApplianceError, ChatSealedError, HomeLockedError, WrongPassphraseError
from appliance.home import Home
from appliance.keeping.archive import BackupError, read_manifest
from appliance.keeping.backup import BackupReport, make_backup
from appliance.keeping.restore import RestoreReport, look_into, restore
from appliance.keeping.swap import finish_restore, forget_old_homes, old_homes, place_settings, stage_of
from appliance.records import Records, open_records
from appliance.store.credentials import Credentials
from appliance.store.schema import MIGRATIONS
from tests.keeping.home_of_an_owner import (
    CHAT_PASSPHRASE,
    CIPHER,
    HIDDEN,
    SAID,
    SECRET,
    STATE,
    bytes_of,
    talk,
    wrapped_key,
)

PASSPHRASE = "four words make one"
NOW = FakeClock().now()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "box.tar"


def backup(home: Home, file: Path, passphrase: str = "") -> BackupReport:
    return make_backup(home, file, cipher=CIPHER, version="9", now=NOW, passphrase=passphrase)


def bring_back(file: Path, home: Home, passphrase: str = "") -> RestoreReport:
    return restore(file, home, cipher=CIPHER, now=NOW, passphrase=passphrase)


def records_of(home: Home) -> AbstractAsyncContextManager[Records]:
    credentials = Credentials(home.folder / "credentials.json", {}, FakeClock())
    return open_records(home, FakeClock(), credentials, CIPHER)


async def words_of(records: Records, chat: str) -> list[str]:
    return [turn.user_text for turn in await records.chats.turns(chat, 10)]


def members(file: Path) -> list[str]:
    with tarfile.open(file) as archive:
        return archive.getnames()


# ------------------------------------------------------------------------------------------------- backup


def test_what_goes_in_and_what_does_not(home: Home, file: Path) -> None:
    report = backup(home, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    names = members(file)
    assert names[-1] == "manifest.json"
    for name in (
        "config.toml",
        "home/appliance.db",
        "home/user/webui/plugins.json",
        "home/user/plugin_state/lamp.json",
    ):
        assert name in names
    for name in (
        "home/plugins/lamp/plugin.json",
        "home/installed/pins.json",
        "home/soul/default.md",
        "home/audit.head",
    ):
        assert name in names
    left_out = ("models", "cache", "run", "lock", "ballast", "credentials", "__pycache__", "-wal", "-shm")
    assert [name for name in names for word in left_out if word in name] == []
    manifest = read_manifest(file)
    assert (manifest.program, manifest.schema, manifest.private_chats) == ("9", len(MIGRATIONS), 1)
    assert (report.size_bytes, set(manifest.members)) == (file.stat().st_size, set(names) - {"manifest.json"})
    assert sorted(path.name for path in file.parent.iterdir()) == ["box", "box.tar"], "nothing is left beside it"


def test_without_a_passphrase_no_secret_and_no_key_is_in_it(home: Home, file: Path) -> None:
    key = wrapped_key(home)
    backup(home, file)
    data = file.read_bytes()
    assert SAID.encode() in data
    assert [kept for kept in (SECRET.encode(), HIDDEN.encode(), key) if kept in data] == []


def test_with_a_passphrase_the_keys_are_in_it_and_nobody_reads_them_without(home: Home, file: Path) -> None:
    backup(home, file, PASSPHRASE)
    assert SECRET.encode() not in file.read_bytes()
    with pytest.raises(WrongPassphraseError, match="nothing was changed"):
        bring_back(file, home, "another passphrase")
    assert old_homes(home) == []


async def test_it_is_made_while_the_device_runs(home: Home, file: Path) -> None:
    with home.lock():
        async with records_of(home) as records:
            await talk(records, "running", "said-while-it-runs")
            backup(home, file)
            await talk(records, "later", "said-later")
    bring_back(file, home)
    async with records_of(home) as records:
        assert await words_of(records, "running") == ["said-while-it-runs"]
        assert "later" not in [info.name for info in await records.chats.chats()]
        assert await records.audit.verify() == [], "the head fits the copy"


def test_a_passphrase_that_is_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match="at least 8"):
        backup(Home(tmp_path), tmp_path / "b.tar", "short")


def test_a_backup_inside_the_home_is_refused(home: Home) -> None:
    with pytest.raises(BackupError, match="inside the home"):
        backup(home, home.folder / "box.tar")


def test_a_disk_that_takes_nothing_leaves_no_half_of_a_backup(home: Home, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="no folder"):
        backup(home, tmp_path / "nowhere" / "box.tar")


# ------------------------------------------------------------------------------------------------ restore


async def test_on_a_new_card_everything_is_back_with_the_passphrase(home: Home, file: Path, tmp_path: Path) -> None:
    backup(home, file, PASSPHRASE)
    new = Home(tmp_path / "card" / "home")
    report = bring_back(file, new, PASSPHRASE)
    assert (report.old_home, report.has_credentials, report.lost_chats) == (None, True, 0)
    assert report.other_python == {"lamp": "2.7"}
    async with records_of(new) as records:
        assert not records.notes
        assert await words_of(records, "open") == [SAID]
        with pytest.raises(ChatSealedError):
            await words_of(records, "hidden")
        await records.vault.unlock(CHAT_PASSPHRASE, "hidden")
        assert await words_of(records, "hidden") == [HIDDEN]
        assert await records.audit.verify() == []
        assert records.credentials.get("OPENAI_API_KEY") == SECRET
    states = PluginStates(new.plugin_state_folder, FakeClock().now, lambda _sentence: None)
    assert states.of("lamp").get("level") == STATE
    for name in ("config.toml", "soul/default.md", "plugins/lamp/plugin.json", "installed/pins.json"):
        assert (new.folder / name).read_bytes() == (home.folder / name).read_bytes()
    assert stat.S_IMODE(new.folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in new.folder.rglob("*"))


async def test_on_a_new_card_without_the_passphrase_what_nobody_can_open_is_told_and_gone(
    home: Home, file: Path, tmp_path: Path
) -> None:
    backup(home, file)
    new = Home(tmp_path / "card" / "home")
    report = bring_back(file, new)
    assert (report.has_credentials, report.lost_chats) == (False, 1)
    async with records_of(new) as records:
        assert [info.name for info in await records.chats.chats() if info.is_private] == []
        assert await words_of(records, "open") == [SAID]


async def test_on_the_same_box_private_chats_stay_sealed_and_can_be_opened_again(home: Home, file: Path) -> None:
    backup(home, file)
    async with records_of(home) as records:
        await records.chats.delete("open")
    report = bring_back(file, home)
    assert (report.has_credentials, report.lost_chats) == (True, 0)
    assert (home.models_folder / "voice.onnx").read_text() == "weights"
    async with records_of(home) as records:
        assert await words_of(records, "open") == [SAID]
        await records.vault.unlock(CHAT_PASSPHRASE, "hidden")
        assert await words_of(records, "hidden") == [HIDDEN]


async def test_a_private_chat_that_was_deleted_since_does_not_come_back(home: Home, file: Path) -> None:
    backup(home, file)
    async with records_of(home) as records:
        await records.chats.delete("hidden")
    assert bring_back(file, home).lost_chats == 1
    async with records_of(home) as records:
        assert [info.name for info in await records.chats.chats() if info.is_private] == []


def test_the_old_home_stays_until_the_next_good_start(home: Home, file: Path) -> None:
    backup(home, file)
    (home.folder / "note.txt").write_text("only in the old one")
    report = bring_back(file, home)
    assert report.old_home == home.folder.with_name("home.before-restore-20260504T150700")
    assert (report.old_home / "note.txt").exists()
    assert not (home.folder / "note.txt").exists()
    assert forget_old_homes(home) == [report.old_home]
    assert [path.name for path in home.folder.parent.iterdir()] == ["home"]


def test_a_home_in_use_is_not_replaced(home: Home, file: Path) -> None:
    backup(home, file)
    with home.lock(), pytest.raises(HomeLockedError):
        bring_back(file, home)
    assert not stage_of(home).exists()


def test_settings_that_a_service_reads_elsewhere_are_put_there_and_the_ones_before_kept(tmp_path: Path) -> None:
    new, target = tmp_path / "config.toml.restored", tmp_path / "etc" / "config.toml"
    target.parent.mkdir()
    target.write_text("before")
    target.chmod(0o640)
    new.write_text("restored")
    place_settings(new, target, NOW)
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("restored", 0o640)
    assert [path.read_text() for path in target.parent.glob("*.before-restore-*")] == ["before"]
    assert not new.exists()


# ------------------------------------------------------------------------------- archives that are not right


def rewritten(file: Path, change: str) -> None:
    """The same archive with something wrong in it."""
    with tarfile.open(file) as archive:
        entries = [(member, archive.extractfile(member)) for member in archive.getmembers()]
        kept = [(member, source.read() if source else b"") for member, source in entries]
    with tarfile.open(file, "w") as archive:
        for member, data in kept:
            name = member.name
            if name == "home/soul/default.md" and change == "missing":
                continue
            if name == "home/soul/default.md" and change == "changed":
                data = b"x" * len(data)
            if name == "manifest.json" and change in ("newer schema", "newer format"):
                fields = json.loads(data)
                fields["schema" if change == "newer schema" else "format"] = 99
                data = json.dumps(fields).encode()
            if name == "home/appliance.db" and change == "link":
                member.type, member.linkname, data = tarfile.SYMTYPE, "/etc/passwd", b""
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
            if name == "config.toml" and change in ("twice", "stranger", "outside"):
                member.name = {"twice": name, "stranger": "home/more", "outside": "home/../../up"}[change]
                archive.addfile(member, io.BytesIO(data))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("missing", "is missing; nothing was changed"),
        ("changed", "is not what was put in; nothing was changed"),
        ("newer schema", "newer version .* install that version first"),
        ("newer format", "newer version"),
        ("link", "does not belong"),
        ("twice", "does not belong"),
        ("stranger", "does not belong"),
        ("outside", "does not belong"),
    ],
)
def test_an_archive_that_is_not_right_is_refused_and_nothing_is_touched(
    home: Home, file: Path, change: str, says: str
) -> None:
    backup(home, file)
    before = bytes_of(home.folder)
    rewritten(file, change)
    with pytest.raises(BackupError, match=says):
        bring_back(file, home)
    assert bytes_of(home.folder) == before
    assert [path.name for path in home.folder.parent.iterdir()] == ["home"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_part_of_an_archive_is_refused(home: Home, file: Path, share: float) -> None:
    backup(home, file)
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(BackupError):
        look_into(file, home)


# ----------------------------------------------------------------------------------------------- cut short


STEPS = ("begun", "unpacked", "keys in", "ready", "in place", "finished")


_KILLED = """
import os, signal, sys
from pathlib import Path
from appliance.home import Home
from appliance.keeping.restore import restore
from tests.keeping.home_of_an_owner import CIPHER
from tests.keeping.test_backup_and_restore import NOW

def step(name):
    if name == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)

restore(Path(sys.argv[2]), Home(Path(sys.argv[3])), cipher=CIPHER, now=NOW, step=step)
"""


def killed_at(step: str, file: Path, home: Home) -> None:
    """A restore in a process of its own, which is killed after that step."""
    command = [sys.executable, "-c", _KILLED, step, str(file), str(home.folder)]
    root = Path(__file__).parents[2]
    assert subprocess.run(command, cwd=root, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("step", STEPS)
async def test_after_kill_9_at_any_step_the_old_home_or_the_new_one_is_whole(home: Home, file: Path, step: str) -> None:
    backup(home, file)
    async with records_of(home) as records:
        await talk(records, "newer", "said-after-the-backup")
    killed_at(step, file, home)
    finish_restore(home, NOW)
    is_new = STEPS.index(step) >= STEPS.index("in place")
    assert (home.models_folder / "voice.onnx").read_text() == "weights"
    async with records_of(home) as records:
        assert not records.notes
        names = [info.name for info in await records.chats.chats()]
        assert ("newer" in names) is not is_new
        assert await words_of(records, "open") == [SAID]
        await records.vault.unlock(CHAT_PASSPHRASE, "hidden")
        assert await words_of(records, "hidden") == [HIDDEN]
    # What is left over is no hindrance, and goes.
    bring_back(file, home)
    forget_old_homes(home)
    assert [path.name for path in home.folder.parent.iterdir()] == ["home"]
