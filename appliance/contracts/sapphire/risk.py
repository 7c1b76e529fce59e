"""The risk of a plugin tool, read off its source: this contract has no word for it.

What is looked at is the tool's file and every file of the plugin that it names in an import. It is a reading, not a
wall: code that wants to hide what it does can. The owner may judge otherwise in ``tools.risks``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.contracts import pinned
from appliance.contracts.sapphire.exports import Flags
from appliance.contracts.syntax import parsed
from appliance.tools.tool import Risk

#: Start other programs, or run code that nobody has read.
_EXEC_MODULES = frozenset(
    {
        *("subprocess", "pty", "ctypes", "cffi", "runpy", "code", "multiprocessing", "popen2"),
        *("paramiko", "asyncssh", "fabric", "invoke", "pexpect", "ptyprocess", "plumbum", "sh", "docker"),
    }
)
_EXEC_CALLS = frozenset({"system", "popen", "fork", "forkpty", "startfile", "posix_spawn", "posix_spawnp"})
_EXEC_CALL_FAMILIES = ("exec", "spawn", "create_subprocess")
_EXEC_CALLERS = frozenset({"os", "asyncio", "posix"})
_CODE_BUILTINS = frozenset({"exec", "eval", "compile", "__import__"})
#: Reach another machine.
_NETWORK_MODULES = frozenset(
    {
        *("socket", "ssl", "http", "urllib", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "nntplib"),
        *("xmlrpc", "socketserver", "asyncore", "webbrowser"),
        *("requests", "urllib3", "httpx", "aiohttp", "websocket", "websockets", "pycurl", "zeroconf", "dns"),
        *("paho", "aiomqtt", "zmq", "grpc", "telethon", "telegram", "discord", "slack_sdk", "tweepy", "bit"),
        *("openai", "anthropic", "google", "googleapiclient", "boto3", "mcp", "serpapi", "feedparser", "yt_dlp"),
    }
)
_NETWORK_CORE_MODULES = frozenset({"core.net", "core.socks_proxy"})
#: Part of ``urllib`` that stays at home.
_HARMLESS_MODULES = frozenset({"urllib.parse"})

_SEVERITY = (Risk.READ, Risk.WRITE, Risk.NETWORK, Risk.EXEC)


@dataclass(frozen=True)
class DerivedRisk:
    """A risk with the reason for it, for the owner."""

    risk: Risk
    reason: str

    def at_least(self, other: DerivedRisk) -> DerivedRisk:
        """The graver of the two."""
        return other if _SEVERITY.index(other.risk) > _SEVERITY.index(self.risk) else self


def risk_of_file(folder: Path, file: Path) -> DerivedRisk:
    """What a tool file can do, with the plugin's own files that it imports. Reads the disk; broken files count less."""
    found = DerivedRisk(Risk.WRITE, "it neither starts programs nor reaches other machines")
    pending, seen = [file], {file}
    neighbours = _neighbours(folder)
    while pending:
        path = pending.pop()
        try:
            tree = parsed(pinned.read(path))
        except (ImportError, OSError, SyntaxError, ValueError, RecursionError):
            continue  # it cannot be imported either
        for node in ast.walk(tree):
            sign = _sign(node)
            if sign is not None:
                place = f"{path.relative_to(folder)}, line {getattr(node, 'lineno', 0)}"
                found = found.at_least(DerivedRisk(sign[0], f"{sign[1]} ({place})"))
        named = {path for name in imported_names(tree) for part in name.split(".") for path in neighbours.get(part, ())}
        pending += named - seen
        seen |= named
    return found


def with_flags(derived: DerivedRisk, flags: Flags) -> DerivedRisk:
    """What the author's flags add: a tool that says it goes out does."""
    if flags.is_network:
        return derived.at_least(DerivedRisk(Risk.NETWORK, "its flag network is true"))
    if flags.is_local is not None and flags.is_local is not True:
        return derived.at_least(DerivedRisk(Risk.NETWORK, f"its flag is_local is {flags.is_local!r}"))
    return derived


def network_module(name: str) -> bool:
    """Whether what an import names reaches other machines."""
    sign = _sign_of_name(name)
    return sign is not None and sign[0] is Risk.NETWORK


def signs(tree: ast.AST) -> Iterator[tuple[Risk, str, int]]:
    """Everything in a file that says something about the risk: which, what it is in words, and its line."""
    for node in ast.walk(tree):
        sign = _sign(node)
        if sign is not None:
            yield (*sign, getattr(node, "lineno", 0))


def _neighbours(folder: Path) -> dict[str, list[Path]]:
    """Every Python file of a plugin by the name that an import has for it."""
    files: dict[str, list[Path]] = {}
    for path in folder.rglob("*.py"):
        if "tests" not in path.relative_to(folder).parts:
            files.setdefault(path.parent.name if path.stem == "__init__" else path.stem, []).append(path)
    return files


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Every dotted name in an import, and every text that may be one for ``importlib``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("plugins."):
            yield node.value


def _sign(node: ast.AST) -> tuple[Risk, str] | None:
    """What one piece of code says about the risk."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _sign_of_import(node)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in _EXEC_CALLERS:
        if _is_exec_call(node.attr):
            return Risk.EXEC, f"it uses {node.value.id}.{node.attr}"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CODE_BUILTINS:
        return Risk.EXEC, f"it calls {node.func.id}()"
    return None


def _sign_of_import(node: ast.Import | ast.ImportFrom) -> tuple[Risk, str] | None:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.level:
        return None
    else:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    signs = [sign for sign in map(_sign_of_name, names) if sign is not None]
    return max(signs, key=lambda sign: _SEVERITY.index(sign[0]), default=None)


def _sign_of_name(name: str) -> tuple[Risk, str] | None:
    root, _, rest = name.partition(".")
    if root in _EXEC_MODULES or (root in _EXEC_CALLERS and _is_exec_call(rest)):
        return Risk.EXEC, f"it imports {name}"
    two = ".".join(name.split(".")[:2])
    if two in _NETWORK_CORE_MODULES or (root in _NETWORK_MODULES and two not in _HARMLESS_MODULES):
        return Risk.NETWORK, f"it imports {name}"
    return None


def _is_exec_call(name: str) -> bool:
    return name in _EXEC_CALLS or name.startswith(_EXEC_CALL_FAMILIES)
