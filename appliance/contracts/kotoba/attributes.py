"""Everything that is read off a module, once, when it is loaded: each attribute with its default and its effect.

Reading may run the author's code (a module's ``__getattr__``), so ``read`` belongs on the plugin's side; what it
returns are plain values of ours. A wrong value never costs the tool: the default holds, and a sentence says so.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from appliance.contracts.kotoba.budget import DEFAULT_MAX_TIMEOUT_SECONDS, DEFAULT_TIMEOUT_SECONDS, BudgetRule
from appliance.contracts.kotoba.voice import Complain, voice_lines
from appliance.events import Emotion
from appliance.ports import Json
from appliance.tools.tool import Expressions, Risk, VoiceLines

#: As ``kotoba.core.emotions`` shows the faces to an author.
VALID_EMOTIONS = frozenset(emotion.value for emotion in Emotion)


@dataclass(frozen=True)
class Attributes:
    """What a module declares. ``schema`` is what the model sees, or a sentence why it cannot be shown.

    ``remarks`` are sentences for the author: what is wrong, and what holds instead.
    """

    name: str
    schema: Mapping[str, Json] | str
    risk: Risk
    #: Whether the module says what its risk is.
    has_risk: bool
    voice_lines: VoiceLines
    expressions: Expressions
    budget: BudgetRule
    is_interactive: bool
    is_built_in: bool
    has_check: bool
    remarks: tuple[str, ...]


def read(module: Any, fallback_name: str, soul: Mapping[str, Mapping[str, Any]]) -> Attributes | None:
    """The attributes of a tool module; None when it is not one, which is nobody's mistake."""
    declared = getattr(module, "SCHEMA", None)
    if not isinstance(declared, dict):
        return None
    remarks: list[str] = []
    name = str(declared.get("name") or fallback_name)
    is_built_in = bool(getattr(module, "BUILT_IN", False))
    schema = _schema(declared, name, is_built_in)
    if isinstance(schema, str):
        remarks.append(f"the model never sees {name}: {schema}")
    risk = _risk(getattr(module, "RISK", None), remarks.append)
    if not is_built_in:
        _look_at_execute(module, remarks.append)
    return Attributes(
        name=name,
        schema=schema,
        risk=risk,
        has_risk=bool(getattr(module, "RISK", None)),
        voice_lines=voice_lines(module, soul.get(name, {}), remarks.append),
        expressions=_expressions(getattr(module, "EXPRESSIONS", None), remarks.append),
        budget=BudgetRule(
            timeout_seconds=_seconds(module, "TIMEOUT", DEFAULT_TIMEOUT_SECONDS, remarks.append),
            follows_argument=bool(getattr(module, "ARG_TIMEOUT", False)),
            max_timeout_seconds=_seconds(module, "MAX_TIMEOUT", DEFAULT_MAX_TIMEOUT_SECONDS, remarks.append),
            is_exec=risk is Risk.EXEC,
        ),
        is_interactive=bool(getattr(module, "INTERACTIVE", False)),
        is_built_in=is_built_in,
        has_check=getattr(module, "check", None) is not None,
        remarks=tuple(remarks),
    )


def _schema(declared: dict[Any, Any], name: str, is_built_in: bool) -> Mapping[str, Json] | str:
    """A pure JSON copy with its name written in, or a sentence why no model could read it.

    A tool that the provider runs keeps the provider's own shape, which is not ours to judge.
    """
    try:
        named = declared if is_built_in else {**declared, "name": name}
        schema: dict[str, Json] = json.loads(json.dumps(named, allow_nan=False))
        json.dumps(schema, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        return f"its SCHEMA is not plain JSON ({error})"
    if is_built_in:
        return schema
    schema.setdefault("type", "function")
    schema.setdefault("parameters", {"type": "object", "properties": {}})
    if schema["type"] != "function":
        return 'the "type" of its SCHEMA is not "function"'
    if not isinstance(schema.setdefault("description", ""), str):
        return 'the "description" of its SCHEMA is not a text'
    if not isinstance(schema["parameters"], dict):
        return 'the "parameters" of its SCHEMA are not an object'
    return schema


def _risk(value: Any, complain: Complain) -> Risk:
    if not value:
        return Risk.READ
    try:
        return Risk(value.strip().lower() if isinstance(value, str) else value)
    except ValueError:
        # Nobody knows what was meant, so it is treated as something that changes the world and is recorded.
        complain(f"RISK {value!r} is none of {', '.join(Risk)}; it counts as write")
        return Risk.WRITE


def _look_at_execute(module: Any, complain: Complain) -> None:
    execute = getattr(module, "execute", None)
    if execute is None:
        complain("it has no execute, so every call of it fails")
    elif inspect.isfunction(execute) and not inspect.iscoroutinefunction(execute):
        complain("its execute is a plain def and not an async def; unless it returns an awaitable, every call fails")


def _expressions(value: Any, complain: Complain) -> Expressions:
    usual = Expressions()
    if not value:
        return usual
    if not isinstance(value, Mapping):
        complain("EXPRESSIONS is not a dict, so the usual faces are shown")
        return usual
    return Expressions(
        focus=_emotion(value, "focus", usual.focus, complain), fail=_emotion(value, "fail", usual.fail, complain)
    )


def _emotion(faces: Mapping[Any, Any], key: str, usual: Emotion, complain: Complain) -> Emotion:
    value = faces.get(key)
    if value is None:
        return usual
    if not isinstance(value, str) or value not in VALID_EMOTIONS:
        complain(f"EXPRESSIONS {key} {value!r} is no face; {usual} is shown")
        return usual
    return Emotion(value)


def _seconds(module: Any, attribute: str, usual: int, complain: Complain) -> int:
    value = getattr(module, attribute, None)
    if not value:
        return usual
    try:
        return max(1, int(value))
    except (TypeError, ValueError, OverflowError):
        complain(f"{attribute} {value!r} is not a number of seconds; {usual} is used")
        return usual
