"""Looks at the source of a plugin for what can be seen without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from appliance.contracts.syntax import parsed

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

#: Calls that stop everybody else on the plugin loop, with what to use instead.
_BLOCKING = {
    f"{module}.{function}": instead
    for module, functions, instead in (
        ("time", ("sleep",), "await asyncio.sleep(…)"),
        ("subprocess", ("run", "check_output", "call"), "await asyncio.create_subprocess_exec(…)"),
        ("urllib.request", ("urlopen",), "await asyncio.to_thread(…)"),
        ("requests", ("get", "post", "put", "delete", "request"), "await asyncio.to_thread(…)"),
        ("httpx", ("get", "post", "put", "delete", "request"), "httpx.AsyncClient"),
    )
    for function in functions
}


@dataclass(frozen=True)
class Source:
    """A parsed file; ``tree`` is None when it is not Python."""

    path: Path
    tree: ast.Module | None

    @classmethod
    def read(cls, path: Path) -> Source:
        """Reads the disk."""
        try:
            return cls(path, parsed(path.read_bytes()))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return cls(path, None)

    def function(self, name: str) -> Function | None:
        """The function of that name at the top of the file."""
        for node in self.tree.body if self.tree is not None else []:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return node
        return None

    def assigns(self, name: str) -> bool:
        """Whether the top of the file gives that name a value."""
        for node in self.tree.body if self.tree is not None else []:
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return True
        return False


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """What is in a function, without the functions and classes inside it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def blocking_calls(source: Source) -> Iterator[tuple[str, str, int]]:
    """What blocks inside a coroutine: the call, what to use instead, and its line."""
    for function in ast.walk(source.tree) if source.tree is not None else []:
        if isinstance(function, ast.AsyncFunctionDef):
            for node in own_nodes(function):
                name = _dotted(node.func) if isinstance(node, ast.Call) else ""
                if isinstance(node, ast.Call) and name in _BLOCKING:
                    yield name, _BLOCKING[name], node.lineno


def returns_no_pair(function: Function) -> Iterator[tuple[str, int]]:
    """Returns that are certainly not (message, True or False), in words, with their lines."""
    is_returning = False
    for node in own_nodes(function):
        if isinstance(node, ast.Return):
            is_returning = True
            what = _no_pair(node.value)
            if what:
                yield what, node.lineno
    if not is_returning:
        yield "nothing", function.lineno


def _no_pair(value: ast.expr | None) -> str:
    match value:
        case None | ast.Constant(value=None):
            return "nothing"
        case ast.Constant(value=str()) | ast.JoinedStr():
            return "a text by itself"
        case ast.Dict():
            return "a dict by itself"
        case ast.Tuple(elts=elements) if len(elements) != 2:
            return f"a tuple of {len(elements)}"
        case ast.Tuple(elts=[_, ast.Constant(value=flag)]) if not isinstance(flag, bool):
            return f"{flag!r} in place of True or False"
    return ""


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{_dotted(value)}.{attr}".lstrip(".")
    return ""
