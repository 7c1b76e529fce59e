"""What the installer does with a store, whole and safe at any moment: ``store.py ACTION FILE [TARGET]``.

``copy FILE TARGET`` makes a copy, also of a store in use; ``restore FILE TARGET`` makes the store TARGET what its copy
FILE is; ``schema FILE`` prints the version of its schema. Without a FILE nothing is copied, and its schema is 0.
It must run on its own: the version that it belongs to may be broken.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

#: Beside a store, how long its audit trail is; a store goes back together with it.
_AUDIT_HEAD = "audit.head"


def copy(file: Path, target: Path) -> None:
    """The copy is whole and on the disk, or it is not there."""
    if not file.exists():
        return
    part = target.with_name(f"{target.name}.unfinished")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    _overwrite(file, part)
    head, kept_head = file.with_name(_AUDIT_HEAD), _head_of_copy(target)
    if head.exists() and target.parent == file.parent:
        shutil.copyfile(head, kept_head)
        _sync(kept_head)
    _sync(part)
    part.replace(target)
    _sync(target.parent)


def restore(file: Path, target: Path) -> None:
    """SQLite does it in one transaction: cut off, the target is as it was. Doing it again does no harm."""
    _overwrite(file, target)
    if _head_of_copy(file).exists():
        shutil.copyfile(_head_of_copy(file), target.with_name(_AUDIT_HEAD))


def schema(file: Path) -> int:
    """0 without a store."""
    if not file.exists():
        return 0
    with closing(sqlite3.connect(file)) as store:
        return int(store.execute("PRAGMA user_version").fetchone()[0])


def _head_of_copy(copied: Path) -> Path:
    return copied.with_name(f"{copied.name}.{_AUDIT_HEAD}")


def _overwrite(file: Path, target: Path) -> None:
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(target)) as store:
        source.backup(store)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def main(words: list[str]) -> int:
    """Exit code 1, and a sentence, when SQLite or the disk refuses."""
    action, *files = words
    paths = [Path(file) for file in files]
    try:
        match action:
            case "copy":
                copy(*paths)
            case "restore":
                restore(*paths)
            case "schema":
                print(schema(*paths))
    except (OSError, sqlite3.Error) as error:
        print(f"install: {error} ({', '.join(files)})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
