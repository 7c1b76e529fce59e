"""Which tools there are, and the selection that one turn sees.

The selection is taken once at turn start: a tool that comes, goes or changes its mind meanwhile does not change
what the model was told. Names are made legal for the endpoint and mapped back.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from appliance.ports import Json
from appliance.tools.tool import Tool

_LOG = logging.getLogger(__name__)

#: What the Responses API accepts as a function name.
_LEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


@dataclass(frozen=True)
class OfferedTool:
    """A tool with the legal name and the schema that a model gets."""

    tool: Tool
    legal_name: str
    schema: Mapping[str, Json]


@dataclass(frozen=True)
class ToolSelection:
    """The tools of one turn; ``why_not`` says in words why a known tool is not offered."""

    offered: tuple[OfferedTool, ...] = ()
    known: Mapping[str, Tool] = field(default_factory=dict)
    why_not: Mapping[str, str] = field(default_factory=dict)

    @property
    def schemas(self) -> tuple[Mapping[str, Json], ...]:
        """What the model gets."""
        return tuple(entry.schema for entry in self.offered)

    def find(self, name: str) -> Tool | None:
        """The tool of that name, legal or own; also one that is not offered (availability gates offering only)."""
        for entry in self.offered:
            if name in (entry.legal_name, entry.tool.name):
                return entry.tool
        return self.known.get(name)


class Registry:
    """All tools, in the order they came; of two with one name the first stays."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, tool: Tool) -> bool:
        """Add a tool; False (and a warning) when its name is taken."""
        holder = self._tools.get(tool.name)
        if holder is not None:
            _LOG.warning("tool %s of %s is not added: %s has that name", tool.name, tool.origin, holder.origin)
            return False
        self._tools[tool.name] = tool
        return True

    def remove_origin(self, origin: str) -> None:
        """Take out every tool of a plugin."""
        self._tools = {name: tool for name, tool in self._tools.items() if tool.origin != origin}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool."""
        return tuple(self._tools.values())

    def select(self, refuse: Iterable[Callable[[Tool], str | None]] = ()) -> ToolSelection:
        """The tools for a turn that starts now.

        Each ``refuse`` may say in words why a tool is not offered in this turn (a private chat, a toolset).
        """
        offered: list[OfferedTool] = []
        why_not: dict[str, str] = {}
        taken: set[str] = set()
        filters = tuple(refuse)
        for tool in self._tools.values():
            reason = next((said for said in (check(tool) for check in filters) if said), None) or _unavailable(tool)
            if reason:
                why_not[tool.name] = reason
                continue
            try:
                schema = dict(tool.schema())
            except Exception as error:
                # One bad schema must not spoil the request with all the good ones.
                _LOG.exception("the schema of %s cannot be read", tool.name)
                why_not[tool.name] = f"its schema cannot be read: {error}"
                continue
            legal = _legal_name(tool.name, taken)
            taken.add(legal)
            offered.append(OfferedTool(tool, legal, {**schema, "name": legal}))
        return ToolSelection(tuple(offered), dict(self._tools), why_not)


def _unavailable(tool: Tool) -> str | None:
    try:
        return None if tool.available() else "it says that it is not available now"
    except Exception as error:
        _LOG.exception("asking %s whether it is available failed", tool.name)
        return f"asking whether it is available failed: {error}"


def _legal_name(name: str, taken: set[str]) -> str:
    legal = _LEGAL.sub("_", name)[:_LONGEST_NAME] or "tool"
    candidate, number = legal, 2
    while candidate in taken:
        suffix = f"_{number}"
        candidate = legal[: _LONGEST_NAME - len(suffix)] + suffix
        number += 1
    return candidate
