"""Keeps the lists of names for the Tab key up to date: at the start, and behind every call that may change them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from appliance.contracts.shelf import PluginShelf
from appliance.control import Caller, Handler
from appliance.name_lists import write_names
from appliance.ports import Json
from appliance.tools.registry import Registry

#: Methods that begin so may bring or take plugins, tools and toolsets.
_CHANGING = ("plugin.", "toolset.", "install.")


class NameKeeper:
    """Knows the names of a running box."""

    def __init__(self, runtime_folder: Path, shelf: PluginShelf, registry: Registry) -> None:
        self._folder = runtime_folder
        self._shelf = shelf
        self._registry = registry

    async def write(self) -> None:
        """Write the lists that are not as they should be."""
        reports = (self._shelf.modules.report.plugins, self._shelf.tools.report.plugins)
        lists = {
            "plugin": [record.name for report in reports for record in report],
            "tool": [tool.name for tool in self._registry.tools],
            "toolset": [row.name for row in self._shelf.toolsets.rows()],
        }
        await asyncio.to_thread(write_names, self._folder, lists)

    def around(self, handlers: Mapping[str, Handler]) -> dict[str, Handler]:
        """The same handlers; behind those that may change names the lists are written anew."""
        return {
            method: self._writing(handler) if method.startswith(_CHANGING) else handler
            for method, handler in handlers.items()
        }

    def _writing(self, handler: Handler) -> Handler:
        async def call(params: Mapping[str, Json], caller: Caller) -> Json:
            try:
                return await handler(params, caller)
            finally:
                await self.write()

        return call
