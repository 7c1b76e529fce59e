"""Bringing a home back from a backup: looked at as a whole first, then put in place in one step."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from appliance.errors import StoreError
from appliance.home import Home
from appliance.keeping.archive import CONFIG, HOME, SEALED_KEYS, BackupError, Manifest, read_manifest, size_of, unpack
from appliance.keeping.backup import backups_file, known_backups
from appliance.keeping.keys import Keys, keys_in, put_in, unseal
from appliance.keeping.swap import SETTINGS_TO_PLACE, finish_restore, put_in_place, stage_of
from appliance.ports_privacy import ChatCipher
from appliance.store.atomic_file import read_json, write_json
from appliance.store.plugin_pins import PluginPins
from appliance.store.schema import MIGRATIONS

#: What is left free for the device to work with.
_SPARE_BYTES = 16 * 2**20


@dataclass(frozen=True)
class RestoreReport:
    """What came of it. ``other_python`` maps a plugin to the Python that its own packages were made for."""

    manifest: Manifest
    old_home: Path | None
    has_credentials: bool = False
    lost_chats: int = 0
    other_python: dict[str, str] = field(default_factory=dict)


def look_into(file: Path, home: Home) -> Manifest:
    """What a backup is, and that it can be brought back here. Changes nothing; raises ``BackupError``. Blocks."""
    if not file.is_file():
        raise BackupError(f"there is no file {file}")
    manifest = read_manifest(file)
    if manifest.schema > len(MIGRATIONS):
        raise BackupError(
            f"{file} was made by a newer version ({manifest.program}, schema {manifest.schema}, we know "
            f"{len(MIGRATIONS)}); install that version first"
        )
    place = next(folder for folder in home.folder.parents if folder.is_dir())
    free, needed = shutil.disk_usage(place).free, size_of(file) + _SPARE_BYTES
    if free < needed:
        raise BackupError(
            f"{home.folder} needs {needed / 1e6:.0f} MB for that, and {free / 1e6:.0f} MB are free; free some space"
        )
    return manifest


def restore(
    file: Path,
    home: Home,
    *,
    cipher: ChatCipher,
    now: datetime,
    passphrase: str = "",
    step: Callable[[str], None] = lambda _name: None,
) -> RestoreReport:
    """Bring the home back; the one that is there stays beside it, ``<home>.before-restore-<time>``.

    Without the passphrase of its keys, secrets and private chats are those that the present home can still open.
    ``step`` hears of each step. Raises ``BackupError``, ``WrongPassphraseError``, ``HomeLockedError``; nothing is
    changed then. Blocks.
    """
    manifest = look_into(file, home)
    stage = stage_of(home)
    with ExitStack() as stack:
        if home.folder.exists():
            stack.enter_context(home.lock())
        try:
            report = _prepared(file, manifest, home, stage, cipher, now, passphrase, step)
            _own(stage, home)
            os.sync()
            step("ready")
            old = put_in_place(home, stage, now)
            step("in place")
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(stage, ignore_errors=True)
            raise BackupError(f"{home.folder} cannot be restored, and nothing was changed: {error}") from error
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
        finish_restore(home, now)
        step("finished")
    return replace(report, old_home=old)


def _prepared(
    file: Path,
    manifest: Manifest,
    home: Home,
    stage: Path,
    cipher: ChatCipher,
    now: datetime,
    passphrase: str,
    step: Callable[[str], None],
) -> RestoreReport:
    """The new home, whole, at ``stage``."""
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True, mode=0o700)
    step("begun")
    opened = stage / ".archive"
    unpack(file, manifest, opened)
    step("unpacked")
    keys = _keys(opened, home, cipher, now, passphrase)
    if (opened / HOME).is_dir():
        for entry in (opened / HOME).iterdir():
            entry.rename(stage / entry.name)
    if (opened / CONFIG).is_file():
        (opened / CONFIG).rename(stage / (CONFIG if home.config_file.parent == home.folder else SETTINGS_TO_PLACE))
    shutil.rmtree(opened)
    lost = _check_store(stage / "appliance.db", keys) if (stage / "appliance.db").exists() else 0
    if keys.credentials:
        write_json(stage / "credentials.json", dict(keys.credentials))
    if backups := [str(path) for path in known_backups(home, now)]:
        write_json(backups_file(Home(stage)), backups)
    step("keys in")
    return RestoreReport(manifest, None, bool(keys.credentials), lost, _other_python(stage))


def _keys(opened: Path, home: Home, cipher: ChatCipher, now: datetime, passphrase: str) -> Keys:
    """Those of the backup, with its passphrase; else those of the home that is there."""
    sealed = opened / SEALED_KEYS
    if sealed.exists() and passphrase:
        return unseal(sealed.read_bytes(), passphrase, cipher)
    present = keys_in(home.database_file) if home.database_file.exists() else Keys()
    try:
        credentials, _problem = read_json(home.folder / "credentials.json", now)
    except StoreError:
        credentials = None
    return replace(present, credentials=credentials if isinstance(credentials, dict) else {})


def _check_store(database: Path, keys: Keys) -> int:
    try:
        with closing(sqlite3.connect(database)) as store:
            verdict = str(store.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        raise BackupError(f"the store in this backup is damaged ({verdict}); nothing was changed")
    return put_in(database, keys)


def _other_python(stage: Path) -> dict[str, str]:
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        pins = PluginPins(Home(stage).pins_file).all().values()
    except StoreError:
        return {}
    return {pin.name: pin.python for pin in pins if pin.python and pin.python != ours}


def _own(stage: Path, home: Home) -> None:
    """Run as root, give everything to whom it belonged."""
    if os.geteuid() != 0:
        return
    whole = home.folder if home.folder.exists() else home.folder.parent
    for entry in stage.iterdir():
        like = (home.folder / entry.name if (home.folder / entry.name).exists() else whole).stat()
        for path in (entry, *entry.rglob("*")) if entry.is_dir() else (entry,):
            os.chown(path, like.st_uid, like.st_gid)
    os.chown(stage, whole.stat().st_uid, whole.stat().st_gid)
