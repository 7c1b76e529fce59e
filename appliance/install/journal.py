"""What the manager is about to change, written down before it begins: after a cut it is done to its end."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from appliance.durable import sync_folder
from appliance.errors import StoreError
from appliance.install.history import Entry
from appliance.store.atomic_file import read_json, write_json
from appliance.store.plugin_pins import PluginPin


@dataclass(frozen=True)
class Side:
    """A plugin before or after a change. ``place`` is its name among the plugins, "" when it is not there.

    ``is_on`` is what the switch says of it; None when the switch says nothing.
    """

    place: str = ""
    pin: PluginPin | None = None
    entry: Entry | None = None
    is_on: bool | None = None


@dataclass(frozen=True)
class Change:
    """All that one swap does. Both ways are below the manager's folder ("" when nothing goes that way).

    ``incoming`` is what becomes the live plugin, ``outgoing`` where the live one goes.
    """

    name: str
    before: Side
    after: Side
    incoming: str = ""
    outgoing: str = ""

    def backwards(self) -> Change:
        """What takes it back: the one that came in goes where it came from."""
        return Change(self.name, self.after, self.before, incoming=self.outgoing, outgoing=self.incoming)


class Journal:
    """The file that is there only while a change is under way. Its methods block on the disk."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def is_open(self) -> bool:
        """Whether a change was begun and not ended."""
        return self._file.exists()

    def begin(self, change: Change) -> None:
        """Write down what is about to happen; durable when this returns. Raises ``StoreError``."""
        write_json(self._file, asdict(change))

    def read(self) -> Change | None:
        """The change under way; None when there is none. Raises ``StoreError`` for a file that makes no sense."""
        value, problem = read_json(self._file, datetime.now(UTC))
        if problem:
            raise StoreError(f"{problem}; appliance plugin verify shows how the plugins are now")
        return None if value is None else _change(value)

    def end(self) -> None:
        """The change is done. Raises ``OSError``."""
        # A copy of an older change must never be taken for one that is under way.
        for file in (self._file.with_name(f"{self._file.name}.bak"), self._file):
            with suppress(FileNotFoundError):
                file.unlink()
        sync_folder(self._file.parent)


def _change(value: Any) -> Change:
    try:
        return Change(
            str(value["name"]),
            _side(value["before"]),
            _side(value["after"]),
            str(value["incoming"]),
            str(value["outgoing"]),
        )
    except (KeyError, TypeError) as error:
        raise StoreError("the plugin manager's journal was written by another version; remove it") from error


def _side(value: Any) -> Side:
    pin, entry, is_on = value["pin"], value["entry"], value["is_on"]
    return Side(
        place=str(value["place"]),
        pin=PluginPin(**pin) if pin is not None else None,
        entry=Entry.from_json(entry) if entry is not None else None,
        is_on=is_on if isinstance(is_on, bool) else None,
    )
