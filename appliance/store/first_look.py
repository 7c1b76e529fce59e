"""What has to be known of the store before it is open: opening it takes longer than a person may wait for an ear."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

_QUERY = "SELECT value FROM documents WHERE collection = 'settings' AND key = 'is_muted'"


def was_muted(file: Path) -> bool:
    """Whether the owner has closed the microphone. Where that cannot be read it stays closed until the store is open.

    Changes nothing; the caller holds the lock on the home.
    """
    if not file.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute(_QUERY).fetchone()
            return row is not None and json.loads(row[0]) is True
    except (sqlite3.Error, ValueError):
        return True
