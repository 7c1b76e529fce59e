"""How a plugin's manifest wants a setting to be shown in a form; what it says wrongly is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from appliance.contracts.sapphire.manifest import SettingField

#: What a manifest may ask for, by its own word or by the type of the setting; everything else is a line of text.
_WIDGETS = {
    "textarea": "textarea",
    "password": "password",
    "select": "select",
    "radio": "radio",
    "boolean": "checkbox",
    "bool": "checkbox",
    "checkbox": "checkbox",
    "number": "number",
    "integer": "number",
    "float": "number",
    "list": "list",
    "array": "list",
}


@dataclass(frozen=True)
class Choice:
    """One of several values, and what it is called."""

    value: str
    label: str


@dataclass(frozen=True)
class Confirmation:
    """What to ask before one of ``values`` is kept; no values: before any."""

    title: str
    warnings: tuple[str, ...] = ()
    button: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class SettingForm:
    """``widget`` is text, textarea, password, select, radio, checkbox, number or list; ``group`` is a tab's name."""

    label: str
    widget: str = "text"
    help: str = ""
    placeholder: str = ""
    group: str = ""
    choices: tuple[Choice, ...] = ()
    confirmation: Confirmation | None = None


def form_of(field: SettingField) -> SettingForm:
    """The form of one declared setting."""
    raw = field.raw
    choices = _choices(raw.get("options"))
    widget = _WIDGETS.get(_text(raw.get("widget"))) or _WIDGETS.get(field.type, "text")
    if field.is_secret:
        widget = "password"
    elif widget in ("select", "radio") and not choices:
        widget = "text"
    elif widget == "text" and choices:
        widget = "select"
    return SettingForm(
        label=_text(raw.get("label")) or field.key.replace("_", " "),
        widget=widget,
        help=_text(raw.get("help")),
        placeholder=_text(raw.get("placeholder")),
        group=_text(raw.get("tab")),
        choices=choices,
        confirmation=_confirmation(raw.get("confirm")),
    )


def _choices(options: Any) -> tuple[Choice, ...]:
    if not isinstance(options, list):
        return ()
    return tuple(_choice(option) for option in options if isinstance(option, str | int | float | Mapping))


def _choice(option: Any) -> Choice:
    if isinstance(option, Mapping):
        value = str(option.get("value", ""))
        return Choice(value, _text(option.get("label")) or value)
    return Choice(str(option), str(option))


def _confirmation(raw: Any) -> Confirmation | None:
    if not isinstance(raw, Mapping):
        return None
    warnings, values = raw.get("warnings"), raw.get("values")
    return Confirmation(
        title=_text(raw.get("title")) or "Are you sure?",
        warnings=tuple(map(_text, warnings)) if isinstance(warnings, list) else (),
        button=_text(raw.get("buttonLabel")),
        values=tuple(_as_typed(value) for value in values) if isinstance(values, list) else (),
    )


def _as_typed(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
