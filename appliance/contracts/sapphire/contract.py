"""Loads every plugin of this contract, each by itself, and says in words what did not work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from appliance.clock import Clock
from appliance.contracts.admission import Admission
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.contract import LoadProblem
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.sapphire import exports, opening
from appliance.contracts.sapphire.beside import Beside, BoxSide
from appliance.contracts.sapphire.chat_state import PluginChatStates
from appliance.contracts.sapphire.discover import Discovery, FoundPlugin, discover
from appliance.contracts.sapphire.event_bus import Events
from appliance.contracts.sapphire.imports import PluginImports
from appliance.contracts.sapphire.manifest import Manifest
from appliance.contracts.sapphire.offered import offered_modules
from appliance.contracts.sapphire.opening import OpenedFile
from appliance.contracts.sapphire.plugin_loader import PluginLoader
from appliance.contracts.sapphire.plugin_tool import Around, Facts, PluginTool
from appliance.contracts.sapphire.plugin_work import Failed, PluginWork
from appliance.contracts.sapphire.risk import with_flags
from appliance.contracts.sapphire.state import PluginStates
from appliance.contracts.sapphire.voice import lines_for
from appliance.contracts.switch import PluginSwitch, SwitchState
from appliance.errors import StoreError, UsageError
from appliance.store.chat_rows import ChatRows
from appliance.store.running_notes import Doing
from appliance.store.shapes import ChatChange, ChatChangeKind
from appliance.tools.runner import OWN_ORIGIN
from appliance.tools.tool import Risk, VoiceLines

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Holder:
    """Who has a tool's name already; ``is_shipped`` says that an owner's plugin may take it over."""

    origin: str
    is_shipped: bool = False


@dataclass(frozen=True)
class Refusal:
    """A plugin that was taken out again because another has the name of one of its tools."""

    plugin: str
    error: str
    hint: str


@dataclass(frozen=True)
class PluginRecord:
    """A plugin in the list. One that is not loaded has no tools; ``note`` says why."""

    name: str
    title: str
    version: str
    source: Source
    priority: int
    tools: tuple[str, ...] = ()
    is_on: bool = True
    is_loaded: bool = False
    note: str = ""
    #: Parts of it that this box does nothing with.
    not_used: tuple[str, ...] = ()
    #: Why each tool has the risk that it has.
    risk_reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadReport:
    """What loading found, in loading order. ``taken_over`` are names of tools that take the place of shipped ones."""

    tools: tuple[PluginTool, ...] = ()
    problems: tuple[LoadProblem, ...] = ()
    plugins: tuple[PluginRecord, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    taken_over: frozenset[str] = frozenset()


class SapphireContract:
    """The plugin tools of this box.

    ``network`` are the modules ``core.net`` and its like; ``forget`` is told when a plugin goes, to take back what it
    has registered there. ``usual_lines`` makes the lines for a plugin's spoken name. ``risks`` is the owner's
    judgement, by name of the tool.
    """

    def __init__(
        self,
        *,
        host: PluginHost,
        clock: Clock,
        roots: Sequence[PluginRoot],
        switch: PluginSwitch,
        state_folder: Path,
        chat_rows: ChatRows,
        around: Around,
        box: BoxSide,
        usual_lines: Callable[[str], VoiceLines] = lambda _name: VoiceLines(),
        soul: Mapping[str, Mapping[str, Any]] | None = None,
        risks: Mapping[str, Risk] | None = None,
        network: Mapping[str, Mapping[str, Any]] | None = None,
        forget: Callable[[str], None] = lambda _plugin: None,
        import_seconds: float = 20.0,
        admission: Admission | None = None,
    ) -> None:
        self._host = host
        self._admission = admission or Admission()
        self._roots = tuple(roots)
        self._switch = switch
        self._around = around
        self._usual_lines = usual_lines
        self._soul = soul or {}
        self._risks = risks or {}
        self._forget = forget
        self._work = PluginWork(host, clock, import_seconds)
        self._found: dict[str, FoundPlugin] = {}
        self._tools: dict[str, PluginTool] = {}
        self._problems: list[LoadProblem] = []
        self._records: dict[str, PluginRecord] = {}
        self._refusals: list[Refusal] = []
        self._taken: dict[str, Holder] = {}
        self._taken_over: set[str] = set()
        self.states = PluginStates(state_folder, clock.now, lambda sentence: self._complain("", "", sentence))
        chat_states = PluginChatStates(chat_rows)
        plugin_loader = PluginLoader(around.settings, self.states, chat_states, self._found, self._is_loaded)
        #: What plugins do without being called.
        self.beside = Beside(
            host=host,
            clock=clock,
            box=box,
            around=around,
            work=self._work,
            plugin_loader=plugin_loader,
            found=self._found,
            is_loaded=self._is_loaded,
            complain=self._complain,
        )
        offered = offered_modules(plugin_loader, around.credentials, around.scopes)
        self._imports = PluginImports(
            {**offered, **self.beside.modules, **(network or {})}, around.root.module, [root.folder for root in roots]
        )
        self._capabilities = self.beside.join(self._imports)

    # --------------------------------------------------------------------------------------------- for the box

    async def load(self, taken: Mapping[str, Holder] | None = None) -> LoadReport:
        """Load everything that is switched on; never raises for what a plugin does. Again: from scratch.

        ``taken`` are the names that tools of others have.
        """
        await self._start_over(taken or {})
        await self.beside.open()
        discovery, state = await asyncio.to_thread(self._look)
        if state.problem:
            self._complain("", "", state.problem)
        for folder in discovery.bad:
            self._complain(folder.name, "plugin.json", folder.sentence)
        for plugin in discovery.plugins:
            self._found[plugin.name] = plugin
            await self._let_in(plugin, state)
        for plugin in discovery.plugins:
            await self._take(plugin, discovery, state)
        loaded = [name for name, record in self._records.items() if record.is_loaded]
        await self.beside.hooks.fire("plugins_ready", metadata={"loaded": loaded, "reason": "scan"})
        return self.report

    async def reload(self, name: str, taken: Mapping[str, Holder]) -> None:
        """Load one plugin anew; one that is switched off or gone is only taken out. Its neighbours stay as they are.

        ``taken`` are the names that all other tools have.
        """
        await self._take_out(name)
        self._taken = dict(taken)
        discovery, state = await asyncio.to_thread(self._look)
        for folder in discovery.bad:
            if folder.name == name:
                self._complain(name, "plugin.json", folder.sentence)
        for plugin in discovery.plugins:
            if plugin.name == name:
                self._found[name] = plugin
                await self._let_in(plugin, state)
                await self._take(plugin, discovery, state)

    def manifest_of(self, name: str) -> Manifest | None:
        """What a plugin says about itself; None when it is not here."""
        plugin = self._found.get(name)
        return plugin.manifest if plugin is not None else None

    async def settings_of(self, name: str) -> dict[str, Any]:
        """The settings of a plugin as its tools see them; {} for one that is not here."""
        manifest = self.manifest_of(name)
        defaults = manifest.defaults if manifest is not None else {}
        return await asyncio.to_thread(self._around.settings.read, name, defaults) if manifest is not None else {}

    @property
    def report(self) -> LoadReport:
        """What is loaded, and what has been found wrong so far."""
        return LoadReport(
            tuple(self._tools.values()),
            tuple(self._problems),
            tuple(self._records.values()),
            tuple(self._refusals),
            frozenset(self._taken_over),
        )

    async def refresh_checks(self) -> None:
        """Read the host's settings again; before the tools of a turn are selected."""
        if self._tools:
            await asyncio.to_thread(self._around.root.refresh)

    async def save_settings(self, name: str, values: Mapping[str, Any]) -> int:
        """Put ``values`` over a plugin's settings, and let its tools describe themselves anew; how many did.

        Raises ``UsageError`` for a plugin that is not here, ``StoreError``.
        """
        plugin = self._found.get(name)
        if plugin is None:
            raise UsageError(f"there is no plugin {name!r}; there are: {', '.join(sorted(self._found)) or 'none'}")
        await asyncio.to_thread(self._around.settings.save, name, values)
        tools = [tool for tool in self._tools.values() if tool.facts.plugin == name]
        count = 0
        for module in {id(tool.facts.module): tool.facts.module for tool in tools}.values():
            entries = {tool.name: tool.entry for tool in tools if tool.facts.module is module}
            count += await self._refresh(name, module, entries)
        await self._follow_settings(plugin, tools)
        await self._capabilities.follow_settings(plugin)
        return count

    async def change_soul(self, soul: Mapping[str, Mapping[str, Any]]) -> None:
        """Put other lines over those of the plugins, from the next calls on."""
        self._soul = soul
        for name, plugin in list(self._found.items()):
            tools = [tool for tool in self._tools.values() if tool.facts.plugin == name]
            if tools:
                await self._follow_settings(plugin, tools)

    async def chat_changed(self, change: ChatChange) -> None:
        """Tell the plugins; a ``ChatWatcher``."""
        metadata = {"name": change.name, "chat": change.name}
        if change.kind is ChatChangeKind.RENAMED:
            metadata |= {"old": change.old_name, "new": change.name}
        await self.beside.hooks.fire(
            f"chat_{change.kind}", is_private=change.is_private, chat_name=change.name, metadata=metadata
        )

    async def close(self) -> None:
        """Stop what runs beside calls, and make what the plugins have stored last."""
        await self.beside.close()
        await asyncio.to_thread(self.states.close)

    # --------------------------------------------------------------------------------------------- one plugin

    async def _start_over(self, taken: Mapping[str, Holder]) -> None:
        for name, plugin in self._found.items():
            await self._unload(name, plugin.folder)
        self._found.clear()
        self._problems, self._records, self._refusals = [], {}, []
        self._taken, self._taken_over = dict(taken), set()
        self._imports.install()

    def _look(self) -> tuple[Discovery, SwitchState]:
        """Reads the disk, runs nothing of any plugin."""
        self._around.root.refresh()
        return discover(self._roots), self._switch.read()

    async def _let_in(self, plugin: FoundPlugin, state: SwitchState) -> None:
        """Before anything is loaded: others may import its files."""
        if plugin.is_on(state) and not await self._admission.ask(plugin.name, plugin.source, [plugin.folder]):
            self._imports.open_folder(plugin.folder)

    async def _take(self, plugin: FoundPlugin, discovery: Discovery, state: SwitchState) -> None:
        self._records[plugin.name] = _record(plugin, plugin.name in discovery.shadowed)
        refusal = self._admission.refused.get(plugin.name)
        if plugin.is_on(state) and refusal is not None:
            self._complain(plugin.name, "", refusal.sentence)
            self._note(plugin, refusal.kind)
        elif plugin.is_on(state):
            await self._load_plugin(plugin)
        else:
            self._records[plugin.name] = replace(self._records[plugin.name], is_on=False)
            self._note(plugin, f"switched off; appliance plugin on {plugin.name} switches it on")

    async def _take_out(self, name: str) -> None:
        plugin = self._found.pop(name, None)
        if plugin is not None:
            await self._unload(name, plugin.folder)
        self._records.pop(name, None)
        self._problems = [problem for problem in self._problems if problem.plugin != name]
        self._refusals = [refusal for refusal in self._refusals if refusal.plugin != name]
        self._taken_over -= {tool for tool in self._taken_over if tool not in self._tools}

    async def _load_plugin(self, plugin: FoundPlugin) -> None:
        """What is broken costs itself, and not its neighbours."""
        for remark in plugin.manifest.remarks:
            self._complain(plugin.name, "plugin.json", remark)
        missing = await asyncio.to_thread(opening.missing_packages, plugin.manifest)
        if missing:
            names = " ".join(missing)
            await self._refuse_to_load(plugin, f"it needs what is not installed; install it with: pip install {names}")
            return
        await self._prepare(plugin)
        refusal = self._add(
            plugin, [tool for file in plugin.manifest.tool_files for tool in await self._open(plugin, file)]
        )
        if refusal is not None:
            self._refusals.append(refusal)
            await self._refuse_to_load(plugin, f"{refusal.error}; {refusal.hint}")
            return
        added = [tool for tool in self._tools.values() if tool.facts.plugin == plugin.name]
        await self._follow_settings(plugin, added)
        await self._capabilities.start(plugin)
        self._records[plugin.name] = replace(
            self._records[plugin.name],
            tools=tuple(tool.name for tool in added),
            is_loaded=True,
            risk_reasons={tool.name: tool.facts.derived.reason for tool in added},
        )

    async def _prepare(self, plugin: FoundPlugin) -> None:
        """What its files may rely on when they are opened: scopes, and a settings file with the defaults."""
        for scope in plugin.manifest.scopes:
            problem = self._around.scopes.register(scope.key, plugin.name, scope.default)
            if problem:
                self._complain(plugin.name, "plugin.json", problem)
        try:
            await asyncio.to_thread(self._around.settings.seed, plugin.name, plugin.manifest.defaults)
        except StoreError as error:
            self._complain(plugin.name, "plugin.json", str(error))
        await self._capabilities.open(plugin)

    async def _open(self, plugin: FoundPlugin, file: str) -> list[PluginTool]:
        """The tools of a file; none when it is broken, or when its author wants that."""
        opened = await self._work.run(
            plugin.name, lambda: opening.open_file(self._imports, plugin.folder, file), doing=Doing.IMPORT
        )
        if isinstance(opened, Failed):
            self._complain(plugin.name, file, f"it is not loaded: {opened.why}")
            return []
        if isinstance(opened, str):
            if opened:
                self._complain(plugin.name, file, opened)
            return []
        for remark in opened.exports.remarks:
            self._complain(plugin.name, file, remark)
        return [self._tool(plugin, opened, entry) for entry in opened.exports.entries]

    def _tool(self, plugin: FoundPlugin, opened: OpenedFile, entry: exports.ToolEntry) -> PluginTool:
        facts = Facts(
            plugin=plugin.name,
            manifest=plugin.manifest,
            module=opened.module,
            toolset=f"plugin_{plugin.name}_{opened.path.stem}",
            emoji=opened.exports.emoji,
            derived=with_flags(opened.derived, entry.flags),
            judged=self._risks.get(entry.name),
        )
        return PluginTool(entry, facts, self._host, self._around, VoiceLines())

    def _add(self, plugin: FoundPlugin, tools: list[PluginTool]) -> Refusal | None:
        """Add them all, or none: between strangers the first to have a name keeps it."""
        fresh: dict[str, PluginTool] = {}
        taken_over: set[str] = set()
        for tool in tools:
            holder = self._taken.get(tool.name)
            if tool.name in fresh:
                self._complain(plugin.name, "", f"two of its files have a tool {tool.name}; the first one counts")
            elif holder is None:
                fresh[tool.name] = tool
            elif holder.is_shipped and plugin.source is not Source.SHIPPED:
                fresh[tool.name] = tool
                taken_over.add(tool.name)
            elif plugin.source is Source.SHIPPED and holder.origin != OWN_ORIGIN:
                self._note(plugin, f"{tool.name} is that of {holder.origin}")
            else:
                hint = "switch one of the two off, or give the tool another name"
                return Refusal(plugin.name, f"its tool {tool.name} has the name of one of {holder.origin}", hint)
        self._tools.update(fresh)
        self._taken_over |= taken_over
        is_shipped = plugin.source is Source.SHIPPED
        self._taken.update({name: Holder(tool.origin, is_shipped) for name, tool in fresh.items()})
        return None

    async def _refresh(self, plugin: str, module: Any, entries: Mapping[str, exports.ToolEntry]) -> int:
        count = await self._work.run(plugin, lambda: exports.refresh(module, entries))
        if isinstance(count, Failed):
            self._complain(plugin, "", f"its get_tools() failed, so its tools stay as they were: {count.why}")
            return 0
        return count

    async def _follow_settings(self, plugin: FoundPlugin, tools: Sequence[PluginTool]) -> None:
        settings = await asyncio.to_thread(self._around.settings.read, plugin.name, plugin.manifest.defaults)
        usual = self._usual_lines(plugin.manifest.spoken_name)
        for tool in tools:
            tool.follow(settings, lines_for(tool.name, plugin.name, usual, settings, self._soul))

    # ------------------------------------------------------------------------------------------------ records

    async def _refuse_to_load(self, plugin: FoundPlugin, why: str) -> None:
        await self._unload(plugin.name, plugin.folder)
        self.beside.events.publish(Events.PLUGIN_LOAD_ERROR, {"plugin": plugin.name, "error": why})
        self._complain(plugin.name, "plugin.json", f"it is not loaded: {why}")
        self._note(plugin, why)

    async def _unload(self, name: str, folder: Path) -> None:
        for tool in [tool for tool in self._tools.values() if tool.facts.plugin == name]:
            del self._tools[tool.name]
        self._around.scopes.unregister(name)
        await self._capabilities.close(name)
        self.beside.events.forget(name)
        self._imports.close_folder(folder)
        self._forget(name)

    def _is_loaded(self, name: str) -> bool:
        record = self._records.get(name)
        return record is not None and record.is_loaded

    def _note(self, plugin: FoundPlugin, note: str) -> None:
        record = self._records[plugin.name]
        self._records[plugin.name] = replace(record, note="; ".join(filter(None, (record.note, note))))

    def _complain(self, plugin: str, file: str, sentence: str) -> None:
        self._problems.append(LoadProblem(plugin, file, sentence))
        _LOG.warning("plugin %s, %s: %s", plugin or "(all)", file or "(no file)", sentence)


def _record(plugin: FoundPlugin, is_shadowing: bool) -> PluginRecord:
    manifest = plugin.manifest
    note = "instead of the shipped plugin of this name" if is_shadowing else ""
    return PluginRecord(
        manifest.name,
        manifest.title,
        manifest.version,
        plugin.source,
        plugin.priority,
        note=note,
        not_used=manifest.not_used,
    )
