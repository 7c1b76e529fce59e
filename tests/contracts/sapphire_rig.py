"""A box with nothing but plugins of the second contract: a home folder, the contract, the runner, and fakes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from appliance.adapters.fakes.audit_trail import FakeAuditTrail
from appliance.adapters.fakes.call_observer import FakeCallObserver
from appliance.adapters.fakes.chat_cipher import FakeChatCipher
from appliance.adapters.fakes.desk import FakeDesk
from appliance.adapters.fakes.documents import FakeDocuments
from appliance.assembly_plugins import is_hidden
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock
from appliance.contracts.admission import Admission
from appliance.contracts.failures import ToolFailures
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.quarantine import Quarantine
from appliance.contracts.sapphire import core_images
from appliance.contracts.sapphire.beside import BoxSide
from appliance.contracts.sapphire.contract import Holder, LoadReport, PluginRecord, SapphireContract
from appliance.contracts.sapphire.credentials import PluginCredentials
from appliance.contracts.sapphire.plugin_tool import Around, PluginTool
from appliance.contracts.sapphire.root_config import RootConfig
from appliance.contracts.sapphire.scopes import Scopes
from appliance.contracts.sapphire.settings import PluginSettings
from appliance.contracts.sapphire.system import SystemDoors
from appliance.contracts.sapphire.voice import usual_lines
from appliance.contracts.switch import PluginSwitch
from appliance.home import Home, shipped
from appliance.ports_pictures import PictureMaker
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_rows import ChatRows
from appliance.store.chat_vault import ChatVault
from appliance.store.credentials import Credentials
from appliance.store.images import StoredImages
from appliance.store.plugin_pins import PluginPins
from appliance.store.recovery import memory_database
from appliance.tools.pictures import PictureShelf
from appliance.tools.registry import Registry
from appliance.tools.runner import Runner
from appliance.tools.tool import CallContext, Risk, ToolCall, ToolResult
from appliance.tools.toolsets import Toolsets
from appliance.turn import Turn

GRACE_SECONDS = 0.2

#: The page's sample tool file, word for word but for the docstring.
SAMPLE = """
ENABLED = True
EMOJI = '🔧'
AVAILABLE_FUNCTIONS = ['my_tool_do_thing']

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "my_tool_do_thing",
            "description": "Does the thing",
            "parameters": {
                "type": "object",
                "properties": {
                    "target": {
                        "type": "string",
                        "description": "What to do it to"
                    }
                },
                "required": ["target"]
            }
        }
    }
]

def execute(function_name, arguments, config, plugin_settings=None, credentials=None):
    if function_name == "my_tool_do_thing":
        target = arguments.get("target", "")
        return f"Did the thing to {target}", True
    return "Unknown function", False
