"""Checks one plugin: what it offers, what a model sees of it, and every trap it is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.contracts.asked_keys import asked_keys
from appliance.contracts.author import module_traps, tool_traps
from appliance.contracts.author.findings import Finding, Report
from appliance.contracts.author.source import Source
from appliance.contracts.author.trial import Trial, try_out
from appliance.contracts.kotoba.contract import LoadProblem
from appliance.contracts.listing import MODULE, TOOL
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, ManifestError, read_manifest
from appliance.ports import Json
from appliance.store.credentials import Credentials
from appliance.tools.tool import Tool


@dataclass(frozen=True)
class OfferedTool:
    """One tool as a model gets it; ``why_not`` says why it would not be offered now."""

    name: str
    risk: str
    schema: Mapping[str, Json]
    why_not: str = ""


@dataclass(frozen=True)
class CheckReport:
    """What ``plugin check`` found."""

    name: str
    contract: str
    offered: tuple[OfferedTool, ...]
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong; remarks do not count."""
        return not any(finding.is_fault for finding in self.findings)


async def check(path: Path, secrets: Credentials) -> CheckReport:
    """Load the plugin by itself and look at it. Raises ``UsageError`` when there is none in ``path``."""
    async with try_out(path, secrets) as trial:
        findings: list[Finding] = []
        _check_files(trial, findings.append)
        if trial.has_manifest:
            _check_tools(trial, findings.append)
        else:
            _check_modules(trial, findings.append)
        tools: list[Tool] = [*trial.modules.tools, *trial.tools.tools]
        offered = [_offered(tool) for tool in tools]
        if not offered and not any(finding.is_fault for finding in findings):
            findings.append(Finding(trial.copy.name, "it offers no tool at all"))
        _check_keys(trial, secrets, findings.append)
        contract = TOOL if trial.has_manifest else MODULE
    return CheckReport(trial.name, contract, tuple(offered), _in_order(findings))


def _check_files(trial: Trial, report: Report) -> None:
    """What lies where nobody looks."""
    if trial.copy.is_file():
        return
    for path in sorted(trial.copy.rglob("*.py")):
        relative = path.relative_to(trial.copy)
        if "tests" in relative.parts[:-1] or trial.has_manifest:
            continue
        is_skipped = relative.name.startswith((".", "_")) or len(relative.parts) > 1
        if is_skipped and Source.read(path).assigns("SCHEMA"):
            why = "lies in a folder of its own" if len(relative.parts) > 1 else "has a name that is skipped"
            report(Finding(str(relative), f"it has a SCHEMA but {why}, so it is no tool"))


def _check_modules(trial: Trial, report: Report) -> None:
    _report_problems(trial.modules.problems, report)
    tools = {_file_of(tool.module): tool for tool in trial.modules.tools}
    broken = {problem.file for problem in trial.modules.problems}
    files = [trial.copy] if trial.copy.is_file() else sorted(trial.copy.glob("*.py"))
    for path in files:
        tool = tools.get(str(path))
        if tool is not None:
            module_traps.check_module(tool, tool.module, Source.read(path), report)
        elif path.name not in broken and not path.name.startswith((".", "_")):
            module_traps.check_skipped(Source.read(path), report)


def _check_tools(trial: Trial, report: Report) -> None:
    _report_problems(trial.tools.problems, report)
    try:
        manifest = read_manifest(trial.copy)
    except ManifestError:
        return  # loading has said that already
    tool_traps.check_manifest(manifest, trial.copy, report)
    for file in manifest.tool_files:
        path = trial.copy / file
        source = Source.read(path)
        module = trial.tool_module(file)
        tool_traps.check_form(source, file, report)
        if module is None:
            continue
        if not getattr(module, "ENABLED", True):
            report(Finding(file, "ENABLED is False, so it offers nothing", is_fault=False))
            continue
        tool_traps.check_entries(module, file, report)
        mine = [tool for tool in trial.tools.tools if tool.facts.module is module]
        tool_traps.check_file(module, mine, file, source, report)


def _report_problems(problems: Iterable[LoadProblem], report: Report) -> None:
    for problem in problems:
        report(Finding(problem.file or MANIFEST_FILE, problem.sentence))


def _check_keys(trial: Trial, secrets: Credentials, report: Report) -> None:
    """What its code asks for and does not find here."""
    files = [trial.copy] if trial.copy.is_file() else sorted(trial.copy.rglob("*.py"))
    own = secrets.of_plugin(trial.name)
    for key in asked_keys(path for path in files if "tests" not in path.parts):
        if key.is_needed and key.name not in own and secrets.origin(key.name) != "environment":
            sentence = (
                f"its code asks for {key.name}, and there is none here: "
                f"appliance credential set {trial.name} {key.name} keeps one"
            )
            report(Finding(trial.copy.name, sentence, is_fault=False))


def _offered(tool: Tool) -> OfferedTool:
    try:
        schema = tool.schema()
    except ValueError as error:
        return OfferedTool(tool.name, tool.risk.value, {}, str(error))
    why_not = "" if tool.available() else str(getattr(tool, "why_unavailable", lambda: "")())
    return OfferedTool(tool.name, tool.risk.value, schema, why_not)


def _file_of(module: Any) -> str:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else ""


def _in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Faults first, each sentence about a file once."""
    once = dict.fromkeys(findings)
    return tuple(sorted(once, key=lambda finding: (not finding.is_fault, finding.file, finding.line)))
