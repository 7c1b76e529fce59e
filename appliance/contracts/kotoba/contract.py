"""Loads every tool module there is, each by itself, and says in words what did not work."""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any

from appliance.clock import Clock, within
from appliance.contracts.admission import Admission
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba import attributes, own_packages, schemas, siblings
from appliance.contracts.kotoba.attributes import Attributes
from appliance.contracts.kotoba.blame import describe, log_traceback, why_not_loaded
from appliance.contracts.kotoba.check import Check
from appliance.contracts.kotoba.discover import Discovery, FoundPlugin, PluginRoot, Source, discover
from appliance.contracts.kotoba.imports import OfferedModules
from appliance.contracts.kotoba.module_tool import KotobaTool, Surroundings
from appliance.contracts.kotoba.sandbox import offered
from appliance.contracts.kotoba.voice import as_soul_pattern
from appliance.contracts.plugin_call import Raised
from appliance.contracts.switch import PluginSwitch, SwitchState
from appliance.store.running_notes import Doing

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class LoadProblem:
    """Something about one file that the owner or the author should know; the tool may be loaded all the same."""

    plugin: str
    file: str
    sentence: str


@dataclass(frozen=True)
class PluginRecord:
    """A plugin in the list. One that is switched off, or not let in, has no tools: nobody has looked."""

    name: str
    source: Source
    tools: tuple[str, ...]
    is_loaded: bool
    note: str = ""
    #: Switched on, and not let in.
    is_withheld: bool = False


@dataclass(frozen=True)
class LoadReport:
    """What loading found, in loading order."""

    tools: tuple[KotobaTool, ...]
    problems: tuple[LoadProblem, ...]
    plugins: tuple[PluginRecord, ...]


@dataclass(frozen=True)
class _Opened:
    """A module that ran; ``attributes`` is None when it is no tool."""

    module: Any
    attributes: Attributes | None


#: Runs a module's body on the plugin's side.
_Import = Callable[[], Any]


