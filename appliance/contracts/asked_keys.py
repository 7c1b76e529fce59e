"""Which keys a plugin asks for, read off its source: what it names in ``os.getenv`` and the like.

A name that is put together at run time is not found; nothing here runs the plugin's code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from appliance.contracts.syntax import parsed

#: What every process has, or may have without anybody's doing.
_COMMON = re.compile(
    r"HOME|PATH|USER|LANG|LC_\w+|PWD|SHELL|TERM|TMPDIR|DISPLAY|XDG_\w+|PYTHON\w+|APPLIANCE_\w+|\w+_PROXY"
)
#: Getters of ``core.credentials_manager`` and the name that each reads.
_GETTERS = {"get_ha_token": "HA_TOKEN", "get_ssh_servers": "SSH_SERVERS"}
_SERVICE_GETTERS = ("get_service_api_key", "get_llm_api_key")


@dataclass(frozen=True)
class AskedKey:
    """A key by its name, and whether the plugin has nothing to use instead."""

    name: str
    is_needed: bool


def asked_keys(files: Iterable[Path]) -> tuple[AskedKey, ...]:
    """The keys in the order of their names. Reads the disk; a file that cannot be read asks for nothing."""
    found: dict[str, bool] = {}
    for file in files:
        try:
            tree = parsed(file.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for name, is_needed in _asked(tree):
            if not _COMMON.fullmatch(name):
                found[name] = found.get(name, False) or is_needed
    return tuple(AskedKey(name, found[name]) for name in sorted(found))


def service_key_name(service: str) -> str:
    """The name under which the key of a service is kept."""
    return re.sub(r"[^A-Z0-9]+", "_", service.upper()).strip("_") + "_API_KEY"


def _asked(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    constants = _constants(tree)
    replaced = {id(node) for whole in ast.walk(tree) for node in _replaced(whole)}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=getter)) if getter in _GETTERS:
                yield _GETTERS[getter], True
            case ast.Call(func=ast.Attribute(attr=getter), args=[ast.Constant(value=str(service)), *_]) if (
                getter in _SERVICE_GETTERS
            ):
                yield service_key_name(service), True
            case ast.Call(args=[first, *others]) if _reads_environment(node.func):
                is_needed = not others and not node.keywords and id(node) not in replaced
                yield from ((name, is_needed) for name in _name(first, constants))
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if _is_environment(value):
                yield from ((name, True) for name in _name(key, constants))
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[value]) if _is_environment(value):
                yield from ((name, True) for name in _name(key, constants))


def _reads_environment(function: ast.expr) -> bool:
    match function:
        case ast.Name(id="getenv") | ast.Attribute(attr="getenv"):
            return True
        case ast.Attribute(attr="get", value=value):
            return _is_environment(value)
    return False


def _is_environment(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and getattr(node, "attr", getattr(node, "id", "")) == "environ"


def _replaced(node: ast.AST) -> list[ast.expr]:
    """``os.getenv("X") or "something"``: what the last part stands in for."""
    match node:
        case ast.BoolOp(op=ast.Or(), values=[*others, ast.Constant(value=value)]) if value:
            return others
    return []


def _constants(tree: ast.Module) -> dict[str, str]:
    """Names at the top of a file that stand for one text."""
    return {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def _name(node: ast.expr, constants: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name) and node.id in constants:
        yield constants[node.id]
