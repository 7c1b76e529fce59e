"""Imports obey the layers of the architecture: a module imports only lower ones, siblings meet through ports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "appliance"

#: Lowest first; names in one row are siblings and do not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("clock", "audio", "durable", "promptness", "spare_memory"),
    ("events",),
    ("ports_speaking",),
    ("ports", "control"),
    (
        "ports_think",
        "ports_face",
        "ports_pictures",
        "ports_privacy",
        "ports_sandbox",
        "ports_logs",
        "ports_service",
        "ports_doctor",
        "ports_hearing",
    ),
    ("bus",),
    ("catalogue", "config", "config_file", "home", "hub", "name_lists", "crash_file", "watchdog"),
    ("models", "spare_home"),
    ("store", "network"),
    ("tools",),
    ("approve", "listen", "think", "speak", "face"),
    ("contracts", "install", "device", "keeping"),
    ("turn", "trace", "controls", "device_news", "ears", "soul_settings", "memory_watch"),
    ("memory", "log_ring", "crash_guard"),
    ("first_request",),
    ("drafts", "warm_model"),
    ("assistant_parts",),
    ("thinking",),
    ("assistant",),
    (
        "ringing",
        "pressing",
        "overhearing",
        "barge_in",
        "echo_record",
        "service_records",
        "service_pictures",
        "service_approval",
        "service_answers",
        "service_toolsets",
        "live_settings",
        "box",
    ),
    (
        "service",
        "service_plugins",
        "service_plugin_pages",
        "service_installs",
        "service_logs",
        "service_names",
        "records",
        "doctor",
    ),
    ("assembly_ground",),
    ("assembly_plugins",),
    ("assembly_parts",),
    ("assembly_duplex",),
    ("assembly_doctor", "assembly_think"),
    ("assembly",),
    ("wiring_duplex",),
    (
        "wiring_ears",
        "wiring_faces",
        "wiring_board",
        "wiring_hearing",
        "wiring_listening",
        "wiring_speaking",
        "wiring_speech",
        "wiring_growth",
        "wiring_wake",
        "wiring_service",
        "wiring_doctor",
        "wiring_keeping",
    ),
    ("wiring", "testing"),
    ("wiring_setup", "wiring_installs", "wiring_turns"),
    ("panel",),
    ("bench",),
    ("cli",),
)
_LEVEL = {name: level for level, row in enumerate(LAYERS) for name in row}

#: An adapter knows the needs it meets and no more; a fake stands in for anything below the assistant.
_ADAPTERS_REACH = _LEVEL["ports_think"]
_FAKES_REACH = _LEVEL["assistant"] - 1
#: Who may name adapters; everybody else is handed them.
_ADAPTERS_ALLOWED_IN = (
    "wiring",
    "wiring_duplex",
    "wiring_ears",
    "wiring_faces",
    "wiring_board",
    "wiring_hearing",
    "wiring_listening",
    "wiring_speaking",
    "wiring_speech",
    "wiring_growth",
    "wiring_wake",
    "wiring_service",
    "wiring_doctor",
    "wiring_setup",
    "wiring_installs",
    "wiring_keeping",
    "wiring_turns",
    "testing",
)

#: Third-party libraries that any layer may use: arithmetic on samples, a file format, no outside thing.
_COMMON_LIBRARIES = frozenset({"numpy", "soxr", "tomlkit"})
#: What the interface of an adapter's library is made of.
_COMPANIONS = {"hassil": "yaml", "piper": "onnxruntime", "faster_whisper": "ctranslate2"}
#: The author's kit is a plugin of pytest; the benchmark drives a peer in an environment that is the peer's; the page is
#: made of its server's library, and is itself imported late.
_OWN_LIBRARIES = {"pytest": "testing", "pipecat": "bench", "starlette": "panel", "uvicorn": "panel"}
#: What speaks HTTP: for the network alone, and for the benchmark that compares it with them.
_HTTP_LIBRARIES = frozenset({"httpx", "requests", "urllib3"})
_HTTP_SPEAKERS = ("network", "bench")
#: Other ways to HTTP than the one door.
_HTTP_MODULES = frozenset({"http.client", "urllib.request", "socketserver"})


@dataclass(frozen=True)
class Import:
    """One imported module, and where."""

    module: str
    line: int
    is_late: bool
    is_for_types: bool


def test_every_module_imports_only_lower_layers() -> None:
    wrong = [
        f"appliance/{path.relative_to(PACKAGE)}:{fault}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for fault in faults(path.relative_to(PACKAGE), path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "imports that break the layers of the architecture:\n  " + "\n  ".join(wrong)


def test_every_part_of_the_package_has_a_layer() -> None:
    parts = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__", "adapters"} <= set(_LEVEL), "new parts need a place in LAYERS"


def test_an_import_upwards_is_found_even_inside_a_function() -> None:
    source = "def speak():\n    from appliance.think.brain import Brain\n"
    assert faults(Path("store/documents.py"), source) == [
        "2: store imports appliance.think, which is above it",
    ]


def test_an_import_of_a_sibling_is_found() -> None:
    assert faults(Path("speak/narrator.py"), "import appliance.listen.ear") == [
        "1: speak imports appliance.listen, its sibling; they meet through ports",
    ]
    assert faults(Path("speak/narrator.py"), "from appliance import face") == [
        "1: speak imports appliance.face, its sibling; they meet through ports",
    ]


def test_naming_an_adapter_outside_the_wiring_is_found() -> None:
    source = "from appliance.adapters.whisper import Whisper"
    assert faults(Path("cli/say.py"), source) == ["1: cli names an adapter; only wiring does"]
    assert faults(Path("wiring.py"), source) == []


def test_an_adapter_that_knows_more_than_ports_is_found() -> None:
    assert faults(Path("adapters/whisper.py"), "from appliance.config import load") == [
        "1: an adapter imports appliance.config, which is above its reach",
    ]
    assert faults(Path("adapters/whisper.py"), "from appliance.adapters.fakes.face import FakeFace") == [
        "1: an adapter imports a fake",
    ]


def test_an_adapter_with_two_libraries_is_found() -> None:
    source = "def load():\n    import piper\ndef write():\n    import soundfile, numpy\n"
    assert faults(Path("adapters/piper.py"), source) == ["4: an adapter has one library, not piper and soundfile"]


def test_a_library_outside_the_adapters_is_found() -> None:
    assert faults(Path("speak/voice.py"), "def load():\n    import piper\n") == [
        "2: piper is a library of an adapter",
    ]
    assert faults(Path("adapters/piper.py"), "import piper") == ["1: piper is imported at the top, which slows --help"]
    assert faults(Path("adapters/piper.py"), "if TYPE_CHECKING:\n    import piper\n") == []


def test_http_outside_the_network_package_is_found() -> None:
    assert faults(Path("tools/fetch.py"), "def get():\n    import urllib.request\n") == [
        "2: urllib.request is HTTP; only network speaks it",
    ]
    assert faults(Path("adapters/hub.py"), "def get():\n    import httpx\n") == [
        "2: httpx is HTTP; only network speaks it"
    ]
    assert faults(Path("tools/weather.py"), "import requests.sessions\n") == [
        "1: requests.sessions is HTTP; only network speaks it"
    ]
    assert faults(Path("network/door.py"), "def get():\n    import httpx\n") == []


def faults(path: Path, source: str) -> list[str]:
    """What is wrong with the imports of a file of the package; each with its line."""
    found = list(imports(source))
    part = path.parts[0].removesuffix(".py")
    wrong = [_layer_fault(path, part, item) or _library_fault(part, item) for item in found]
    named = [f"{item.line}: {fault}" for item, fault in zip(found, wrong, strict=True) if fault]
    if part == "adapters":
        named += _too_many_libraries(found)
    return named


def imports(source: str) -> Iterator[Import]:
    """Every import of a file, those inside functions too."""
    pending: list[tuple[ast.AST, bool, bool]] = [(ast.parse(source), False, False)]
    while pending:
        node, is_late, is_for_types = pending.pop(0)
        match node:
            case ast.Import(names=names):
                yield from (Import(name.name, node.lineno, is_late, is_for_types) for name in names)
            case ast.ImportFrom(module="appliance", names=names, level=0):
                yield from (Import(f"appliance.{name.name}", node.lineno, is_late, is_for_types) for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield Import(module, node.lineno, is_late, is_for_types)
            case ast.ImportFrom():
                yield Import("appliance.(relative)", node.lineno, is_late, is_for_types)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                is_late = True
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                is_for_types = True
        pending += [(child, is_late, is_for_types) for child in ast.iter_child_nodes(node)]


def _layer_fault(path: Path, part: str, item: Import) -> str:
    if not item.module.startswith("appliance."):
        return ""
    target = item.module.split(".")[1]
    if target == "adapters":
        return _adapter_fault(path, part, item)
    if target == part or target.startswith("__"):
        return ""
    if target not in _LEVEL or part not in {*_LEVEL, "adapters", "__init__"}:
        return f"{part} or {target} has no place in LAYERS"
    if part == "adapters":
        kind, reach = ("a fake", _FAKES_REACH) if path.parts[1] == "fakes" else ("an adapter", _ADAPTERS_REACH)
        return f"{kind} imports appliance.{target}, which is above its reach" if _LEVEL[target] > reach else ""
    if part == "__init__" or _LEVEL[target] > _LEVEL[part]:
        return f"{part} imports appliance.{target}, which is above it"
    if _LEVEL[target] == _LEVEL[part]:
        return f"{part} imports appliance.{target}, its sibling; they meet through ports"
    return ""


def _adapter_fault(path: Path, part: str, item: Import) -> str:
    if part == "adapters":
        names_fake = item.module.startswith("appliance.adapters.fakes")
        return "an adapter imports a fake" if names_fake and path.parts[1] != "fakes" else ""
    return "" if part in _ADAPTERS_ALLOWED_IN else f"{part} names an adapter; only wiring does"


def _library_fault(part: str, item: Import) -> str:
    library = item.module.split(".")[0]
    if library in _HTTP_LIBRARIES or item.module in _HTTP_MODULES:
        return "" if part in _HTTP_SPEAKERS else f"{item.module} is HTTP; only network speaks it"
    if not _is_library(library):
        return ""
    if _OWN_LIBRARIES.get(library) == part:
        return ""
    if part != "adapters":
        return f"{library} is a library of an adapter"
    if not (item.is_late or item.is_for_types):
        return f"{library} is imported at the top, which slows --help"
    return ""


def _too_many_libraries(found: list[Import]) -> list[str]:
    lines = {library: item.line for item in reversed(found) if _is_library(library := item.module.split(".")[0])}
    for library in [*lines]:
        lines.pop(_COMPANIONS.get(library, ""), None)
    if len(lines) < 2:
        return []
    *_, line = sorted(lines.values())
    return [f"{line}: an adapter has one library, not {' and '.join(sorted(lines))}"]


def _is_library(name: str) -> bool:
    return name not in sys.stdlib_module_names and name not in {"appliance", *_COMMON_LIBRARIES}
