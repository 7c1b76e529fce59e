"""Room that is kept for the worst moment: a file that is given up when the disk is full.

So the line of the audit trail that has begun can end, and the box can keep that it told its owner.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from appliance.clock import Clock

_LOG = logging.getLogger(__name__)

#: Some hundred lines of the audit trail with their share of the write-ahead log.
BALLAST_BYTES = 2**20
#: It is taken again when so much more is free, so that it does not fill the disk once more.
_ROOM_BYTES = 8 * BALLAST_BYTES
_LOOK_SECONDS = 5.0


class Ballast:
    """The file. Its methods block, and never raise for a disk that fails; any thread."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._is_given_up = False

    @property
    def is_given_up(self) -> bool:
        """Whether the disk was full, and is not known to have room again."""
        return self._is_given_up

    def reserve(self) -> bool:
        """Take the room, if it is not taken yet; False when the disk has none."""
        with self._lock:
            try:
                if not self._file.exists() or self._file.stat().st_size < BALLAST_BYTES:
                    _fill(self._file)
                self._is_given_up = False
                return True
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    self._is_given_up = True
                self._file.unlink(missing_ok=True)
                _LOG.warning("no room can be kept for the worst moment: %s", error.strerror)
                return False

    def give_up(self) -> bool:
        """The disk is full: free the room; False when there was none."""
        with self._lock:
            self._is_given_up = True
            try:
                self._file.unlink()
            except OSError:
                return False
            _LOG.error("the disk is full: the room that was kept for this moment is used now")
            return True

    async def watch(self, clock: Clock, when_full: Callable[[], None], when_room: Callable[[], None]) -> None:
        """For ever: say once that the disk is full, take the room again when there is some, and say that too."""
        is_told = False
        while True:
            if self._is_given_up and not is_told:
                when_full()
                is_told = True
            elif (
                self._is_given_up and await asyncio.to_thread(self._has_room) and await asyncio.to_thread(self.reserve)
            ):
                when_room()
                is_told = False
            await clock.sleep(_LOOK_SECONDS)

    def _has_room(self) -> bool:
        try:
            found = os.statvfs(self._file.parent)
        except OSError:
            return False
        return found.f_bavail * found.f_frsize >= _ROOM_BYTES


def _fill(file: Path) -> None:
    # Written, not only reserved: a file system that packs zeros would have nothing to give back.
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(handle, 0, BALLAST_BYTES)
        left = memoryview(os.urandom(BALLAST_BYTES))
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    finally:
        os.close(handle)
