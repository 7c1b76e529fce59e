"""The files with the stacks of the last crashes: few, small, and on the disk, for many boards lose their journal.

Stacks name files, lines and functions, never what is in a variable. Files are numbered, since a board without a
battery does not know the time when it starts.
"""

from __future__ import annotations

import faulthandler
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOG = logging.getLogger(__name__)

#: Files that are kept.
MOST_FILES = 5
#: A file is written by one process, and stacks have an end; this is for whoever writes more.
LARGEST_BYTES = 200_000

_NAME = re.compile(r"crash-(\d{6,})\.txt")


def crash_files(folder: Path) -> list[Path]:
    """Files about crashes, the newest last; one that is empty belongs to a process that has not crashed."""
    with suppress(OSError):
        found = [(int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
        return [path for _, path in sorted(found)]
    return []


def new_crash_file(folder: Path) -> Path:
    """An empty file for one crash, with the next number; the oldest make room. Raises ``OSError``."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = crash_files(folder)
    number = int(known[-1].stem.partition("-")[2]) + 1 if known else 1
    # An empty one waits for the crash of a process that lives.
    for path in [path for path in known if path.stat().st_size][: 1 - MOST_FILES]:
        path.unlink()
    path = folder / f"crash-{number:06}.txt"
    path.touch(mode=0o600, exist_ok=False)
    return path


def write_crash(folder: Path, text: str) -> None:
    """Keep ``text``, the first part of it when it is long. A disk that cannot be written to is only logged."""
    try:
        new_crash_file(folder).write_bytes(text.encode(errors="replace")[:LARGEST_BYTES])
    except OSError as error:
        _LOG.warning("a crash cannot be kept: %s", error)


@contextmanager
def crashes_kept(folder: Path) -> Iterator[None]:
    """Inside the block, whatever ends the process without asking it leaves the stacks of all threads in a file.

    That is a signal of the kernel (a fault in a C library) or of the service manager (SIGABRT, after a hang). One
    process at a time may do so in a folder: what those before it left empty is cleared away.
    """
    was_enabled = faulthandler.is_enabled()
    try:
        for left in crash_files(folder):
            if not left.stat().st_size:
                left.unlink()
        path = new_crash_file(folder)
        stream = path.open("r+b")
    except OSError as error:
        _LOG.warning("crashes leave no file: %s", error)
        yield
        return
    with stream:
        faulthandler.enable(stream)
        try:
            yield
        finally:
            faulthandler.disable()
            if was_enabled and sys.__stderr__ is not None:
                faulthandler.enable(sys.__stderr__)
            with suppress(OSError):
                if not path.stat().st_size:
                    path.unlink()
