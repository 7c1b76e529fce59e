"""The plugins of both contracts behind one door: load, switch, set, and say how each one is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from appliance.contracts.admission import Admission, Withheld
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.contract import KotobaContract, LoadProblem
from appliance.contracts.kotoba.discover import Source
from appliance.contracts.kotoba.module_tool import KotobaTool
from appliance.contracts.listing import Listing, PluginDetails, PluginRow, load_failure
from appliance.contracts.plugin_files import PluginFiles
from appliance.contracts.plugin_sentences import PluginSentences
from appliance.contracts.sapphire.contract import Holder, SapphireContract
from appliance.contracts.setting_values import typed_values
from appliance.contracts.switch import PluginSwitch
from appliance.errors import UsageError
from appliance.store.credentials import Credentials
from appliance.tools.registry import Registry
from appliance.tools.tool import Risk, Tool
from appliance.tools.toolsets import Toolsets

_PLUGIN = "plugin:"


class PluginShelf:
    """Used on our loop; what changes something waits for what is changing."""

    def __init__(
        self,
        host: PluginHost,
        modules: KotobaContract,
        tools: SapphireContract,
        switch: PluginSwitch,
        files: PluginFiles,
        credentials: Credentials,
        sentences: PluginSentences,
        toolsets: Toolsets,
        is_private: Callable[[str], bool],
        admission: Admission | None = None,
    ) -> None:
        self.host = host
        self.modules = modules
        self.tools = tools
        self._switch = switch
        self._files = files
        self._credentials = credentials
        self._sentences = sentences
        self.toolsets = toolsets
        self.admission = admission or Admission()
        #: Whether the chat with this id is private.
        self._is_private = is_private
        self._registry = Registry()
        self._conflicts: list[LoadProblem] = []
        #: Why an install that was cut short could not be finished; "" when all is well.
        self.cut_change = ""
        self._one_at_a_time = asyncio.Lock()

    async def load(self, registry: Registry) -> tuple[LoadProblem, ...]:
        """Fill the registry; what was wrong. An owner's plugin tool takes the place of a shipped one of its name."""
        self._registry = registry
        async with self._one_at_a_time:
            await self.admission.look()
            await self.modules.load()
            await self.tools.load(self._holders())
            self._fill_registry()
            await self._sentences.refresh(self._registry.tools)
            await self._hide_secret_settings()
        return self.problems

    async def refresh_checks(self) -> None:
        """Before the tools of a turn are selected."""
        await asyncio.gather(self.modules.refresh_checks(), self.tools.refresh_checks())

    def why_not_in(self, tool: Tool, chat: str) -> str | None:
        """A rule for the registry: why a tool has no part in a chat (its id).

        A tool module says with its RISK whether it goes out. Plugin tools have a flag for it, and answer for
        themselves when they are called.
        """
        if isinstance(tool, KotobaTool) and tool.risk is Risk.NETWORK and self._is_private(chat):
            return "this chat is private, and it goes out to the network"
        return None

    @property
    def problems(self) -> tuple[LoadProblem, ...]:
        """What is wrong with plugins now."""
        loading = (*self.modules.report.problems, *self.tools.report.problems)
        cut = [LoadProblem("", "", self.cut_change)] if self.cut_change else []
        if self.admission.problem:
            cut.append(LoadProblem("", "", self.admission.problem))
        return (*cut, *loading, *self._conflicts, *self._sentences.problems)

    async def reload(self, name: str) -> None:
        """Load one plugin anew, of whichever contract it is now; its neighbours go on as they are."""
        async with self._one_at_a_time:
            self.host.forgive(name)
            await self.admission.look(name)
            await self.modules.reload(name)
            await self.tools.reload(name, self._holders(without=name))
            self._fill_registry()
            await self._sentences.refresh(self._registry.tools)
            await self._hide_secret_settings()

    async def switch(self, name: str, is_on: bool | None) -> None:
        """Switch a plugin on or off, now and from now on; None: as its author wants it.

        Raises ``UsageError`` for a plugin that is not here, ``StoreError``.
        """
        if is_on is not None:
            self._check_known(name)
        await asyncio.to_thread(self._switch.set, name, is_on)
        if is_on:
            await self.forgive(name)
        await self.reload(name)

    async def forgive(self, name: str) -> None:
        """Lift the quarantine of a plugin: its owner wants it tried again. It holds from its next loading on."""
        await asyncio.to_thread(self.admission.forgive, name)

    async def set_safe_mode(self, is_on: bool) -> None:
        """Load none of the owner's plugins, or all again, now and at each start."""
        await asyncio.to_thread(self.admission.starts.set_safe_mode, is_on)
        await self.load(self._registry)

    def news(self) -> list[tuple[Withheld, str, str]]:
        """What a person should be told of plugins that stay out: why, which plugin ("" for all), in which words."""
        starts, refused = self.admission.starts, self.admission.refused
        told = [(Withheld.SAFE_MODE, "", starts.why_safe_mode)] if starts.why_safe_mode else []
        kinds = (Withheld.QUARANTINED, Withheld.CHANGED)
        told += [(entry.kind, name, entry.sentence) for name, entry in refused.items() if entry.kind in kinds]
        problems, tools = self.problems, self._registry.tools
        for name in dict.fromkeys(problem.plugin for problem in problems):
            failed = [(kind, problem) for problem in problems if (kind := load_failure(problem, name)) is not None]
            if failed and name not in refused and not any(tool.origin == f"{_PLUGIN}{name}" for tool in tools):
                told.append((failed[0][0], name, failed[0][1].sentence))
        return told

    async def save_settings(self, name: str, values: Mapping[str, Any]) -> int:
        """Keep settings of a plugin, texts read as its manifest wants them; how many tools describe themselves anew.

        Raises ``UsageError`` for a plugin without settings and for values that do not fit, ``StoreError``.
        """
        self._check_known(name)
        manifest = self.tools.manifest_of(name)
        if manifest is None:
            raise UsageError(
                f"{name} is a tool module, which has no settings; a key for it is kept with "
                f"appliance credential set {name} NAME"
            )
        typed = typed_values(manifest, values)
        async with self._one_at_a_time:
            count = await self.tools.save_settings(name, typed)
            await self._hide_secret_settings()
        return count

    async def change_soul(self, overrides: Mapping[str, Mapping[str, Any]]) -> None:
        """Put the lines of another soul around all tools."""
        async with self._one_at_a_time:
            await self.modules.change_soul(overrides)
            await self.tools.change_soul(overrides)

    async def keys_changed(self, plugin: str = "") -> None:
        """The owner has changed the secrets; the plugin reads its own anew."""
        await asyncio.to_thread(self._credentials.read_again)
        if plugin and plugin in self._known():
            await self.reload(plugin)

    # ---------------------------------------------------------------------------------------- how they are

    async def rows(self) -> list[PluginRow]:
        """Every plugin, by name."""
        await self.refresh_checks()
        return await asyncio.to_thread(self._listing().rows)

    async def details(self, name: str) -> PluginDetails:
        """Everything that is known of one plugin. Raises ``UsageError``."""
        self._check_known(name)
        await self.refresh_checks()
        settings = await self.tools.settings_of(name)
        return await asyncio.to_thread(self._listing().details, name, settings)

    async def explain(self, tool_name: str) -> list[str]:
        """Why a tool is as it is, or what may have become of one that is not there: sentences for the owner."""
        return await asyncio.to_thread(self._listing().explain, tool_name)

    # --------------------------------------------------------------------------------------------- private

    def _listing(self) -> Listing:
        return Listing(
            modules=self.modules.report,
            tools=self.tools.report,
            problems=self.problems,
            manifest_of=self.tools.manifest_of,
            remarks=self.host.remarks,
            registry=self._registry,
            files=self._files,
            has_key=self._has_key,
            withheld={name: refusal.kind.value for name, refusal in self.admission.refused.items()},
        )

    def _has_key(self, plugin: str, name: str) -> bool:
        """Whether code of that plugin finds something under this name."""
        return name in self._credentials.of_plugin(plugin) or bool(self._credentials.origin(name) == "environment")

    def _known(self) -> set[str]:
        named = {record.name for record in self.modules.report.plugins}
        named |= {record.name for record in self.tools.report.plugins}
        return named | {problem.plugin for problem in self.problems if problem.plugin}

    def _check_known(self, name: str) -> None:
        known = self._known()
        if name not in known:
            raise UsageError(f"there is no plugin {name!r}; there are: {', '.join(sorted(known)) or 'none'}")

    def _fill_registry(self) -> None:
        """Nothing waits in here: a turn sees all tools or those of before."""
        registry, report = self._registry, self.tools.report
        for tool in registry.tools:
            if tool.origin.startswith(_PLUGIN):
                registry.remove_origin(tool.origin)
        self._conflicts.clear()
        for module in self.modules.report.tools:
            self._add(module)
        for plugin_tool in report.tools:
            if plugin_tool.name in report.taken_over:
                registry.replace(plugin_tool)
            else:
                self._add(plugin_tool)

    def _add(self, tool: Tool) -> None:
        if not self._registry.add(tool):
            holder = next(other.origin for other in self._registry.tools if other.name == tool.name)
            sentence = f"its tool {tool.name} is not added: {holder} has one of that name"
            self._conflicts.append(LoadProblem(tool.origin.removeprefix(_PLUGIN), "", sentence))

    def _holders(self, *, without: str = "") -> dict[str, Holder]:
        """Who has which name, apart from one plugin."""
        modules, report = self.modules.report, self.tools.report
        own = (tool for tool in self._registry.tools if not tool.origin.startswith(_PLUGIN))
        shipped = {record.name for record in modules.plugins if record.source is Source.SHIPPED}
        shipped |= {record.name for record in report.plugins if record.source is Source.SHIPPED}
        return {
            tool.name: Holder(tool.origin, tool.origin.removeprefix(_PLUGIN) in shipped)
            for tool in (*own, *modules.tools, *report.tools)
            if tool.origin != f"{_PLUGIN}{without}"
        }

    async def _hide_secret_settings(self) -> None:
        """What the owner typed into a password field is masked like any other secret."""
        for record in self.tools.report.plugins:
            manifest = self.tools.manifest_of(record.name)
            secret = [field.key for field in manifest.settings if field.is_secret] if manifest is not None else []
            if secret:
                settings = await self.tools.settings_of(record.name)
                for key in secret:
                    self._credentials.hide(str(settings.get(key) or ""))


def in_words(problem: LoadProblem) -> str:
    """Where it is and what it is."""
    return f"{problem.plugin}/{problem.file}: {problem.sentence}"
