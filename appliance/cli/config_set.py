"""Changes one setting: checks it as loading does, writes it, and brings it to a device that runs."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any

from appliance.cli.config_checks import check_meaning, refuse_secret
from appliance.cli.session import running_device
from appliance.cli.shared import complain, config_of, credentials_of, home_of
from appliance.config import SECTIONS, Origin, load
from appliance.config_file import has_value, set_values
from appliance.errors import ApplianceError, ConfigError, UsageError
from appliance.home import Home

#: What a change of a setting comes to; anything else is a sentence that says why it has no effect.
NOW, RESTART, NEXT_START = "now", "restart", "next start"


@dataclass(frozen=True)
class Change:
    """A setting that is in the file now (None: no longer), and from when on it holds."""

    key: str
    value: Any
    holds: str


async def change_setting(arguments: argparse.Namespace, key: str, text: str | None) -> Change:
    """Write ``text`` as SECTION.KEY, or take the setting out with None; a running device takes it where it can.

    Raises ``ConfigError`` with what is allowed, or with what to do when the file may not be written.
    """
    home = home_of(arguments)
    section, _, name = key.partition(".")
    is_written = has_value(home.config_file, section, name)
    # Whatever stands in the file may be taken out again, also what is no setting.
    value = None if text is None and is_written else _checked(arguments, key, text)
    check_may_change(home)
    if value is not None or is_written:
        set_values(home.config_file, section, {name: list(value) if isinstance(value, tuple) else value})
    return Change(key, value, await _hold(arguments, home, key))


def check_may_change(home: Home) -> None:
    """Raise ``ConfigError`` when the settings belong to the system and this is not its administrator."""
    folder = home.config_file.parent
    if home.is_service and not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        raise ConfigError(f"{home.config_file} is the system's; run the same command with sudo")


def how_to_restart(home: Home) -> str:
    """Half a sentence for whoever changed what holds only from the next start on."""
    return "sudo systemctl restart appliance" if home.is_service else "stop it (Ctrl-C) and start it again with ./run"


def in_words(home: Home, change: Change) -> str:
    """What to tell about a change."""
    value = "is taken out" if change.value is None else f"= {_shown(change.value)}"
    holds = {
        NOW: "the running device has it already",
        NEXT_START: "it holds from the next start",
        RESTART: f"the running device needs a restart for it: {how_to_restart(home)}",
    }
    return f"{change.key} {value}; {holds.get(change.holds, change.holds)}"


def _checked(arguments: argparse.Namespace, key: str, text: str | None) -> Any:
    """The value as its type; None to take it out. The sentences are those of loading."""
    section, _, name = key.partition(".")
    if section not in SECTIONS or not name:
        raise UsageError(
            f"{key!r} is no setting: write SECTION.KEY, as in speak.volume_percent; appliance config lists them"
        )
    if text is None:
        if _origin(load(None, {}).origins, key) is None:
            load(None, {}, {key: ""})  # raises, and names what is near it
        return None
    refuse_secret(key, text, credentials_of(arguments).redact)
    value = getattr(load(None, {}, {key: text}).sections[section], name)
    check_meaning(key, value)
    return value


async def _hold(arguments: argparse.Namespace, home: Home, key: str) -> str:
    config = config_of(arguments, keep_going=True)
    for problem in config.problems:
        complain(problem)
    origin = _origin(config.origins, key)
    if origin is None:
        return "it was no setting"
    if origin.source not in ("file", "default"):
        return f"but {origin.source} says {_shown(origin.value)}, which comes first"
    try:
        async with running_device(home) as device:
            if device is None:
                return NEXT_START
            effects = await device.call("config.changed", {"keys": [key]})
        return str(effects[key])
    except ApplianceError as error:
        # It is written all the same, and the next start reads it.
        return f"the running device could not be told: {error}"


def _origin(origins: tuple[Origin, ...], key: str) -> Origin | None:
    return next((origin for origin in origins if f"{origin.section}.{origin.key}" == key), None)


def _shown(value: Any) -> str:
    """A value as the file writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return f'"{value}"' if isinstance(value, str) else f"{value}"
