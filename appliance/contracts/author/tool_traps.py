"""The silent traps of the plugin-tool contract, each in a sentence."""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from appliance.contracts.author.findings import Finding, Report
from appliance.contracts.author.schema_traps import check_name, check_schema
from appliance.contracts.author.source import Source, returns_no_pair
from appliance.contracts.author.trial import loaded_value
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, Manifest
from appliance.contracts.sapphire.plugin_tool import BUDGET_SETTING, PluginTool
from appliance.contracts.sapphire.voice import VOICE_SETTING
from appliance.tools.tool import Risk

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_FIFTH = "credentials"
_RAW_HTTP = ("requests", "httpx", "urllib3", "aiohttp")


def check_manifest(manifest: Manifest, folder: Path, report: Report) -> None:
    """``plugin.json``. What reading it remarks is not repeated here."""

    def say(sentence: str, *, is_fault: bool = False) -> None:
        report(Finding(MANIFEST_FILE, sentence, is_fault=is_fault))

    for field in ("version", "description"):
        if not getattr(manifest, field):
            say(f"it has no {field}, without which other hosts do not install it")
    if not manifest.tool_files:
        say(
            "capabilities.tools is empty, so no tool is loaded; name each file there, such as tools/x.py", is_fault=True
        )
    if not manifest.is_on_by_default:
        say(f"default_enabled is not true: it stays off until somebody runs appliance plugin on {manifest.name}")
    for path in sorted((folder / "tools").glob("*.py")):
        relative = f"tools/{path.name}"
        if relative not in manifest.tool_files and not path.name.startswith("_"):
            say(f"{relative} is not in capabilities.tools, so it offers nothing")
    if manifest.not_used:
        say(f"this box does nothing with: {', '.join(manifest.not_used)}")
    _check_settings(manifest, say_fault=lambda sentence: say(sentence, is_fault=True), say=say)


def _check_settings(manifest: Manifest, *, say_fault: Any, say: Any) -> None:
    keys = [field.key for field in manifest.settings]
    for key in sorted({key for key in keys if keys.count(key) > 1}):
        say_fault(f"two settings have the key {key}")
    for field in manifest.settings:
        if "default" not in field.raw and not field.is_secret:
            say(f"the setting {field.key} has no default: a tool that reads it finds nothing until it is set")
        if field.key in (VOICE_SETTING, BUDGET_SETTING):
            say(f"the setting {field.key} means something to this box: lines around the tools, seconds for one call")
        if field.is_secret and field.raw.get("default"):
            say_fault(f"the setting {field.key} is a secret with a default: everybody who has the plugin has it too")


def check_file(module: Any, tools: Iterable[PluginTool], file: str, source: Source, report: Report) -> None:
    """A tool file that was loaded. What loading remarks is not repeated here."""
    found = list(tools)
    _check_names(module, {tool.name for tool in found}, file, report)
    _check_execute(module, file, source, report)
    _check_get_tools(module, file, report)
    for tool in found:
        check_name(file, tool.name, report)
        if not isinstance(tool.entry.schema, str):
            check_schema(file, tool.name, tool.entry.schema, report)
        _check_flags(tool, file, report)
    _check_network(source, file, report)


def check_form(source: Source, file: str, report: Report) -> None:
    """Whether it is a tool file at all."""
    if source.assigns("SCHEMA") and not source.assigns("TOOLS"):
        sentence = "it has SCHEMA and no TOOLS: that is the other contract, a folder of modules without plugin.json"
        report(Finding(file, sentence))


def _check_names(module: Any, loaded: set[str], file: str, report: Report) -> None:
    available = loaded_value(module, "AVAILABLE_FUNCTIONS")
    declared = _declared_names(module)
    if available is not None and not isinstance(available, list | tuple | set | frozenset):
        report(Finding(file, "AVAILABLE_FUNCTIONS is not a list of names, so it is ignored"))
        available = None
    names = {str(name) for name in available or ()}
    for name in sorted(names - declared):
        report(Finding(file, f"AVAILABLE_FUNCTIONS names {name}, which TOOLS does not have"))
    for name in sorted(declared - names if names else ()):
        report(
            Finding(file, f"TOOLS has {name}, but AVAILABLE_FUNCTIONS does not name it: it is left out without a word")
        )
    gates = loaded_value(module, "SETTINGS_GATED")
    for name in sorted(set(gates) - declared if isinstance(gates, Mapping) else ()):
        report(Finding(file, f"SETTINGS_GATED names {name}, which TOOLS does not have"))
    modes = loaded_value(module, "MODE_FILTER")
    if isinstance(modes, Mapping) and declared and not loaded and not names:
        report(Finding(file, "MODE_FILTER leaves no tool in the mode of this box, monolith"))


