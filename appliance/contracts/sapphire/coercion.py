"""Texts that a model wrote where the schema wants a number or a yes: turned into those before a plugin sees them.

Nothing else is checked: a missing, an extra or an unusual argument is the plugin's to judge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from appliance.ports import Json

_YES, _NO = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})
_WORDS = {"integer": "a whole number", "number": "a number", "array": "a list of numbers"}


def coerced(arguments: Mapping[str, Json], parameters: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """The arguments with their declared types, and what could not be turned into one ("volume must be a number")."""
    properties = parameters.get("properties")
    declared = properties if isinstance(properties, dict) else {}
    result: dict[str, Json] = {}
    faults: list[str] = []
    for key, value in arguments.items():
        kind, item_kind = _kinds(declared.get(key))
        try:
            result[key] = _as(kind, item_kind, value)
        except ValueError:
            faults.append(f"{key} must be {_WORDS[kind]}, not {value!r}")
    return result, faults


def _kinds(declaration: Any) -> tuple[str, str]:
    """Declared type, and that of the items; "" for what is left alone."""
    if not isinstance(declaration, dict):
        return "", ""
    items = declaration.get("items")
    item_kind = items.get("type") if isinstance(items, dict) else ""
    kind = declaration.get("type")
    return kind if isinstance(kind, str) else "", item_kind if isinstance(item_kind, str) else ""


def _as(kind: str, item_kind: str, value: Json) -> Json:
    if kind == "array" and item_kind in ("integer", "number"):
        parts = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        return [_as(item_kind, "", part) for part in parts] if isinstance(parts, list) else parts
    if not isinstance(value, str):
        return value
    if kind == "integer":
        return _whole(value)
    if kind == "number":
        return _number(value)
    if kind == "boolean":
        word = value.strip().lower()
        return True if word in _YES else False if word in _NO else value
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = _number(text)
        if number != int(number):
            raise
        return int(number)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
