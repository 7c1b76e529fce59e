"""What an owner is told of plugins: what each offers, what is wrong with it, and what to do about that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol

from appliance.contracts import pinned
from appliance.contracts.admission import Withheld
from appliance.contracts.asked_keys import AskedKey, asked_keys
from appliance.contracts.kotoba.contract import LoadProblem
from appliance.contracts.kotoba.contract import LoadReport as ModuleReport
from appliance.contracts.kotoba.contract import PluginRecord as ModuleRecord
from appliance.contracts.kotoba.module_tool import KotobaTool
from appliance.contracts.plugin_files import PluginFiles
from appliance.contracts.sapphire.contract import LoadReport as ToolReport
from appliance.contracts.sapphire.contract import PluginRecord as ToolRecord
from appliance.contracts.sapphire.manifest import Manifest, SettingField
from appliance.contracts.sapphire.plugin_tool import PluginTool
from appliance.contracts.setting_form import SettingForm, form_of
from appliance.contracts.ways_out import ways_out
from appliance.tools.registry import Registry
from appliance.tools.tool import Risk, Tool

#: Names of the two contracts.
MODULE, TOOL = "module", "tool"


@dataclass(frozen=True)
class PluginRow:
    """One plugin in the list. ``problems`` are sentences; ``missing_keys`` names what its code asks for in vain."""

    name: str
    contract: str
    source: str
    is_on: bool
    is_loaded: bool
    title: str = ""
    version: str = ""
    tools: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    missing_keys: tuple[str, ...] = ()
    not_used: tuple[str, ...] = ()
    note: str = ""
    #: Why it stays out although it is switched on: quarantined, changed, safe mode; "" when it does not.
    withheld: str = ""


@dataclass(frozen=True)
class ToolDetails:
    """One tool: its risk and why, private chats, what it says, why it is not offered ("" when it is)."""

    name: str
    risk: str
    why_risk: str
    private_chats: str
    why_not: str
    voice: Mapping[str, Any]


@dataclass(frozen=True)
class SettingDetails:
    """One setting; the value of a secret is only "set" or "not set"."""

    key: str
    type: str
    value: Any
    help: str
    is_secret: bool = False
    #: How it is shown on a page.
    form: SettingForm | None = None


@dataclass(frozen=True)
class PluginDetails:
    """Everything that is known of one plugin."""

    plugin: PluginRow
    digest: str
    tools: tuple[ToolDetails, ...] = ()
    lanes: tuple[str, ...] = ()
    settings: tuple[SettingDetails, ...] = ()
    #: Every key its code asks for -> whether there is one.
    keys: Mapping[str, bool] = field(default_factory=dict)


class HasKey(Protocol):
    """Whether a plugin finds something under a name in its environment or its credentials."""

    def __call__(self, plugin: str, name: str, /) -> bool: ...


class Listing:
    """A look at the plugins as they are now. Reads the disk and blocks."""

    def __init__(
        self,
        *,
        modules: ModuleReport,
        tools: ToolReport,
        problems: tuple[LoadProblem, ...],
        manifest_of: Callable[[str], Manifest | None],
        remarks: Callable[[str], Iterable[str]],
        registry: Registry,
        files: PluginFiles,
        has_key: HasKey,
        withheld: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._modules = modules
        self._tools = tools
        self._manifest_of = manifest_of
        self._remarks = remarks
        self._registry = registry
        self._files = files
        self._has_key = has_key
        self._problems = problems
        self._withheld = withheld

    def rows(self) -> list[PluginRow]:
        """Every plugin, by name; one of which nothing could be loaded too."""
        rows = {record.name: self._module_row(record) for record in self._modules.plugins}
        rows.update({record.name: self._tool_row(record) for record in self._tools.plugins})
        for problem in self._problems:
            if problem.plugin and problem.plugin not in rows:
                contract = TOOL if problem.file.endswith("plugin.json") else MODULE
                rows[problem.plugin] = self._with_state(PluginRow(problem.plugin, contract, "", True, False))
        return [rows[name] for name in sorted(rows)]

    def details(self, name: str, settings: Mapping[str, Any]) -> PluginDetails:
        """Everything that is known of the plugin; ``settings`` are its settings now."""
        row = next(row for row in self.rows() if row.name == name)
        manifest = self._manifest_of(name)
        fields = manifest.settings if manifest is not None else ()
        return PluginDetails(
            plugin=row,
            digest=self._files.digest(f"plugin:{name}"),
            tools=tuple(map(self._tool_details, self._tools_of(name))),
            lanes=ways_out(self._sources(name)),
            settings=tuple(_setting(entry, settings) for entry in fields),
            keys={key.name: self._has_key(name, key.name) for key in self._asked(name)},
        )

    def explain(self, tool_name: str) -> list[str]:
        """Sentences on why a tool is not offered, who else wanted its name, and where one that is missing may be."""
        holder = next((tool for tool in self._registry.tools if tool.name == tool_name), None)
        said = list(_about_unavailable(holder)) if holder is not None else list(self._named_in_switched_off(tool_name))
        if isinstance(holder, KotobaTool | PluginTool):
            plugin = holder.origin.removeprefix("plugin:")
            said += [_how_to_keep(plugin, key) for key in self._missing(plugin)]
            said += filter(None, [_in_private_chats(holder)])
        named = re.compile(rf"\b{re.escape(tool_name)}\b")
        said += [
            f"{problem.plugin}/{problem.file}: {problem.sentence}".replace("/:", ":")
            for problem in self._problems
            if named.search(problem.sentence) or problem.file.rpartition("/")[2] == f"{tool_name}.py"
        ]
        return said

    # --------------------------------------------------------------------------------------------- one row

    def _module_row(self, record: ModuleRecord) -> PluginRow:
        is_on = record.is_loaded or record.is_withheld
        note = record.note if is_on else f"switched off; appliance plugin on {record.name} switches it on"
        row = PluginRow(
            record.name, MODULE, record.source.value, is_on, record.is_loaded, tools=record.tools, note=note
        )
        return self._with_state(row)

    def _tool_row(self, record: ToolRecord) -> PluginRow:
        return self._with_state(
            PluginRow(
                name=record.name,
                contract=TOOL,
                source=record.source.value,
                is_on=record.is_on,
                is_loaded=record.is_loaded,
                title=record.title,
                version=record.version,
                tools=record.tools,
                not_used=record.not_used,
                # Why one that is on is not loaded is among its problems.
                note=record.note if record.is_loaded or not record.is_on else "",
            )
        )

    def _with_state(self, row: PluginRow) -> PluginRow:
        """The row with what is wrong now."""
        mine = (problem for problem in self._problems if problem.plugin == row.name)
        problems = [f"{problem.file}: {problem.sentence}".removeprefix(": ") for problem in mine]
        for tool in self._tools_of(row.name):
            if isinstance(tool, KotobaTool):
                problems += [f"{tool.name}: {remark}" for remark in tool.remarks()]
        problems += self._remarks(row.name)
        missing = tuple(self._missing(row.name))
        return replace(row, problems=tuple(problems), missing_keys=missing, withheld=self._why_withheld(row))

    def _why_withheld(self, row: PluginRow) -> str:
        """A plugin of which nothing could be imported is as good as quarantined; each start tries it again."""
        if row.name in self._withheld or row.tools or not row.is_on:
            return self._withheld.get(row.name, "")
        failures = (load_failure(problem, row.name) for problem in self._problems)
        return next((failure.value for failure in failures if failure is not None), "")

    def _missing(self, plugin: str) -> list[str]:
        """Keys that are asked for in vain: all of them when a check says no, else those that nothing stands in for."""
        tools = self._tools_of(plugin)
        says_no = any(isinstance(tool, KotobaTool) and tool.why_unavailable() for tool in tools)
        has_checks = any(isinstance(tool, KotobaTool) and tool.has_check for tool in tools)
        if not tools or (has_checks and not says_no):
            return []
        return [key.name for key in self._asked(plugin) if key.is_needed and not self._has_key(plugin, key.name)]

    # ---------------------------------------------------------------------------------------------- private

    def _tools_of(self, plugin: str) -> list[KotobaTool | PluginTool]:
        found: list[KotobaTool | PluginTool] = [*self._modules.tools, *self._tools.tools]
        return [tool for tool in found if tool.origin == f"plugin:{plugin}"]

    def _tool_details(self, tool: KotobaTool | PluginTool) -> ToolDetails:
        lines = tool.voice_lines
        voice = {
            "announce": lines.announce,
            "heartbeat": list(lines.heartbeat),
            "complete": lines.complete,
            "fail": lines.fail,
        }
        return ToolDetails(
            name=tool.name,
            risk=tool.risk.value,
            why_risk=_why_risk(tool),
            private_chats=_in_private_chats(tool) or "in a private chat it runs",
            why_not=tool.why_unavailable(),
            voice=voice,
        )

    def _sources(self, plugin: str) -> list[Any]:
        try:
            return self._files.sources(plugin)
        except OSError:
            return []

    def _asked(self, plugin: str) -> tuple[AskedKey, ...]:
        return asked_keys(self._sources(plugin))

    def _named_in_switched_off(self, tool_name: str) -> Iterable[str]:
        """Which plugin that is off, or left out, has that tool cannot be known: nobody has looked. Its text tells."""
        quoted = (f'"{tool_name}"', f"'{tool_name}'")
        for row in self.rows():
            if row.is_on and not row.withheld:
                continue
            if row.withheld:
                how, then = f"is not loaded ({row.withheld})", f"appliance plugin info {row.name} says why"
            else:
                how, then = "is switched off", f"appliance plugin on {row.name} switches it on"
            for path in self._sources(row.name):
                text = path.read_text(encoding="utf-8", errors="replace")
                if path.stem == tool_name or any(form in text for form in quoted):
                    yield f"the plugin {row.name}, which {how}, names it in {path.name}: {then}"
                    break


def load_failure(problem: LoadProblem, plugin: str) -> Withheld | None:
    """What it says of a file of the plugin that could not be loaded; None when it says something else."""
    if problem.plugin != plugin or not problem.sentence.startswith("it is not loaded"):
        return None
    return Withheld.CHANGED if pinned.says_changed(problem.sentence) else Withheld.QUARANTINED


def _about_unavailable(tool: Tool) -> Iterable[str]:
    if isinstance(tool, KotobaTool | PluginTool) and tool.why_unavailable():
        yield tool.why_unavailable()


def _how_to_keep(plugin: str, key: str) -> str:
    return f"there is no {key}, which its code asks for; appliance credential set {plugin} {key} keeps one"


def _why_risk(tool: KotobaTool | PluginTool) -> str:
    if isinstance(tool, KotobaTool):
        return "its author says so" if tool.has_risk else "its author says nothing, which means that it only reads"
    if tool.facts.judged is not None:
        return f"you say so, in tools.risks; its code looks like {tool.facts.derived.risk}"
    return tool.facts.derived.reason


def _in_private_chats(tool: KotobaTool | PluginTool) -> str:
    """Half a sentence when it does not run there; "" when it does."""
    if isinstance(tool, KotobaTool):
        return "in a private chat it is refused: it uses the network" if tool.risk is Risk.NETWORK else ""
    return "in a private chat it is refused, by its flag is_local" if tool.why_not_private() else ""


def _setting(entry: SettingField, settings: Mapping[str, Any]) -> SettingDetails:
    value = settings.get(entry.key)
    if entry.is_secret:
        value = "set" if value else "not set"
    texts = (entry.raw.get("help"), entry.raw.get("label"))
    help_text = next((text for text in texts if isinstance(text, str)), "")
    return SettingDetails(entry.key, entry.type, value, help_text, entry.is_secret, form_of(entry))
