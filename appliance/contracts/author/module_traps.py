"""The silent traps of the tool-module contract, each in a sentence."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from appliance.contracts.author.findings import Finding, Report
from appliance.contracts.author.schema_traps import check_name, check_schema
from appliance.contracts.author.source import Source, blocking_calls
from appliance.contracts.author.trial import loaded_value
from appliance.contracts.kotoba.module_tool import KotobaTool
from appliance.contracts.sapphire.risk import risk_of_file
from appliance.tools.tool import Risk

_FIRST_BEAT_SECONDS = 9
_LONG_SECONDS = 120
_LINES = ("ANNOUNCE", "HEARTBEAT", "COMPLETE", "FAIL")
_EMITTED = ("focus", "fail")
#: A module with one of these means to be a tool.
_SIGNS_OF_A_TOOL = ("RISK", "ANNOUNCE", "HEARTBEAT", "EXPRESSIONS", "INTERACTIVE")


def check_skipped(source: Source, report: Report) -> None:
    """A file from which no tool came: whether it meant to be one."""
    file = source.path.name
    if source.tree is None:
        return  # loading has said that already
    has_execute = source.function("execute") is not None
    if source.assigns("SCHEMA"):
        report(Finding(file, "its SCHEMA is not a dict, so the file is skipped without a word: it is no tool"))
    elif source.assigns("TOOLS") and has_execute:
        sentence = (
            "it has TOOLS and no SCHEMA: that is the other contract, which wants a plugin.json beside a tools folder"
        )
        report(Finding(file, sentence))
    elif has_execute or any(map(source.assigns, _SIGNS_OF_A_TOOL)):
        report(Finding(file, "it has no SCHEMA, so the file is skipped without a word: it is no tool"))
    else:
        report(Finding(file, "a helper: it has no SCHEMA, and is no tool", is_fault=False))


def check_module(tool: KotobaTool, module: Any, source: Source, report: Report) -> None:
    """A module that is a tool. What loading remarks is not repeated here."""
    _check_schema(tool, module, source, report)
    _check_execute(tool, module, source, report)
    _check_check(module, source, report)
    _check_risk(tool, source, report)
    _check_voice(tool, module, source, report)
    _check_time(tool, module, source, report)
    _check_small_print(tool, module, source, report)


def _check_schema(tool: KotobaTool, module: Any, source: Source, report: Report) -> None:
    file, declared = source.path.name, loaded_value(module, "SCHEMA")
    if isinstance(declared, Mapping):
        if isinstance(declared.get("function"), Mapping):
            sentence = 'SCHEMA has all below "function", which is another API\'s form: put it at the top'
            report(Finding(file, sentence))
        if not declared.get("name"):
            report(Finding(file, f"SCHEMA has no name, so the tool is called {tool.name}, as its file", is_fault=False))
        elif declared["name"] != source.path.stem:
            sentence = f"the tool is called {tool.name}, not {source.path.stem} as its file: the name in SCHEMA counts"
            report(Finding(file, sentence, is_fault=False))
    check_name(file, tool.name, report)
    try:
        check_schema(file, tool.name, tool.schema(), report)
    except ValueError:
        return  # loading has said that already


def _check_execute(tool: KotobaTool, module: Any, source: Source, report: Report) -> None:
    execute, file = loaded_value(module, "execute"), source.path.name
    node = source.function("execute")
    line = node.lineno if node is not None else 0
    if loaded_value(module, "BUILT_IN"):
        report(
            Finding(
                file, "BUILT_IN is True, so its execute is never called: the provider of the model runs it", line=line
            )
        )
        return
    if callable(execute):
        try:
            inspect.signature(execute).bind({}, None)
        except TypeError:
            report(Finding(file, "execute must take two arguments, (args, ctx): every call of it fails", line=line))
        except ValueError:
            pass  # nothing is known of it
    for name, instead, blocked in blocking_calls(source):
        sentence = f"{name} inside a coroutine stops all other tool modules while it runs; use {instead}"
        report(Finding(file, sentence, is_fault=False, line=blocked))


def _check_check(module: Any, source: Source, report: Report) -> None:
    check, file = loaded_value(module, "check"), source.path.name
    if check is None:
        return
    if not callable(check):
        report(Finding(file, "check is not a function, so asking it fails and the tool is never offered"))
        return
    if inspect.iscoroutinefunction(check):
        report(Finding(file, "check is an async def, which is never awaited: it counts as yes; make it a plain def"))
        return
    try:
        inspect.signature(check).bind()
    except TypeError:
        report(Finding(file, "check must take no arguments: asking it fails, and the tool is never offered"))
    except ValueError:
        return


def _check_risk(tool: KotobaTool, source: Source, report: Report) -> None:
    derived = risk_of_file(source.path.parent, source.path)
    if derived.risk in (Risk.EXEC, Risk.NETWORK) and tool.risk is Risk.READ:
        sentence = f"RISK is read, but its code looks like {derived.risk}: {derived.reason}; say what is true"
        report(Finding(source.path.name, sentence, is_fault=False))


def _check_voice(tool: KotobaTool, module: Any, source: Source, report: Report) -> None:
    file = source.path.name
    if not any(loaded_value(module, line) for line in _LINES):
        sentence = f"it has none of {', '.join(_LINES)}: the box says nothing around {tool.name}"
        report(Finding(file, sentence, is_fault=False))
    for line in ("ANNOUNCE", "COMPLETE", "FAIL"):
        text = loaded_value(module, line)
        if isinstance(text, str) and text.strip() and text.strip()[-1] not in ".!?…:":
            report(Finding(file, f"{line} does not end like a sentence (. ! ?)", is_fault=False))
    faces = loaded_value(module, "EXPRESSIONS")
    for key in faces if isinstance(faces, Mapping) else ():
        if key not in _EMITTED:
            sentence = f"EXPRESSIONS has {key!r}, which is read by nothing: only focus and fail are shown"
            report(Finding(file, sentence, is_fault=False))


def _check_time(tool: KotobaTool, module: Any, source: Source, report: Report) -> None:
    file = source.path.name
    timeout, longest = loaded_value(module, "TIMEOUT"), loaded_value(module, "MAX_TIMEOUT")
    follows = bool(loaded_value(module, "ARG_TIMEOUT"))
    if isinstance(timeout, int | float) and timeout > _LONG_SECONDS:
        sentence = f"TIMEOUT is {timeout} s: a person who waits that long has gone; ask for less, or report and go on"
        report(Finding(file, sentence, is_fault=False))
    if isinstance(timeout, int | float) and 0 < timeout <= _FIRST_BEAT_SECONDS and loaded_value(module, "HEARTBEAT"):
        sentence = (
            f"TIMEOUT is {timeout} s, and the first HEARTBEAT comes after {_FIRST_BEAT_SECONDS} s: it is never said"
        )
        report(Finding(file, sentence, is_fault=False))
    if longest and not follows:
        report(Finding(file, "MAX_TIMEOUT has no effect without ARG_TIMEOUT = True", is_fault=False))
    if follows and not _has_timeout_argument(tool):
        report(Finding(file, "ARG_TIMEOUT is True, but the tool has no argument named timeout: every call gets 60 s"))


def _has_timeout_argument(tool: KotobaTool) -> bool:
    try:
        parameters = tool.schema().get("parameters")
    except ValueError:
        return True
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    return isinstance(properties, Mapping) and "timeout" in properties


def _check_small_print(tool: KotobaTool, module: Any, source: Source, report: Report) -> None:
    file = source.path.name
    if loaded_value(module, "TOOLSET"):
        sentence = f"TOOLSET is ignored: the toolset is always {tool.toolset}, so that the plugin's switch governs it"
        report(Finding(file, sentence, is_fault=False))
    if loaded_value(module, "INTERACTIVE") and not _asks(source):
        sentence = "INTERACTIVE takes the time limit away, but the file asks nobody anything: a call may hang for ever"
        report(Finding(file, sentence, is_fault=False))


def _asks(source: Source) -> bool:
    words = {"ask_approval", "confirm", "request_input", "request_approval", "open_input_card", "open_link_card"}
    nodes = ast.walk(source.tree) if source.tree is not None else ()
    return any(
        {getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", "")} & words for node in nodes
    )