class KotobaContract:
    """The tool modules of this box."""

    def __init__(
        self,
        *,
        host: PluginHost,
        clock: Clock,
        roots: Sequence[PluginRoot],
        switch: PluginSwitch,
        surroundings: Surroundings,
        soul_overrides: Mapping[str, Mapping[str, Any]] | None = None,
        import_seconds: float = 20.0,
        entry_points: Callable[[], Iterable[EntryPoint]] | None = None,
        admission: Admission | None = None,
    ) -> None:
        self._host = host
        self._admission = admission or Admission()
        self._clock = clock
        self._roots = tuple(roots)
        self._switch = switch
        self._surroundings = surroundings
        self._soul = soul_overrides or {}
        self._import_seconds = import_seconds
        self._entry_points = entry_points or _installed_entry_points
        self._tools: dict[str, KotobaTool] = {}
        self._problems: list[LoadProblem] = []
        self._records: dict[str, PluginRecord] = {}

    async def load(self) -> LoadReport:
        """Load everything that is not switched off; never raises for what a plugin does. Again: from scratch."""
        OfferedModules.install()
        siblings.install()
        own_packages.install()
        # A check() that asks for the sandbox has no time to wait until one was tried.
        await asyncio.to_thread(self._surroundings.sandboxes.look)
        offered.offer(self._surroundings.sandboxes, self._host.at_home)
        schemas.offer(lambda: self._tools.values())
        self._tools, self._problems, self._records = {}, [], {}
        self._surroundings.soul_patterns.clear()
        discovery, state = await asyncio.to_thread(self._look)
        if state.problem:
            self._complain("", "", state.problem)
        for plugin in discovery.plugins:
            await self._take(plugin, discovery, state)
        await self.refresh_checks()
        return self.report

    async def reload(self, name: str) -> None:
        """Load one plugin anew; one that is switched off or gone is only taken out. Its neighbours stay as they are."""
        self._forget(name)
        discovery, state = await asyncio.to_thread(self._look)
        for plugin in discovery.plugins:
            if plugin.name == name:
                await self._take(plugin, discovery, state)
        await self.refresh_checks()

    async def change_soul(self, overrides: Mapping[str, Mapping[str, Any]]) -> None:
        """Put other lines over those of the tools, from their next calls on; no file is opened again for that."""
        self._soul = overrides
        for tool in list(self._tools.values()):
            await tool.take_lines(overrides.get(tool.name, {}))
            self._surroundings.soul_patterns[tool.name] = as_soul_pattern(tool.voice_lines)

    def sandbox_in_words(self) -> str:
        """One line for the owner: where tools run programs, and what that does not protect from."""
        return self._surroundings.sandboxes.in_words()

    @property
    def report(self) -> LoadReport:
        """What is loaded, and what has been found wrong so far."""
        return LoadReport(tuple(self._tools.values()), tuple(self._problems), tuple(self._records.values()))

    async def refresh_checks(self) -> None:
        """Ask every ``check()`` whose answer is old; before the tools of a turn are selected."""
        for tool in self._tools.values():
            await tool.refresh_check()

    # ------------------------------------------------------------------------------------------ one plugin

    def _look(self) -> tuple[Discovery, SwitchState]:
        """Reads the disk, runs nothing of any plugin."""
        return discover(self._roots, self._entry_points()), self._switch.read()

    async def _take(self, plugin: FoundPlugin, discovery: Discovery, state: SwitchState) -> None:
        lone = [file for file in plugin.files if plugin.folder is None or not file.is_relative_to(plugin.folder)]
        if plugin.name in state.disabled:
            self._records[plugin.name] = PluginRecord(plugin.name, plugin.source, (), is_loaded=False)
        elif refusal := await self._admission.ask(plugin.name, plugin.source, [*filter(None, [plugin.folder]), *lone]):
            record = PluginRecord(plugin.name, plugin.source, (), is_loaded=False, is_withheld=True)
            self._records[plugin.name] = record
            self._complain(plugin.name, "", refusal.sentence)
        else:
            await self._load_plugin(plugin, plugin.name in discovery.shadowed)

    def _forget(self, name: str) -> None:
        """Take the plugin out; calls of it that are on go on."""
        for tool in [tool for tool in self._tools.values() if tool.origin == f"plugin:{name}"]:
            del self._tools[tool.name]
            self._surroundings.soul_patterns.pop(tool.name, None)
        self._records.pop(name, None)
        self._problems = [problem for problem in self._problems if problem.plugin != name]

    async def _load_plugin(self, plugin: FoundPlugin, is_shadowing: bool) -> None:
        """Each file by itself: one that is broken does not cost its neighbours."""
        is_installed = plugin.source is Source.ENTRY_POINT
        package = "" if is_installed else siblings.make_package(plugin.name, plugin.folder)
        if plugin.folder is not None:
            own_packages.forget(plugin.folder)
        loaded: list[str] = []
        for label, fallback_name, run_body in _bodies(plugin, package):
            opened = await self._open(plugin.name, package, fallback_name, run_body)
            if isinstance(opened, str):
                self._complain(plugin.name, label, opened)
            elif opened.attributes is not None:
                for remark in opened.attributes.remarks:
                    self._complain(plugin.name, label, remark)
                loaded += self._add(plugin.name, label, package, opened.module, opened.attributes)
        if loaded:
            note = "instead of the shipped plugin of this name" if is_shadowing else ""
            before = self._records.get(plugin.name)
            tools = (*(before.tools if before else ()), *loaded)
            self._records[plugin.name] = PluginRecord(plugin.name, plugin.source, tools, is_loaded=True, note=note)

    async def _open(self, plugin: str, package: str, fallback_name: str, run_body: _Import) -> _Opened | str:
        """The module and what it declares, or a sentence why it is not loaded."""

        async def open_it() -> _Opened | str:
            with siblings.inside(package):
                try:
                    module = run_body()
                    return _Opened(module, attributes.read(module, fallback_name, self._soul))
                except BaseException as error:
                    log_traceback(_LOG, logging.WARNING, f"a tool of plugin {plugin} is not loaded", error)
                    return f"it is not loaded: {why_not_loaded(error)}"

        try:
            opening = self._host.run(plugin, open_it, lambda opened: isinstance(opened, _Opened), doing=Doing.IMPORT)
            ran = await within(self._clock, self._import_seconds, opening)
        except TimeoutError:
            return f"it is not loaded: loading it took longer than {self._import_seconds:g} s"
        return f"it is not loaded: {describe(ran.error)}" if isinstance(ran, Raised) else ran.value

    def _add(self, plugin: str, label: str, package: str, module: Any, found: Attributes) -> list[str]:
        """The name of the tool that was added; none when an earlier one has it."""
        holder = self._tools.get(found.name)
        if holder is not None:
            sentence = f"its tool {found.name} is not added: {holder.origin} has one of that name"
            self._complain(plugin, label, sentence)
            return []
        check = Check(plugin, package, found.name, module, self._host, self._clock) if found.has_check else None
        self._tools[found.name] = KotobaTool(
            plugin=plugin,
            package=package,
            module=module,
            attributes=found,
            host=self._host,
            surroundings=self._surroundings,
            check=check,
        )
        self._surroundings.soul_patterns[found.name] = as_soul_pattern(found.voice_lines)
        return [found.name]

    def _complain(self, plugin: str, file: str, sentence: str) -> None:
        self._problems.append(LoadProblem(plugin, file, sentence))
        _LOG.warning("plugin %s, %s: %s", plugin or "(all)", file or "(no file)", sentence)


def _bodies(plugin: FoundPlugin, package: str) -> list[tuple[str, str, _Import]]:
    """Label, fallback name and import of each tool of a plugin."""
    files = [(file.name, file.stem, partial(siblings.load_file, package, file)) for file in plugin.files]
    return files + [(point.value, point.name, point.load) for point in plugin.entry_points]


def _installed_entry_points() -> list[EntryPoint]:
    return sorted(importlib.metadata.entry_points(group=own_packages.GROUP), key=lambda point: point.name)
