"""The tools of a plugin, read off its source: names, flags and risks that stand there plainly."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.contracts.kotoba.own_packages import FOLDER, entry_points_in
from appliance.contracts.sapphire.exports import Flags
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, Manifest
from appliance.contracts.sapphire.risk import risk_of_file, with_flags
from appliance.tools.tool import Risk

_LEGAL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
Trees = Mapping[str, ast.Module]
Complain = Callable[[str], None]


@dataclass(frozen=True)
class Found:
    """One tool, and the file that it is in."""

    name: str
    risk: Risk
    why_risk: str
    file: str


def module_tools(place: Path, trees: Trees, complain: Complain) -> tuple[list[Found], set[str]]:
    """The tool modules of a folder or lone file, and the files they are in."""
    found = [
        _module_tool(place, name, tree, Path(name).stem, complain)
        for name, tree in trees.items()
        if "/" not in name and not name.startswith((".", "_")) and _value(tree, "SCHEMA") is not None
    ]
    return found, {one.file for one in found}


def packaged_tools(place: Path, trees: Trees) -> list[Found]:
    """The tool modules that packages in the plugin's own folder offer."""
    found = []
    for point in entry_points_in(place) if place.is_dir() else ():
        path = point.module.replace(".", "/")
        names = (f"{FOLDER}/{path}.py", f"{FOLDER}/{path}/__init__.py")
        name = next((name for name in names if name in trees), "")
        if name:
            found.append(_module_tool(place, name, trees[name], point.name, lambda _sentence: None))
    return found


def plugin_tools(place: Path, manifest: Manifest, trees: Trees, complain: Complain) -> tuple[list[Found], set[str]]:
    """The tools of the files that a manifest names, and those files."""
    found: list[Found] = []
    for file in manifest.tool_files:
        tree = trees.get(file)
        if tree is None:
            if not (place / file).exists():
                complain(f"its {MANIFEST_FILE} names {file}, which is not there")
            continue
        derived = risk_of_file(place, place / file)
        entries = list(_entries(tree))
        if not entries or _value(tree, "get_tools", is_function=True) is not None:
            complain(f"{file} makes its tools while it runs, so not all of their names are known before")
        available = _texts(_value(tree, "AVAILABLE_FUNCTIONS"))
        for name, flags in entries or [(name, Flags()) for name in available]:
            if available and name not in available:
                continue
            judged = with_flags(derived, flags)
            found.append(Found(name, judged.risk, judged.reason, file))
            _check_name(name, complain)
    return found, set(manifest.tool_files)


def _module_tool(place: Path, name: str, tree: ast.Module, fallback: str, complain: Complain) -> Found:
    declared = _literal(_value(tree, "RISK"))
    tool = _literal(_key(_value(tree, "SCHEMA"), "name")) or fallback
    risk, why = Risk.READ, "its author says nothing, which means that it only reads"
    if declared:
        why = "its author says so"
        try:
            risk = Risk(declared.strip().lower() if isinstance(declared, str) else declared)
        except ValueError:
            risk, why = Risk.WRITE, f"its author says {declared!r}, which is no risk that is known"
    elif _value(tree, "RISK") is not None:
        risk, why = Risk.WRITE, "its author works it out while it runs"
    folder = place.parent if place.is_file() else place
    derived = risk_of_file(folder, folder / name)
    if risk is Risk.READ and derived.risk in (Risk.EXEC, Risk.NETWORK):
        complain(f"{tool} says that it only reads, but its code looks like {derived.risk}: {derived.reason}")
    _check_name(str(tool), complain)
    return Found(str(tool), risk, why, name)


def _check_name(name: str, complain: Complain) -> None:
    if not _LEGAL_NAME.fullmatch(name):
        complain(f"the tool's name {name[:80]!r} is not one that models take, so they get a changed one")


def _entries(tree: ast.Module) -> Iterator[tuple[str, Flags]]:
    """Name and flags of each entry of TOOLS that is written out."""
    tools = _value(tree, "TOOLS")
    for entry in tools.elts if isinstance(tools, ast.List | ast.Tuple) else ():
        name = _literal(_key(_key(entry, "function"), "name"))
        if isinstance(name, str) and name.strip():
            yield name, Flags(_literal(_key(entry, "is_local")), bool(_literal(_key(entry, "network"))))


def _value(tree: ast.Module, name: str, *, is_function: bool = False) -> ast.AST | None:
    """What the top of a file binds to a name; the last counts."""
    found: ast.AST | None = None
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets, value=value) if not is_function:
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    found = value
            case ast.AnnAssign(target=ast.Name(id=id_), value=ast.expr() as value) if not is_function and id_ == name:
                found = value
            case ast.FunctionDef(name=id_) | ast.AsyncFunctionDef(name=id_) if is_function and id_ == name:
                found = node
    return found


def _key(node: ast.AST | None, key: str) -> ast.AST | None:
    """The value of a key in a dict that is written out."""
    for name, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
        if isinstance(name, ast.Constant) and name.value == key:
            return value
    return None


def _literal(node: ast.AST | None) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _texts(node: ast.AST | None) -> list[str]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else []
    return [value for value in map(_literal, elements) if isinstance(value, str)]
