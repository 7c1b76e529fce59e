"""Toolsets: which of the plugins' tools take part in conversations. The box's own tools always do.

"all" is every tool that is not hidden, "none" is none; the name of a plugin's file or of a plugin stands for its
tools; a saved toolset for what it names, hidden tools too; several names together are "custom". A selection goes by
names: a tool that comes later takes part when it is named, or while "all" is in use.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from appliance.errors import StoreError, UsageError
from appliance.ports import Json
from appliance.store.shapes import Documents
from appliance.tools.tool import Tool

_LOG = logging.getLogger(__name__)

ALL, NONE, CUSTOM = "all", "none", "custom"
SAVED = "toolsets"
#: Collection and key of the one in use: {"name", "parts"}.
IN_USE = ("box", "toolset")

_OWN_ORIGIN = "box"
_NAME = re.compile(r"[A-Za-z0-9][\w .:-]{0,63}")


@dataclass(frozen=True)
class ToolsetRow:
    """A toolset in the list."""

    name: str
    tools: tuple[str, ...]
    is_saved: bool
    is_in_use: bool


class Toolsets:
    """On the loop. ``tools`` gives all tools there are; ``changed`` is told the name of the one that is in use."""

    def __init__(
        self,
        documents: Documents,
        tools: Callable[[], Iterable[Tool]],
        is_hidden: Callable[[Tool], bool] = lambda _tool: False,
    ) -> None:
        self._documents = documents
        self._tools = tools
        self._is_hidden = is_hidden
        self._saved: dict[str, tuple[str, ...]] = {}
        #: Names of toolsets, plugins, files and tools that are in use together.
        self._parts: tuple[str, ...] = (ALL,)
        self.changed: Callable[[str], None] = lambda _name: None

    async def load(self) -> None:
        """Read what was stored; when that fails every tool takes part, and the log says so."""
        try:
            rows, in_use = await self._documents.all(SAVED), await self._documents.get(*IN_USE)
        except StoreError as error:
            _LOG.error("the toolsets cannot be read: %s", error)
            return
        self._saved = {name: _texts(row) for name, row in rows.items()}
        self._parts = _texts(in_use) or (ALL,)

    # ---------------------------------------------------------------------------------------------- looking

    @property
    def in_use(self) -> str:
        """Name of the toolset in use."""
        return self._parts[0] if len(self._parts) == 1 and not self._is_tool(self._parts[0]) else CUSTOM

    @property
    def dangling(self) -> tuple[str, ...]:
        """What is in use and means nothing (any more)."""
        return tuple(part for part in self._parts if not self._is_known(part))

    def why_not(self, tool: Tool) -> str | None:
        """A rule for the registry: why this tool has no part in conversations now; None when it has.

        A hidden tool is kept from the model elsewhere, and can be called while everything is in use.
        """
        if tool.origin == _OWN_ORIGIN or any(self._means(part, tool, may_be_hidden=True) for part in self._parts):
            return None
        return f"it is not in the toolset {self.in_use}; appliance toolset use all takes every tool"

    def is_named(self, tool_name: str) -> bool:
        """Whether a selection in use names exactly this tool: a hidden one is then offered."""
        return any(part == tool_name or tool_name in self._saved.get(part, ()) for part in self._parts)

    def tools_in_use(self) -> tuple[str, ...]:
        """The plugins' tools that take part now."""
        return self._named(self._parts)

    def rows(self) -> list[ToolsetRow]:
        """Every toolset: all, none, one for each file of plugins, the saved ones, and what else is in use."""
        files = dict.fromkeys(tool.toolset for tool in self._tools() if tool.origin != _OWN_ORIGIN)
        names = dict.fromkeys((ALL, NONE, *files, *self._saved))
        rows = [ToolsetRow(name, self._named((name,)), name in self._saved, self._parts == (name,)) for name in names]
        if not any(row.is_in_use for row in rows):
            rows.append(ToolsetRow(self.in_use, self.tools_in_use(), is_saved=False, is_in_use=True))
        return rows

    def row(self, name: str) -> ToolsetRow:
        """One toolset. Raises ``UsageError``."""
        if name == CUSTOM and self.in_use == CUSTOM:
            return ToolsetRow(CUSTOM, self.tools_in_use(), is_saved=False, is_in_use=True)
        if not self._is_known(name):
            raise UsageError(f"there is no toolset {name!r}; appliance toolset list shows them")
        return ToolsetRow(name, self._named((name,)), name in self._saved, self._parts == (name,))

    # --------------------------------------------------------------------------------------------- changing

    async def use(self, names: Sequence[str]) -> str:
        """Use a toolset, or several names together; what is now in use. It lasts.

        A single name that nobody knows means no tool, and is told by ``dangling``: its plugin may come back. "custom"
        keeps what is in use. Raises ``StoreError``.
        """
        parts = tuple(dict.fromkeys(name.strip() for name in names if name.strip())) or (NONE,)
        if parts == (CUSTOM,):
            return self.in_use
        await self._documents.put(*IN_USE, list(parts))
        self._parts = parts
        self.changed(self.in_use)
        return self.in_use

    async def save(self, name: str, tools: Sequence[str]) -> ToolsetRow:
        """Keep a toolset under a name, in place of the one before. Raises ``UsageError``, ``StoreError``."""
        if not _NAME.fullmatch(name):
            raise UsageError("the name of a toolset begins with a letter or a digit and has at most 64 characters")
        if name not in self._saved and (name in (ALL, NONE, CUSTOM) or self._is_known(name)):
            raise UsageError(f"{name} means something already; give the toolset another name")
        known = {tool.name for tool in self._tools()}
        unknown = [tool for tool in tools if tool not in known]
        if unknown:
            raise UsageError(f"there is no tool {', '.join(unknown)}; appliance tool list shows them")
        kept = tuple(dict.fromkeys(tools))
        await self._documents.put(SAVED, name, list(kept))
        self._saved[name] = kept
        if name in self._parts:
            self.changed(self.in_use)
        return self.row(name)

    async def delete(self, name: str) -> None:
        """Forget a saved toolset; when it was in use, every tool takes part again. Raises as ``save``."""
        if name not in self._saved:
            raise UsageError(f"there is no saved toolset {name!r}; appliance toolset list shows them")
        if name in self._parts:
            await self.use([part for part in self._parts if part != name] or [ALL])
        await self._documents.delete(SAVED, name)
        del self._saved[name]

    # ---------------------------------------------------------------------------------------------- private

    def _named(self, parts: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            tool.name
            for tool in self._tools()
            if tool.origin != _OWN_ORIGIN and any(self._means(part, tool) for part in parts)
        )

    def _means(self, part: str, tool: Tool, *, may_be_hidden: bool = False) -> bool:
        if part == tool.name or tool.name in self._saved.get(part, ()):
            return True
        is_group = part in (ALL, tool.toolset, tool.origin, tool.origin.removeprefix("plugin:"))
        return is_group and part not in self._saved and (may_be_hidden or not self._is_hidden(tool))

    def _is_tool(self, name: str) -> bool:
        return name not in self._saved and any(tool.name == name for tool in self._tools())

    def _is_known(self, part: str) -> bool:
        if part in (ALL, NONE) or part in self._saved:
            return True
        return any(self._means(part, tool, may_be_hidden=True) for tool in self._tools())


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else ()


def described(row: ToolsetRow) -> Mapping[str, Json]:
    """A toolset for a client."""
    return {"name": row.name, "tools": list(row.tools), "saved": row.is_saved, "in_use": row.is_in_use}
