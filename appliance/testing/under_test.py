"""The plugin in a test: plain calls, no ``await``; the box has a loop and a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from appliance.clock import FakeClock
from appliance.contracts.kotoba.module_tool import KotobaTool
from appliance.contracts.sapphire.plugin_tool import PluginTool
from appliance.testing.scripts import ScriptedModel, ScriptedNetwork
from appliance.testing.watched_tool import WatchedTool
from appliance.testing.world import Heard, World, world

T = TypeVar("T")


@dataclass(frozen=True)
class Called:
    """How one call ended: ok, failed, refused…; what a model reads; pictures; and the reason for the owner's log."""

    outcome: str
    text: str
    images: int
    error: str


class PluginUnderTest:
    """One plugin in a box of its own. ``close`` it."""

    def __init__(
        self, path: Path, folder: Path, clock: FakeClock, model: ScriptedModel, network: ScriptedNetwork
    ) -> None:
        self.model = model
        self.network = network
        self._clock = clock
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="box under test", daemon=True)
        self._thread.start()
        self._stack = AsyncExitStack()
        self._world: World = self._wait(self._stack.enter_async_context(world(folder, path, clock, model, network)))

    # -------------------------------------------------------------------------------------- what it is like

    @property
    def name(self) -> str:
        """Its name."""
        return self._world.plugin

    @property
    def tools(self) -> list[str]:
        """Names of its tools that are loaded."""
        return [tool.name for tool in self._world.tools]

    @property
    def offered(self) -> list[str]:
        """Names of its tools that a model would be shown now."""
        rows: list[dict[str, Any]] = self._wait(self._world.control("tool.list"))
        return [row["name"] for row in rows if row["name"] in self.tools and not row["why_not"]]

    @property
    def problems(self) -> list[str]:
        """What is wrong with it, as ``appliance plugin list`` says it."""
        rows: list[dict[str, Any]] = self._wait(self._world.control("plugin.list"))
        return [problem for row in rows if row["name"] == self.name for problem in row["problems"]]

    def schema(self, tool: str) -> Mapping[str, Any]:
        """What a model is shown of a tool."""
        found: dict[str, Any] = self._wait(self._world.control("tool.why", name=tool))
        schema: Mapping[str, Any] = found["schema"]
        return schema

    def module(self, tool: str) -> Any:
        """The module that a tool comes from, to look at or to change."""
        found = next((entry for entry in self._world.tools if entry.name == tool), None)
        inner = vars(found)["_tool"] if isinstance(found, WatchedTool) else found
        if isinstance(inner, KotobaTool):
            return inner.module
        if isinstance(inner, PluginTool):
            return inner.facts.module
        raise AssertionError(f"there is no tool {tool!r}; there are: {', '.join(self.tools) or 'none'}")

    # ----------------------------------------------------------------------------------------- what one does

    def call(self, tool: str, /, *, allowed: bool = True, **arguments: Any) -> Called:
        """Call a tool by itself; ``allowed`` is the owner's yes to a call that would wait for a press."""
        if tool not in self.tools:
            raise AssertionError(f"there is no tool {tool!r}; there are: {', '.join(self.tools) or 'none'}")
        params = {"name": tool, "arguments": arguments, "yes": allowed}
        return Called(**self._wait(self._world.control("tool.run", **params)))

    def ask(self, text: str, *, slow_seconds: float = 0.0) -> Heard:
        """A whole spoken turn with the scripted model; each call takes ``slow_seconds`` longer than it does."""
        return self._wait(self._world.asks(text, slow_seconds))

    def set(self, **settings: Any) -> None:
        """As ``appliance plugin set``."""
        self._wait(self._world.control("plugin.set", name=self.name, values=settings))

    def keys(self, **keys: str) -> None:
        """As ``appliance credential set``: the plugin is loaded anew, and finds them."""
        self._world.keep_keys(keys)
        self._wait(self._world.control("credential.changed", plugin=self.name))
        self._wait(self._watch())

    def advance(self, seconds: float) -> None:
        """Let time go by, and whatever waits for it happen."""
        self._wait(self._clock.advance(seconds))

    def close(self) -> None:
        """Take the box apart."""
        try:
            self._wait(self._stack.aclose())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
            self._loop.close()

    async def _watch(self) -> None:
        self._world.watch()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future: concurrent.futures.Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result()
