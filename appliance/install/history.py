"""What the manager remembers of a plugin beside its pin: where a newer one may be, and what was there before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from appliance.errors import StoreError
from appliance.store.atomic_file import read_json, write_json


@dataclass(frozen=True)
class Entry:
    """``source`` is what the owner gave to install it; ``source_digest`` is the digest of what was found there.

    ``kept`` names the older versions (folders below ``previous/<plugin>/``), the next to go back to last.
    ``rolled_back`` are source digests that an update does not install again.
    """

    source: str = ""
    source_digest: str = ""
    kept: tuple[str, ...] = ()
    rolled_back: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: Any) -> Entry:
        """From a file that an older or newer version may have written."""
        data = value if isinstance(value, dict) else {}
        return cls(
            str(data.get("source", "")),
            str(data.get("source_digest", "")),
            _texts(data.get("kept")),
            _texts(data.get("rolled_back")),
        )


class History:
    """The file with all entries. Its methods block on the disk; writers hold the manager's lock."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> dict[str, Entry]:
        """Every entry by the plugin's name. Raises ``StoreError``."""
        value, problem = read_json(self._file, datetime.now(UTC))
        if problem and value is None:
            raise StoreError(problem)
        return {name: Entry.from_json(data) for name, data in (value if isinstance(value, dict) else {}).items()}

    def put(self, name: str, entry: Entry | None) -> None:
        """Keep it, or forget the plugin (None); durable when this returns. Raises ``StoreError``."""
        entries: Mapping[str, Entry] = {key: kept for key, kept in self.all().items() if key != name}
        if entry is not None:
            entries = {**entries, name: entry}
        if entries or self._file.exists():
            write_json(self._file, {key: asdict(entries[key]) for key in sorted(entries)})


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()
