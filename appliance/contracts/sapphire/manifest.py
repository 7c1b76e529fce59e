"""``plugin.json``: what a plugin says about itself. Only the name is needed; what is not known is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.contracts import pinned

MANIFEST_FILE = "plugin.json"

#: The name is also the name of files in the home.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_USUAL_PRIORITY = 50
_LONGEST_TITLE = 40
#: What this box does something with; everything else needs a screen with a browser, or another host.
USED_CAPABILITIES = frozenset(
    {"tools", "settings", "scopes", "hooks", "voice_commands", "schedule", "daemon", "routes", "web"}
)
_USED_FIELDS = frozenset({"cleanup_paths"})

Complain = Callable[[str], None]


class ManifestError(ValueError):
    """The file cannot be used; the text is half a sentence that says why."""


@dataclass(frozen=True)
class SettingField:
    """One declared setting; ``raw`` is the whole declaration."""

    key: str
    type: str = "string"
    default: Any = None
    is_secret: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScopeField:
    """An account selection that the plugin's tools read."""

    key: str
    default: str = "default"


@dataclass(frozen=True)
class VoiceCommand:
    """Words that reach the plugin without a model."""

    triggers: tuple[str, ...]
    match: str
    handler: str
    is_bypassing_model: bool
    description: str


@dataclass(frozen=True)
class ScheduledTask:
    """A task that the plugin wants to run again and again."""

    name: str
    cron: str
    handler: str
    is_enabled: bool
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Manifest:
    """A read ``plugin.json``. ``not_used`` names what this box does nothing with; ``remarks`` are for the author."""

    name: str
    title: str
    spoken_name: str
    version: str
    description: str
    author: str
    icon: str
    priority: int
    is_on_by_default: bool
    is_privacy_aware: bool
    pip_dependencies: tuple[str, ...]
    tool_files: tuple[str, ...]
    settings: tuple[SettingField, ...]
    scopes: tuple[ScopeField, ...]
    hooks: Mapping[str, str]
    voice_commands: tuple[VoiceCommand, ...]
    schedule: tuple[ScheduledTask, ...]
    daemon: Mapping[str, Any]
    not_used: tuple[str, ...]
    remarks: tuple[str, ...]
    raw: Mapping[str, Any]

    @property
    def defaults(self) -> dict[str, Any]:
        """Every declared default, fresh."""
        return {entry.key: _copy(entry.default) for entry in self.settings if "default" in entry.raw}


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a plugin's folder. Raises ``ManifestError``."""
    try:
        raw = json.loads(pinned.read(folder / MANIFEST_FILE).decode("utf-8-sig"))
    except pinned.ChangedFileError as error:
        raise ManifestError(f"{error.msg}; appliance plugin verify {folder.name} shows all that was") from error
    except OSError as error:
        raise ManifestError(f"its {MANIFEST_FILE} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"its {MANIFEST_FILE} is not JSON: {error}") from error
    return parse_manifest(raw)


def parse_manifest(raw: object) -> Manifest:
    """A manifest from its JSON value. Raises ``ManifestError``."""
    if not isinstance(raw, dict):
        raise ManifestError(f"its {MANIFEST_FILE} is not one JSON object")
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ManifestError(
            f"the name in its {MANIFEST_FILE} must be letters, digits, '_', '-' and '.', and is {name!r}"
        )
    remarks: list[str] = []
    capabilities = _object(raw, "capabilities", remarks.append)
    return Manifest(
        name=name,
        title=_title(raw, name),
        spoken_name=_spoken_name(raw, name),
        version=_text(raw, "version"),
        description=_text(raw, "description"),
        author=_text(raw, "author"),
        icon=_text(raw, "icon") or _text(raw, "emoji"),
        priority=_priority(raw, remarks.append),
        is_on_by_default=bool(raw.get("default_enabled", False)),
        is_privacy_aware=bool(raw.get("privacy_aware", False)),
        pip_dependencies=_texts(raw, "pip_dependencies", remarks.append),
        tool_files=_texts(capabilities, "tools", remarks.append),
        settings=tuple(_setting(entry) for entry in _keyed(capabilities, "settings", remarks.append)),
        scopes=tuple(
            ScopeField(entry["key"], _text(entry, "default") or "default")
            for entry in _keyed(capabilities, "scopes", remarks.append)
        ),
        hooks={
            event: file
            for event, file in _object(capabilities, "hooks", remarks.append).items()
            if isinstance(file, str)
        },
        voice_commands=tuple(map(_voice_command, _objects(capabilities, "voice_commands", remarks.append))),
        schedule=tuple(map(_task, _objects(capabilities, "schedule", remarks.append))),
        daemon=_object(capabilities, "daemon", remarks.append),
        not_used=_not_used(raw, capabilities),
        remarks=tuple(remarks),
        raw=raw,
    )


# ------------------------------------------------------------------------------------------------- single fields


def _title(raw: Mapping[str, Any], name: str) -> str:
    first_clause: str = re.split(r"[.,;:—–]|\s-\s", _text(raw, "description"), maxsplit=1)[0].strip()
    titles = (_text(raw, "short_display_name"), _text(raw, "display_name"), _text(raw, "short_name"))
    return next(filter(None, (*titles, first_clause[:_LONGEST_TITLE].strip(), name)))


def _spoken_name(raw: Mapping[str, Any], name: str) -> str:
    """What the box calls it aloud: a title that the author chose, never a piece of the description."""
    titles = (_text(raw, "short_display_name"), _text(raw, "display_name"), _text(raw, "short_name"))
    return next(filter(None, (*titles, re.sub(r"[_.-]+", " ", name).strip(), name)))


def _priority(raw: Mapping[str, Any], complain: Complain) -> int:
    value = raw.get("priority", _USUAL_PRIORITY)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    complain(f"its priority {value!r} is not a whole number; {_USUAL_PRIORITY} is used")
    return _USUAL_PRIORITY


def _setting(raw: Mapping[str, Any]) -> SettingField:
    kind = _text(raw, "type") or "string"
    is_secret = "password" in (kind, raw.get("widget"))
    return SettingField(raw["key"], kind, raw.get("default"), is_secret, raw)


def _voice_command(raw: Mapping[str, Any]) -> VoiceCommand:
    triggers = raw.get("triggers")
    return VoiceCommand(
        triggers=tuple(entry for entry in triggers if isinstance(entry, str)) if isinstance(triggers, list) else (),
        match=_text(raw, "match") or "exact",
        handler=_text(raw, "handler"),
        is_bypassing_model=bool(raw.get("bypass_llm", False)),
        description=_text(raw, "description"),
    )


def _task(raw: Mapping[str, Any]) -> ScheduledTask:
    return ScheduledTask(
        name=_text(raw, "name"),
        cron=_text(raw, "cron") or "0 9 * * *",
        handler=_text(raw, "handler"),
        is_enabled=bool(raw.get("enabled", True)),
        raw=raw,
    )


def _not_used(raw: Mapping[str, Any], capabilities: Mapping[str, Any]) -> tuple[str, ...]:
    unused = [name for name, value in capabilities.items() if name not in USED_CAPABILITIES | _USED_FIELDS and value]
    return (*sorted(unused), *(["environment"] if raw.get("environment") else []))


# ------------------------------------------------------------------------------------------------------- shapes


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value.strip() if isinstance(value, str) else ""


def _texts(raw: Mapping[str, Any], key: str, complain: Complain) -> tuple[str, ...]:
    value = raw.get(key) or []
    if not isinstance(value, list):
        complain(f"its {key} is not a list, so it is left out")
        return ()
    if not all(isinstance(entry, str) for entry in value):
        complain(f"its {key} holds something that is not a text, which is left out")
    return tuple(entry for entry in value if isinstance(entry, str) and entry.strip())


def _object(raw: Mapping[str, Any], key: str, complain: Complain) -> Mapping[str, Any]:
    value = raw.get(key) or {}
    if isinstance(value, dict):
        return value
    complain(f"its {key} is not an object, so it is left out")
    return {}


def _objects(raw: Mapping[str, Any], key: str, complain: Complain) -> list[Mapping[str, Any]]:
    value = raw.get(key) or []
    if not isinstance(value, list):
        complain(f"its {key} is not a list, so it is left out")
        return []
    return [entry for entry in value if isinstance(entry, dict)]


def _keyed(raw: Mapping[str, Any], key: str, complain: Complain) -> list[Mapping[str, Any]]:
    """Those of a list of objects that have a key."""
    entries = _objects(raw, key, complain)
    named = [entry for entry in entries if _text(entry, "key")]
    if len(named) < len(entries):
        complain(f"an entry of its {key} has no key, and is left out")
    return named


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))
