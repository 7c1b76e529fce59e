"""Settings: frozen dataclasses, one per package, filled from the command line, the environment and config.toml.

Each package owns its dataclass; this file is the loader and the list. The list holds names, not imports, so
that this layer stays below the packages and ``--help`` stays fast.

Precedence: command line (``section.key=value``), environment (``APPLIANCE_SECTION_KEY``), config.toml, default.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import math
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from appliance.errors import ConfigError

#: Section of config.toml -> the dataclass that it fills.
SECTIONS: Mapping[str, str] = {
    "box": "appliance.config:BoxConfig",
    "audio": "appliance.listen.config:AudioConfig",
    "listen": "appliance.listen.config:ListenConfig",
    "hear": "appliance.listen.config:HearConfig",
    "think": "appliance.think.config:ThinkConfig",
    "speak": "appliance.speak.config:SpeakConfig",
    "face": "appliance.face.config:FaceConfig",
    "approval": "appliance.approve.config:ApprovalConfig",
    "button": "appliance.approve.config:ButtonConfig",
    "tools": "appliance.tools.config:ToolsConfig",
    "device": "appliance.device.config:DeviceConfig",
    "chats": "appliance.store.config:ChatsConfig",
    "network": "appliance.network.config:NetworkConfig",
    "panel": "appliance.panel.config:PanelConfig",
}

ENVIRONMENT_PREFIX = "APPLIANCE_"
#: Environment names with our prefix that are not settings.
_NOT_SETTINGS = frozenset({"APPLIANCE_HOME", "APPLIANCE_DEBUG"})

T = TypeVar("T")


def setting(
    default: Any,
    help_text: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    or_zero: bool = False,
    is_live: bool = False,
) -> Any:
    """A field of a config dataclass: default, one sentence for ``appliance config``, limits in the field's unit.

    ``or_zero`` allows 0 too, which then stands for something else.

    A running device takes one that ``is_live`` at once (``live_settings``), the others at its next start.
    """
    metadata = {"help": help_text, "at_least": at_least, "at_most": at_most, "or_zero": or_zero, "is_live": is_live}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class BoxConfig:
    """What the box is, for all packages."""

    name: str = setting("", 'what the box calls itself; "" takes the name in the soul')
    language: str = setting("en", "language of hearing, voice, sentences and catalogue, switched together")
    place: str = setting("", 'where the box stands, for the model ("Lisbon, Portugal"); "" says nothing')


@dataclass(frozen=True)
class Origin:
    """A setting with where its value came from."""

    section: str
    key: str
    value: Any
    source: str
    help: str
    is_live: bool = False


@dataclass(frozen=True)
class Config:
    """All settings. ``problems`` is empty unless the loader was told to go on without the bad ones."""

    sections: Mapping[str, Any]
    origins: tuple[Origin, ...]
    problems: tuple[str, ...] = ()

    def of(self, kind: type[T]) -> T:
        """The section that fills dataclass ``kind``."""
        for value in self.sections.values():
            if isinstance(value, kind):
                return value
        raise KeyError(kind.__name__)


def load(
    file: Path | None,
    environment: Mapping[str, str],
    overrides: Mapping[str, str] | None = None,
    *,
    keep_going: bool = False,
) -> Config:
    """Read the settings.

    A wrong value raises ``ConfigError`` naming key, value and what is allowed; with ``keep_going`` the default
    is used instead and the sentence is kept in ``problems``, also for a file that cannot be read (one that is not TOML
    still raises).
    """
    problems: list[str] = []
    try:
        given = _collect(file, environment, overrides or {})
    except ConfigError as error:
        if not keep_going or not isinstance(error.__cause__, OSError):
            raise
        problems.append(str(error))
        given = _collect(None, environment, overrides or {})
    sections: dict[str, Any] = {}
    origins: list[Origin] = []
    for name, target in SECTIONS.items():
        kind = _resolve(target)
        hints = typing.get_type_hints(kind)
        values: dict[str, Any] = {}
        for spec in dataclasses.fields(kind):
            source = "default"
            value = spec.default
            if (name, spec.name) in given:
                raw, where = given.pop((name, spec.name))
                try:
                    value = _checked(raw, hints[spec.name], spec.metadata, is_text=where != "file")
                    source = where
                    values[spec.name] = value
                except ValueError as error:
                    problems.append(f"{name}.{spec.name} = {raw!r} ({where}): {error}")
            about, is_live = spec.metadata.get("help", ""), spec.metadata.get("is_live", False)
            origins.append(Origin(name, spec.name, value, source, about, is_live))
        sections[name] = kind(**values)
    problems += [_unknown(section, key, where) for (section, key), (_, where) in given.items()]
    if problems and not keep_going:
        raise ConfigError("; ".join(problems))
    return Config(sections, tuple(origins), tuple(problems))


def _collect(
    file: Path | None, environment: Mapping[str, str], overrides: Mapping[str, str]
) -> dict[tuple[str, str], tuple[Any, str]]:
    """Every given value with its source; later sources win."""
    given: dict[tuple[str, str], tuple[Any, str]] = {}
    if file is not None:
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file} is not valid TOML: {error}") from error
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
        for section, entries in table.items():
            if isinstance(entries, dict):
                given.update({(section, key): (value, "file") for key, value in entries.items()})
            else:
                given[section, ""] = (entries, "file")
    for name, text in environment.items():
        if name.startswith(ENVIRONMENT_PREFIX) and name not in _NOT_SETTINGS:
            section, _, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().partition("_")
            if section in SECTIONS:
                given[section, key] = (text, f"environment {name}")
    for dotted, text in overrides.items():
        section, _, key = dotted.partition(".")
        given[section, key] = (text, "command line")
    return given


def _resolve(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _unknown(section: str, key: str, where: str) -> str:
    if section not in SECTIONS:
        near = difflib.get_close_matches(section, SECTIONS, 1)
        known = f"did you mean [{near[0]}]?" if near else f"there are: {', '.join(SECTIONS)}"
        return f"[{section}] ({where}) is no section; {known}"
    keys = [spec.name for spec in dataclasses.fields(_resolve(SECTIONS[section]))]
    near = difflib.get_close_matches(key, keys, 1)
    known = f"did you mean {near[0]}?" if near else f"there are: {', '.join(keys)}"
    return f"{section}.{key} ({where}) is no setting; {known}"


def _checked(raw: Any, hint: Any, limits: Mapping[str, Any], *, is_text: bool) -> Any:
    """``raw`` as the field's type; ``ValueError`` says what is allowed."""
    value = _from_text(raw, hint) if is_text else raw
    if typing.get_origin(hint) is Literal:
        allowed = typing.get_args(hint)
        if isinstance(value, bool) and str(value).lower() in allowed:
            return str(value).lower()  # In TOML true and false need no quotes.
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(map(repr, allowed))}")
        return value
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
            raise ValueError("must be a list of texts")
        return tuple(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        raise ValueError(f"must be {_WORDS.get(hint, hint)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    lowest, highest = limits.get("at_least"), limits.get("at_most")
    if limits.get("or_zero") and value == 0:
        return value
    if lowest is not None and value < lowest:
        raise ValueError(f"must be at least {lowest:g}" + (", or 0" if limits.get("or_zero") else ""))
    if highest is not None and value > highest:
        raise ValueError(f"must be at most {highest:g}")
    return value


_WORDS: dict[Any, str] = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


def _from_text(text: str, hint: Any) -> Any:
    """A value written in a shell: texts need no quotes, lists are comma separated."""
    origin = typing.get_origin(hint)
    if hint is str or (origin is Literal and isinstance(typing.get_args(hint)[0], str)):
        return text
    if origin is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        if hint is bool:
            return {"true": True, "false": False, "1": True, "0": False, "on": True, "off": False}[text.lower()]
        return hint(text) if hint in _WORDS else text
    except (KeyError, ValueError) as error:
        raise ValueError(f"must be {_WORDS.get(hint, hint)}") from error
