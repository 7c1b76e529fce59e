"""The steps of durability that everybody forgets; all of them block, and raise ``OSError``.

Each flush is told as a ``sys.audit`` event, like Python's own steps on files: so a test sees in which order things
reach the disk, and can work out what a power cut would leave.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: The audit event of a flush; its argument is the handle that was flushed.
FLUSHED = "appliance.flushed"


def sync_handle(handle: int) -> None:
    """Make what was written to an open file last over a power cut."""
    os.fsync(handle)
    sys.audit(FLUSHED, handle)


def sync_file(file: Path) -> None:
    """Make what is in a file last over a power cut; its name is the folder's business."""
    _sync(file, os.O_RDONLY)


def sync_folder(folder: Path) -> None:
    """Make names that were created, renamed or removed in ``folder`` last over a power cut."""
    _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, for this user only; one that is new lasts over a power cut."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True, mode=0o700)
    sync_folder(folder.parent)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags | os.O_CLOEXEC)
    try:
        sync_handle(handle)
    finally:
        os.close(handle)