"""


def tool_entry(name: str, properties: str = "{}", flags: str = "", description: str = "A tool.") -> str:
    """One entry of TOOLS; ``flags`` are further keys such as ``"hidden": True,``."""
    parameters = f'{{"type": "object", "properties": {properties}}}'
    function = f'{{"name": {name!r}, "description": {description!r}, "parameters": {parameters}}}'
    return f'{{"type": "function", {flags} "function": {function}}}'


def tool_file(
    name: str,
    body: str,
    *lines: str,
    arguments: str = "function_name, arguments, config",
    properties: str = "{}",
    flags: str = "",
) -> str:
    """A tool file with one tool: lines at the top, TOOLS, and the body of ``execute``."""
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    top = "\n".join(lines)
    return f"{top}\nTOOLS = [{tool_entry(name, properties, flags)}]\n\ndef execute({arguments}):\n{indented}\n"


class FakeDoors:
    """What plugins asked of the box, in order."""

    def __init__(self) -> None:
        self.is_open = True
        self.asked: list[str] = []

    @property
    def doors(self) -> SystemDoors:
        return SystemDoors(
            is_ready=lambda: self.is_open,
            speak=lambda text: self.asked.append(f"say {text}"),
            stop_speaking=lambda: self.asked.append("silence"),
            stop_turn=lambda: self.asked.append("stop"),
            chat_name=self._chat_name,
            clear_chat=self._clear_chat,
        )

    async def _chat_name(self) -> str:
        return "Kitchen"

    async def _clear_chat(self) -> str:
        self.asked.append("clear")
        return "Kitchen"


class SapphireRig:
    """Write plugins, load them, call their tools. With a maker of ``pictures`` they have ``core.images``."""

    def __init__(
        self,
        folder: Path,
        *,
        soul: Mapping[str, Mapping[str, Any]] | None = None,
        risks: Mapping[str, Risk] | None = None,
        secrets: Mapping[str, str] | None = None,
        network: Mapping[str, Mapping[str, Any]] | None = None,
        forget: Callable[[str], None] = lambda _plugin: None,
        accounts: Callable[[CallContext], Mapping[str, str]] = lambda _context: {},
        pictures: PictureMaker | None = None,
        fetch: Callable[..., Any] | None = None,
        documents: FakeDocuments | None = None,
    ) -> None:
        self.home = Home(folder / "home")
        self.home.make()
        self.shipped = folder / "shipped"
        self.clock = FakeClock()
        self.host = PluginHost(Quarantine(), failures=ToolFailures(self.clock), grace_seconds=GRACE_SECONDS)
        self.audit = FakeAuditTrail()
        self.observer = FakeCallObserver()
        self.desk = FakeDesk()
        self.turn = Turn("voice")
        self.turn.commit()
        self.documents = documents if documents is not None else FakeDocuments()
        self.toolsets = Toolsets(self.documents, lambda: self.registry.tools, is_hidden)
        self.registry = Registry([self.host.why_withheld, self.toolsets.why_not])
        self.doors = FakeDoors()
        self.credentials = Credentials(self.home.folder / "credentials.json", dict(secrets or {}), self.clock)
        self.settings = PluginSettings(self.home.plugin_settings_folder, self.clock.now)
        self.is_private = False
        self.forgotten: list[str] = []
        self._forget_elsewhere = forget
        self.root = RootConfig(self.home.folder, {"PRIVATE_ALLOW_UNFLAGGED_TOOLS": False})
        around = Around(
            settings=self.settings,
            credentials=PluginCredentials(self.credentials),
            scopes=Scopes(),
            root=self.root,
            redact=self.credentials.redact,
            is_private=lambda _context: self.is_private,
            accounts=accounts,
            is_named=self.toolsets.is_named,
        )
        self.database = memory_database()
        self.chats = StoredChatLog(self.database, self.clock, ChatKeys(FakeChatCipher()))
        self.vault = ChatVault(self.database, self.chats)
        modules = dict(network or {})
        if pictures is not None:
            self.shelf = PictureShelf(StoredImages(self.database, self.clock, self.chats.keys), pictures)
            modules.update(core_images.offered(self.shelf, fetch))
        catalogue = Catalogue.load(shipped("soul"), "en")
        roots = [PluginRoot(self.shipped, Source.SHIPPED), PluginRoot(self.home.plugins_folder, Source.OWNER)]
        self.pins = PluginPins(self.home.pins_file)
        self.admission = Admission(roots, pins=self.pins)
        self.contract = SapphireContract(
            host=self.host,
            clock=self.clock,
            roots=roots,
            admission=self.admission,
            switch=PluginSwitch(self.home.switch_file),
            state_folder=self.home.plugin_state_folder,
            chat_rows=ChatRows(self.database, self.chats.keys, self.clock),
            around=around,
            box=BoxSide(
                documents=self.documents,
                zone=UTC,
                toolsets=self.toolsets,
                doors=self.doors.doors,
                name_of=lambda chat: chat,
                is_private=lambda _chat: self.is_private,
            ),
            usual_lines=lambda name: usual_lines(catalogue, name),
            soul=soul,
            risks=risks,
            network=modules,
            forget=self._forget,
        )
        self.beside = self.contract.beside
        self.runner = Runner(
            desk=self.desk,
            audit=self.audit,
            clock=self.clock,
            observers=[self.observer],
            keep_pictures=self.shelf.keep if pictures is not None else None,
            prepare=self.beside.turn.before_call,
            tell_end=self.beside.turn.after_call,
        )
        self.chats.watch(self.contract.chat_changed)
        self.report = LoadReport()

    def _forget(self, plugin: str) -> None:
        self.forgotten.append(plugin)
        self._forget_elsewhere(plugin)

    # ----------------------------------------------------------------------------------------- writing plugins

    def plugin(
        self,
        name: str,
        files: Mapping[str, str] | None = None,
        *,
        folder: str = "",
        is_shipped: bool = False,
        capabilities: Mapping[str, Any] | None = None,
        **manifest: Any,
    ) -> Path:
        """Write a plugin that is on by default; every ``tools/*.py`` of its files is declared. Its folder."""
        place = (self.shipped if is_shipped else self.home.plugins_folder) / (folder or name)
        declared = [file for file in files or {} if file.startswith("tools/")]
        whole = {
            "name": name,
            "default_enabled": True,
            "capabilities": {"tools": declared, **(capabilities or {})},
            **manifest,
        }
        self.write(place / "plugin.json", json.dumps(whole))
        for file, source in (files or {}).items():
            self.write(place / file, source)
        return place

    @staticmethod
    def write(file: Path, text: str) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def switch(self, *, enabled: tuple[str, ...] = (), disabled: tuple[str, ...] = ()) -> None:
        """Write the switch file."""
        self.write(self.home.switch_file, json.dumps({"enabled": enabled, "disabled": disabled}))

    def store_settings(self, name: str, text: str) -> Path:
        """Write a plugin's settings file by hand."""
        return self.write(self.home.plugin_settings_folder / f"{name}.json", text)

    # ------------------------------------------------------------------------------------------ loading, calling

    async def load(self, taken: Mapping[str, Holder] | None = None) -> LoadReport:
        """Load everything that was written, and fill the registry."""
        await self.admission.look()
        self.report = await self.contract.load(taken)
        for tool in self.registry.tools:
            self.registry.remove_origin(tool.origin)
        for loaded in self.report.tools:
            self.registry.add(loaded)
        return self.report

    async def load_tool(self, body: str, *lines: str, name: str = "probe", **how: str) -> PluginTool:
        """Write and load one tool in a plugin called ``test``."""
        self.plugin("test", {f"tools/{name}.py": tool_file(name, body, *lines, **how)})
        await self.load()
        assert self.sentences == []
        return self.tool(name)

    def tool(self, name: str) -> PluginTool:
        return next(tool for tool in self.report.tools if tool.name == name)

    def record(self, name: str) -> PluginRecord:
        return next(record for record in self.report.plugins if record.name == name)

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.report.tools]

    @property
    def sentences(self) -> list[str]:
        return [f"{problem.plugin}: {problem.sentence}" for problem in self.contract.report.problems]

    def offered(self) -> dict[str, Mapping[str, Any]]:
        """What the model is shown now, by name."""
        return {entry.tool.name: entry.schema for entry in self.registry.select().offered}

    def context(self, chat: str = "chat-1", turn_id: str | None = None) -> CallContext:
        return CallContext("", self.turn.turn_id if turn_id is None else turn_id, chat, "voice", self.turn)

    def start(self, name: str, /, *, chat: str = "chat-1", **arguments: Any) -> asyncio.Task[ToolResult]:
        call = ToolCall(f"call-{chat}", name, arguments)
        return asyncio.create_task(self.runner.run(call, self.context(chat), self.registry.select()))

    async def call(self, tool: str = "probe", /, *, chat: str = "chat-1", **arguments: Any) -> ToolResult:
        return await self.start(tool, chat=chat, **arguments)

    async def close(self) -> None:
        await self.contract.close()
        await self.host.close()
        self.database.close()
