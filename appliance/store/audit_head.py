"""How long the audit trail is and what it ends with, kept in a small file beside the database.

A database that was replaced as a whole agrees with itself; it does not agree with this file.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from appliance.durable import sync_folder, sync_handle
from appliance.errors import StoreError

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class AuditHead:
    """The number of lines and the hash of the last."""

    count: int
    hash: str


class AuditHeadFile:
    """The file. Its methods block; any thread."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writing = threading.Lock()
        self._count = 0

    def read(self) -> AuditHead | None:
        """What it says; None when there is no file. Raises ``StoreError`` when it cannot be read or understood."""
        try:
            fields = json.loads(self._file.read_text(encoding="ascii"))
            return AuditHead(int(fields["count"]), str(fields["hash"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self._file.name} beside the database cannot be read: {type(error).__name__}") from error

    def begin(self, head: AuditHead) -> None:
        """Hold ``head``, whatever was there before; from now on there is a file, also after a power cut."""
        with self._writing:
            self._count = head.count
            self._write(head)
            with suppress(OSError):  # told by the write before
                sync_folder(self._file.parent)

    def advance(self, head: AuditHead) -> None:
        """Hold ``head``, unless a later one came first.

        A disk that takes the line but not this file is no reason to undo the line: verifying only knows then that
        the trail is at least this long.
        """
        with self._writing:
            if head.count > self._count:
                self._count = head.count
                self._write(head)

    def _write(self, head: AuditHead) -> None:
        fresh = self._file.with_name(f".{self._file.name}.tmp")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as out:
                json.dump({"count": head.count, "hash": head.hash}, out)
                out.flush()
                sync_handle(out.fileno())
            fresh.replace(self._file)
        except OSError as error:
            _LOG.error("%s cannot be written: %s", self._file, error.strerror)
