"""Values that an owner types for a plugin's settings, read as the manifest wants them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from appliance.contracts.sapphire.manifest import Manifest, SettingField
from appliance.errors import UsageError

_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


def typed_values(manifest: Manifest, values: Mapping[str, Any]) -> dict[str, Any]:
    """Each value of the kind that its field has; texts of fields that nobody declared are taken as JSON or as text.

    Raises ``UsageError`` for a text that does not fit.
    """
    fields = {field.key: field for field in manifest.settings}
    return {key: _typed(fields.get(key), key, value) for key, value in values.items()}


def _typed(field: SettingField | None, key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if field is None:
        return _json_or_text(value)
    if field.type in ("number", "integer", "float"):
        return _number(key, value)
    if field.type in ("boolean", "bool", "checkbox"):
        return _boolean(key, value)
    if field.type in ("list", "array"):
        return _list(key, value)
    _check_option(field, key, value)
    return value


def _number(key: str, text: str) -> int | float:
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{key} is a number, not {text!r}") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise UsageError(f"{key} is a number, not {text!r}")
    return int(number) if number.is_integer() and "." not in text else number


def _boolean(key: str, text: str) -> bool:
    word = text.strip().lower()
    if word in _YES | _NO:
        return word in _YES
    raise UsageError(f"{key} is yes or no, not {text!r}")


def _list(key: str, text: str) -> list[Any]:
    """A JSON list, or words with commas between them."""
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except ValueError as error:
            raise UsageError(f"{key} is a list, and {text!r} is not JSON: {error}") from error
        return list(value)
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_option(field: SettingField, key: str, value: str) -> None:
    options = field.raw.get("options")
    allowed = [_option_value(option) for option in options] if isinstance(options, list) else []
    if allowed and value not in allowed:
        raise UsageError(f"{key} is one of {', '.join(allowed)}, not {value!r}")


def _option_value(option: object) -> str:
    return str(option.get("value", "")) if isinstance(option, Mapping) else str(option)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
