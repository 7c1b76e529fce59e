"""A box with nothing but plugins: a home folder, the contract, the runner, and fakes around them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from appliance.adapters.fakes.audit_trail import FakeAuditTrail
from appliance.adapters.fakes.call_observer import FakeCallObserver
from appliance.adapters.fakes.desk import FakeDesk
from appliance.clock import FakeClock
from appliance.contracts.admission import Admission
from appliance.contracts.failures import ToolFailures
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.context import Confirm, deny
from appliance.contracts.kotoba.contract import KotobaContract, LoadReport
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.module_tool import KotobaTool, Surroundings
from appliance.contracts.quarantine import Quarantine
from appliance.contracts.switch import PluginSwitch
from appliance.store.plugin_pins import PluginPins
from appliance.store.starts import Starts
from appliance.tools.registry import Registry
from appliance.tools.runner import Runner
from appliance.tools.tool import CallContext, ToolCall, ToolResult
from appliance.turn import Turn

#: Short, for the calls that really block; a test that must not replace the loop has no blocking call in it.
GRACE_SECONDS = 0.2

#: The page's smallest tool, word for word.
PING = """
SCHEMA = {"type": "function", "name": "ping", "description": "Reply with pong.",
          "parameters": {"type": "object", "properties": {}, "required": []}}


async def execute(args, ctx):
    return "pong"
"""


def schema_line(name: str) -> str:
    """The SCHEMA of a tool that takes anything."""
    return f'SCHEMA = {{"type": "function", "name": "{name}", "description": "Test tool {name}."}}\n'


def tool_source(name: str, body: str, *attributes: str) -> str:
    """A tool file: its SCHEMA, some attributes, and the body of its ``execute``."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"{schema_line(name)}{chr(10).join(attributes)}\nasync def execute(args, ctx):\n{lines}\n"


class Rig:
    """Write plugins, load them, call their tools."""

    def __init__(
        self,
        folder: Path,
        *,
        soul: Mapping[str, Mapping[str, Any]] | None = None,
        confirm: Confirm = deny,
        entry_points: Iterable[EntryPoint] = (),
        starts: Starts | None = None,
    ) -> None:
        self.home = folder / "home"
        self.shipped = folder / "shipped"
        self.switch_file = folder / "plugins.json"
        self.clock = FakeClock()
        self.paused: list[str] = []
        self.rested: list[str] = []
        failures = ToolFailures(self.clock, lambda _plugin, tool: self.rested.append(tool))
        self.host = PluginHost(Quarantine(self.paused.append), failures=failures, grace_seconds=GRACE_SECONDS)
        self.audit = FakeAuditTrail()
        self.observer = FakeCallObserver()
        self.turn = Turn("voice")
        self.turn.commit()
        self.registry = Registry([self.host.why_withheld])
        self.runner = Runner(desk=FakeDesk(), audit=self.audit, clock=self.clock, observers=[self.observer])
        roots = [PluginRoot(self.shipped, Source.SHIPPED), PluginRoot(self.home, Source.OWNER)]
        self.pins = PluginPins(folder / "pins.json")
        self.admission = Admission(roots, starts=starts, pins=self.pins)
        self.contract = KotobaContract(
            host=self.host,
            clock=self.clock,
            roots=roots,
            switch=PluginSwitch(self.switch_file),
            surroundings=Surroundings(workdir=folder / "workdir", confirm=confirm),
            soul_overrides=soul,
            entry_points=lambda: entry_points,
            admission=self.admission,
        )
        self.report = LoadReport((), (), ())

    def write(self, place: str, source: str, *, is_shipped: bool = False) -> Path:
        """Write a file of the plugins folder; ``place`` is like ``weather/now.py``."""
        file = (self.shipped if is_shipped else self.home) / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
        return file

    async def load(self) -> LoadReport:
        """Load everything that was written, and fill the registry."""
        await self.admission.look()
        self.report = await self.contract.load()
        for tool in self.registry.tools:
            self.registry.remove_origin(tool.origin)
        for loaded in self.report.tools:
            self.registry.add(loaded)
        return self.report

    async def load_tool(self, name: str, body: str, *attributes: str) -> KotobaTool:
        """Write and load one tool in a plugin called ``test``."""
        self.write(f"test/{name}.py", tool_source(name, body, *attributes))
        await self.load()
        return self.tool(name)

    def tool(self, name: str) -> KotobaTool:
        return next(tool for tool in self.report.tools if tool.name == name)

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.report.tools]

    @property
    def sentences(self) -> list[str]:
        return [f"{problem.plugin}: {problem.sentence}" for problem in self.report.problems]

    def offered(self) -> list[str]:
        """Names that the model is shown now."""
        return [entry.tool.name for entry in self.registry.select().offered]

    def context(self, channel: str = "voice") -> CallContext:
        return CallContext(
            "", self.turn.turn_id, "chat-1", channel, self.turn, user_text="now", user_texts=("now", "before")
        )

    def start(self, name: str, call_id: str = "call-1", **arguments: Any) -> asyncio.Task[ToolResult]:
        call = ToolCall(call_id, name, arguments)
        return asyncio.create_task(self.runner.run(call, self.context(), self.registry.select()))

    async def call(self, tool: str, call_id: str = "call-1", **arguments: Any) -> ToolResult:
        return await self.start(tool, call_id, **arguments)
