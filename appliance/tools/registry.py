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

#: Says in words why a tool is not part of a conversation, or None. Such a tool is neither offered nor run.
Rule = Callable[[Tool], str | None]

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
    """The tools of one turn; ``why_not`` says in words why a known tool is not offered.

    ``withheld`` are those that a rule took out: unlike a tool that is only not available now, they must not run
    either, whoever calls them by name.
    """

    offered: tuple[OfferedTool, ...] = ()
    known: Mapping[str, Tool] = field(default_factory=dict)
    why_not: Mapping[str, str] = field(default_factory=dict)
    withheld: Mapping[str, str] = field(default_factory=dict)

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
    """All tools, in the order they came; of two with one name the first stays.

    ``rules`` hold in every turn (a paused plugin); ``select`` takes those of one turn.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._rules = tuple(rules)

    def add(self, tool: Tool) -> bool:
        """Add a tool; False (and a warning) when its name is taken."""
        holder = self._tools.get(tool.name)
        if holder is not None:
            _LOG.warning("tool %s of %s is not added: %s has that name", tool.name, tool.origin, holder.origin)
            return False
        self._tools[tool.name] = tool
        return True

    def replace(self, tool: Tool) -> None:
        """Add a tool in place of the one that has its name."""
        self._tools[tool.name] = tool

    def remove_origin(self, origin: str) -> None:
        """Take out every tool of a plugin."""
        self._tools = {name: tool for name, tool in self._tools.items() if tool.origin != origin}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool."""
        return tuple(self._tools.values())

    def select(self, rules: Iterable[Rule] = ()) -> ToolSelection:
        """The tools for a turn that starts now; ``rules`` hold for this turn (a private chat, a toolset)."""
        offered: list[OfferedTool] = []
        why_not: dict[str, str] = {}
        withheld: dict[str, str] = {}
        taken: set[str] = set()
        all_rules = (*self._rules, *rules)
        for tool in self._tools.values():
            forbidden = next((said for said in (rule(tool) for rule in all_rules) if said), None)
            if forbidden:
                why_not[tool.name] = withheld[tool.name] = forbidden
                continue
            entry = _offer(tool, taken)
            if isinstance(entry, str):
                why_not[tool.name] = entry
            else:
                taken.add(entry.legal_name)
                offered.append(entry)
        return ToolSelection(tuple(offered), dict(self._tools), why_not, withheld)


def _offer(tool: Tool, taken: set[str]) -> OfferedTool | str:
    """The tool as a model gets it, or why it is not offered."""
    reason = _unavailable(tool)
    if reason:
        return reason
    try:
        schema = dict(tool.schema())
    except Exception as error:
        # One bad schema must not spoil the request with all the good ones.
        _LOG.warning("the schema of %s cannot be used: %s", tool.name, error)
        return f"its schema cannot be used: {error}"
    legal = _legal_name(tool.name, taken)
    # What the provider runs by itself has a shape of its own, and often no name.
    is_ours = schema.get("type", "function") == "function"
    return OfferedTool(tool, legal, {**schema, "name": legal} if is_ours else schema)


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
