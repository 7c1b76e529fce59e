"""A tool in a test: it may be told to take long, and tells when its author's code is at work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.clock import Clock
from appliance.ports import Json
from appliance.tools.tool import CallContext, Tool, ToolResult


class Pace:
    """How the calls of a test go: ``extra_seconds`` longer than they do, ``at_work`` of them in the author's code."""

    def __init__(self) -> None:
        self.extra_seconds = 0.0
        self.at_work = 0


class WatchedTool:
    """Stands in for the tool; everything else is its own."""

    def __init__(self, tool: Tool, clock: Clock, pace: Pace) -> None:
        self._tool = tool
        self._clock = clock
        self._pace = pace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        """The call, after the time that the test adds."""
        if self._pace.extra_seconds:
            await self._clock.sleep(self._pace.extra_seconds)
        self._pace.at_work += 1
        try:
            return await self._tool.invoke(arguments, context)
        finally:
            self._pace.at_work -= 1