def _declared_names(module: Any) -> set[str]:
    found: set[str] = set()
    for raw in _declared(module):
        function = raw.get("function") if isinstance(raw, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            found.add(function["name"])
    return found


def _declared(module: Any) -> list[Any]:
    get_tools = loaded_value(module, "get_tools")
    declared = loaded_value(module, "TOOLS")
    if callable(get_tools) and not inspect.iscoroutinefunction(get_tools):
        with contextlib.suppress(Exception):  # loading has said that already
            declared = get_tools()
    return list(declared) if isinstance(declared, list | tuple) else []


def check_entries(module: Any, file: str, report: Report) -> None:
    """The shape of TOOLS."""
    for number, raw in enumerate(_declared(module), start=1):
        if isinstance(raw, Mapping) and not isinstance(raw.get("function"), Mapping) and raw.get("name"):
            sentence = (
                f"entry {number} of TOOLS ({raw['name']}) has its name at the top: that is another API's form; "
                'put name, description and parameters below "function"'
            )
            report(Finding(file, sentence))
        elif isinstance(raw, Mapping) and raw.get("type") != "function":
            report(Finding(file, f'entry {number} of TOOLS has not "type": "function"', is_fault=False))


def _check_execute(module: Any, file: str, source: Source, report: Report) -> None:
    execute, node = loaded_value(module, "execute"), source.function("execute")
    line = node.lineno if node is not None else 0
    if inspect.iscoroutinefunction(execute):
        report(Finding(file, "execute is an async def: it must be a plain def, and every call of it fails", line=line))
    if callable(execute):
        fault = _arity_fault(execute)
        if fault:
            report(Finding(file, fault, line=line))
    for what, place in returns_no_pair(node) if node is not None else ():
        sentence = f"execute returns {what} here and not (message, True or False): it counts as gone well"
        report(Finding(file, sentence, line=place))


def _arity_fault(execute: Any) -> str:
    """What is wrong with the parameters: what is passed goes by their number alone, and by position."""
    try:
        parameters = list(inspect.signature(execute).parameters.values())
    except (TypeError, ValueError):
        return ""
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    needed = [parameter for parameter in positional if parameter.default is parameter.empty]
    has_rest = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    given = min(max(len(parameters), 3), 5)
    if has_rest:
        return "execute has *args, which counts as one parameter: it gets three arguments, whatever it hopes for"
    if len(positional) < given:
        return (
            f"execute has {len(parameters)} parameters and gets {given} arguments by position, so every call fails; "
            "take (function_name, arguments, config), then plugin_settings, then credentials"
        )
    if len(needed) > 5:
        return f"execute wants {len(needed)} arguments and gets five at most, so every call fails"
    if len(positional) == 4 and positional[3].name == _FIFTH:
        return "the fourth parameter of execute is the settings, whatever it is called; credentials are the fifth"
    return ""


def _check_get_tools(module: Any, file: str, report: Report) -> None:
    get_tools, static = loaded_value(module, "get_tools"), loaded_value(module, "TOOLS")
    if not callable(get_tools):
        return
    if not isinstance(static, list | tuple) or not static:
        sentence = (
            "there is get_tools() and no static TOOLS: when it raises, nothing is left; write TOOLS = get_tools()"
        )
        report(Finding(file, sentence, is_fault=False))


def _check_flags(tool: PluginTool, file: str, report: Report) -> None:
    flags, name = tool.flags, tool.name

    def say(sentence: str, *, is_fault: bool = False) -> None:
        report(Finding(file, sentence, is_fault=is_fault))

    if flags.is_local is None:
        say(f'{name} has no is_local: in private chats it is refused; say True, False or "endpoint"')
    elif flags.is_local not in (True, False, "endpoint"):
        say(
            f'is_local of {name} is {flags.is_local!r}; it is True, False or "endpoint", all else is refused',
            is_fault=True,
        )
    if flags.is_local is True and flags.is_network:
        say(f"{name} says is_local and network: it cannot be both")
    elif flags.is_local is True and tool.facts.derived.risk is Risk.NETWORK:
        say(f"{name} says is_local, but its code can go out: {tool.facts.derived.reason}")
    if flags.is_hidden:
        say(f"{name} is hidden: only a saved toolset that names it offers it")


def _check_network(source: Source, file: str, report: Report) -> None:
    for node in ast.walk(source.tree) if source.tree is not None else ():
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] in _RAW_HTTP:
                sentence = f"{name} goes its own way; core.net takes the same calls and keeps to the owner's lanes"
                report(Finding(file, sentence, is_fault=False, line=getattr(node, "lineno", 0)))
