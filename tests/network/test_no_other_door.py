"""Everything that speaks to the network goes through the door; what does not stands here, with why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_layers import imports

ROOT = Path(__file__).resolve().parent.parent.parent

#: Modules that open connections, or libraries that do it behind one's back.
_DOORS = frozenset(
    {
        *("httpx", "httpcore", "requests", "urllib3", "aiohttp", "websockets", "websocket", "pycurl", "socks"),
        *("http.client", "http.server", "urllib.request", "xmlrpc.client", "ftplib", "smtplib", "imaplib", "poplib"),
        *("telnetlib", "nntplib", "socketserver", "huggingface_hub", "zeroconf", "paho", "paramiko"),
    }
)
#: Calls that do.
_CALLS = frozenset(
    {
        *("open_connection", "create_connection", "create_datagram_endpoint", "sock_connect", "start_server"),
        *("create_server", "urlopen", "urlretrieve", "hf_hub_download", "snapshot_download"),
    }
)
#: Programs that do.
_PROGRAMS = frozenset({"curl", "wget", "nc", "ssh", "scp", "git", "pip"})

#: The door itself, and who needs another one.
_ALLOWED = {
    "appliance/network/": "the door",
    "appliance/bench/": "compares the door with the bare library, on loopback",
    "appliance/adapters/control_socket.py": "a Unix socket",
    "appliance/adapters/control_client.py": "a Unix socket",
    "appliance/adapters/worker_socket.py": "a Unix socket",
    "appliance/adapters/service_manager.py": "a Unix socket",
    "appliance/install/git_clone.py": "git brings a repository, with the box's proxy in its environment",
    "appliance/panel/server.py": "the page, which only waits for the owner's browser, on loopback",
    "appliance/models.py": "pip fetches wheels, with the box's proxy in its environment",
    "plugins/lan_gear/gear/": "multicast and the kernel's tables in the house; HTTP goes through core.net",
}


def test_nothing_opens_a_connection_beside_the_door() -> None:
    files = [*(ROOT / "appliance").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): list(doors(path.read_text(encoding="utf-8"))) for path in files}
    others = {name: ways for name, ways in found.items() if ways and not name.startswith(tuple(_ALLOWED))}
    assert others == {}


def test_every_way_around_would_be_found() -> None:
    ways = (
        "import aiohttp",
        "def late():\n    from urllib import request",
        "from huggingface_hub import snapshot_download",
        "import socket\nsocket.create_connection(('a', 1))",
        "import socket\nsocket.socket(socket.AF_INET)",
        "async def get():\n    await asyncio.open_connection('a', 1)",
        "subprocess.run(['curl', 'http://a'])",
        "(sys.executable, '-m', 'pip', 'download')",
    )
    assert [way for way in ways if not list(doors(way))] == []
    assert list(doors("from urllib.parse import urlsplit\n'a pip is a seed'\nNAME = 'git'")) == []


def doors(source: str) -> Iterator[str]:
    """Ways to the network in a file."""
    for item in imports(source):
        parts = item.module.split(".")
        if {".".join(parts[: size + 1]) for size in range(len(parts))} & _DOORS:
            yield f"{item.line}: imports {item.module}"
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="urllib" | "http" | "xmlrpc", names=names, lineno=line):
                yield from (f"{line}: imports {name.name}" for name in names if name.name != "parse")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="socket"), attr="socket"), lineno=line):
                yield f"{line}: opens a socket"
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), lineno=line) if name in _CALLS:
                yield f"{line}: calls {name}"
            case ast.List(elts=words) | ast.Tuple(elts=words):
                yield from _commands(words)


def _commands(words: list[ast.expr]) -> Iterator[str]:
    """A list that reads like a command line, such as ``[sys.executable, "-m", "pip", …]``."""
    texts = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    is_command = texts[:1] == ["-m"] or (len(words) > 1 and texts and texts[0] in _PROGRAMS)
    yield from (f"{words[0].lineno}: runs {text}" for text in texts[:2] if is_command and text in _PROGRAMS)
