"""Writes single settings into config.toml and leaves everything else in it as the owner wrote it."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from appliance.durable import make_folder, sync_folder, sync_handle
from appliance.errors import ConfigError


def set_values(file: Path, section: str, values: dict[str, Any]) -> None:
    """Set keys of one section; a value of None removes its key. Comments and order stay.

    The file is replaced whole, so that a power cut leaves the old or the new one. Raises ``ConfigError`` when it is
    not valid TOML or cannot be written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(file.read_text(encoding="utf-8")) if file.exists() else tomlkit.document()
        table: Any = document.setdefault(section, tomlkit.table())
        if not isinstance(table, MutableMapping):
            raise ConfigError(f"{file} has a value named {section} where a [{section}] belongs; nothing was changed")
        for key, value in values.items():
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        _replace(file, tomlkit.dumps(document))
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML, so nothing was changed: {error}") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be changed: {error.strerror}") from error


def has_value(file: Path, section: str, key: str) -> bool:
    """Whether the file says anything about that key. Raises ``ConfigError`` when it cannot be read."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML, so nothing was changed: {error}") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    entries = table.get(section)
    return isinstance(entries, dict) and key in entries


def _replace(file: Path, text: str) -> None:
    """Put ``text`` into ``file``, with the rights that it had."""
    make_folder(file.parent)
    half = file.with_name(f".{file.name}.new")
    try:
        with half.open("w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            sync_handle(handle.fileno())
        if file.exists():
            shutil.copymode(file, half)
        half.replace(file)
        sync_folder(file.parent)
    finally:
        half.unlink(missing_ok=True)
