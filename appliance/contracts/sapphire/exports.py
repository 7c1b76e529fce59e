"""Everything that is read off a tool file, and what it means when it is missing or wrong.

Reading runs the author's code (``get_tools``, a module's ``__getattr__``), so it belongs on the plugin's side.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.contracts.kotoba.blame import describe
from appliance.ports import Json

_LOG = logging.getLogger(__name__)

#: The box has one way to put its instructions together; it is the one that plugins know under this name.
PROMPT_MODE = "monolith"


@dataclass(frozen=True)
class Flags:
    """What the author says about a tool; nobody has checked it. ``is_local`` is True, False, a text, or None."""

    is_local: Any = None
    is_network: bool = False
    is_hidden: bool = False


@dataclass(frozen=True)
class LoopWarning:
    """From the call with this number in one turn on, the model is told this with each result."""

    after: int
    message: str

    def text(self, count: int) -> str:
        """The warning at the call with this number; "" while it is too early."""
        return self.message.replace("{count}", str(count)) if count >= self.after else ""


@dataclass
class ToolEntry:
    """One tool of a file. ``live`` is the author's own dict, which stays the same object as long as it is loaded."""

    name: str
    live: dict[str, Any]
    schema: Mapping[str, Json] | str
    flags: Flags
    loop_warning: LoopWarning | None
    #: Key of the host's setting that must be on for it.
    gate: str = ""


@dataclass(frozen=True)
class Exports:
    """What a file offers; ``remarks`` are sentences for the author."""

    emoji: str
    entries: tuple[ToolEntry, ...]
    remarks: tuple[str, ...]


def read_exports(module: Any) -> Exports | str:
    """What a tool file offers, or why it offers nothing ("" when that is what its author wants)."""
    if not getattr(module, "ENABLED", True):
        return ""
    if not callable(getattr(module, "execute", None)):
        return "it offers no tools: it has no execute()"
    remarks: list[str] = []
    declared = _declared(module, remarks.append)
    if not declared:
        return f"it offers no tools: {'; '.join(remarks) or 'it has no TOOLS'}"
    chosen = _chosen(module)
    entries: dict[str, ToolEntry] = {}
    for raw in declared:
        entry = _entry(module, raw, remarks.append)
        if entry is None or not chosen(entry.name):
            continue
        if entry.name in entries:
            remarks.append(f"TOOLS has {entry.name} twice; the first one counts")
        entries.setdefault(entry.name, entry)
    return Exports(str(getattr(module, "EMOJI", "") or ""), tuple(entries.values()), tuple(remarks))


def refresh(module: Any, entries: Mapping[str, ToolEntry]) -> int:
    """Ask ``get_tools()`` again; how many tools got their description and parameters anew.

    Names and flags stay what they were; a tool that is new or gone counts only after the next load.
    """
    get_tools = getattr(module, "get_tools", None)
    if not callable(get_tools) or inspect.iscoroutinefunction(get_tools):
        return 0
    count = 0
    for raw in get_tools() or []:
        function = raw.get("function") if isinstance(raw, dict) else None
        entry = entries.get(str(function.get("name"))) if isinstance(function, dict) else None
        if entry is None or not isinstance(function, dict):
            continue
        for key in ("description", "parameters"):
            if key in function:
                entry.live[key] = function[key]
        entry.schema = _snapshot(entry.live)
        count += 1
    return count


# ---------------------------------------------------------------------------------------------------- private


def _declared(module: Any, complain: Callable[[str], None]) -> list[Any]:
    """The entries from ``get_tools()``, else from TOOLS."""
    static = getattr(module, "TOOLS", None)
    get_tools = getattr(module, "get_tools", None)
    if callable(get_tools):
        try:
            found = get_tools() or []
        except Exception as error:
            complain(f"its get_tools() failed ({describe(error)}), so its TOOLS are used")
            found = static
    else:
        found = static
    if inspect.iscoroutine(found):
        found.close()
        complain("its get_tools is an async def and not a plain def, so its TOOLS are used")
        found = static
    if found and not isinstance(found, list | tuple):
        complain("its TOOLS are not a list")
        return []
    return list(found or [])


def _chosen(module: Any) -> Callable[[str], bool]:
    """AVAILABLE_FUNCTIONS and MODE_FILTER: which names count."""
    available = _names(getattr(module, "AVAILABLE_FUNCTIONS", None))
    modes = getattr(module, "MODE_FILTER", None)
    in_mode = _names(modes.get(PROMPT_MODE)) if isinstance(modes, Mapping) and PROMPT_MODE in modes else None

    def is_chosen(name: str) -> bool:
        return (not available or name in available) and (in_mode is None or name in in_mode)

    return is_chosen


def _names(value: Any) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else frozenset()


def _entry(module: Any, raw: Any, complain: Callable[[str], None]) -> ToolEntry | None:
    function = raw.get("function") if isinstance(raw, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name.strip():
        complain("an entry of TOOLS has no function with a name, and is left out")
        return None
    schema = _snapshot(function)
    if isinstance(schema, str):
        complain(f"the model never sees {name}: {schema}")
    gates = getattr(module, "SETTINGS_GATED", None)
    gate = gates.get(name) if isinstance(gates, Mapping) else None
    return ToolEntry(
        name=name,
        live=function,
        schema=schema,
        flags=Flags(raw.get("is_local"), bool(raw.get("network", False)), bool(raw.get("hidden", False))),
        loop_warning=_loop_warning(raw),
        gate=gate if isinstance(gate, str) else "",
    )


def _loop_warning(raw: Mapping[str, Any]) -> LoopWarning | None:
    after, message = raw.get("loop_warn_after"), raw.get("loop_warn_message")
    if isinstance(after, bool) or not isinstance(after, int) or after < 1:
        return None
    usual = "You have called this tool {count} times for one question. Use what you have, or say what is missing."
    return LoopWarning(after, message if isinstance(message, str) and message.strip() else usual)


def _snapshot(function: Mapping[str, Any]) -> Mapping[str, Json] | str:
    """A pure JSON copy for the model, or a sentence why no model could read it."""
    parameters = function.get("parameters")
    try:
        schema: dict[str, Json] = json.loads(
            json.dumps(
                {
                    "type": "function",
                    "name": function.get("name"),
                    "description": function.get("description") or "",
                    "parameters": {"type": "object", "properties": {}} if parameters is None else parameters,
                },
                allow_nan=False,
            )
        )
        json.dumps(schema, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        return f"its schema is not plain JSON ({error})"
    if not isinstance(schema["description"], str):
        return "its description is not a text"
    if not isinstance(schema["parameters"], dict):
        return "its parameters are not an object"
    return schema
