"""The archive that an owner gives to somebody who helps: what is wrong, without secrets, sound or words.

Of stacks only files, lines and functions are kept, of log lines no quoted text and nothing that plugins wrote, of turns
only times. Whatever is in it has passed ``written``.
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import platform
import re
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from appliance import __version__
from appliance.config import Config
from appliance.crash_file import crash_files
from appliance.doctor.checks.service import FRAME
from appliance.ports import Json
from appliance.ports_doctor import Machine
from appliance.tools.redact import without_secrets

#: Folder of everything in the archive.
_FOLDER = "appliance-doctor"
_READ_ME = """\
What `appliance doctor --record` found. It holds no secrets, no sound, and nothing that anybody said:
of crashes it has files, lines and functions, of turns their times, of the log what the box itself reported.
Look through it before you give it away.
"""
#: Settings that tell about people; only whether they are set.
_PERSONAL = frozenset(("box.name", "box.place"))
#: A user and a password in a URL.
_LOGIN = re.compile(r"//[^/\s]*@")
#: What stands in quotes may have been said.
_QUOTED = re.compile(r"""(["'“]).*?(?:["'”](?!\w)|$)""", re.DOTALL)
_THREAD = re.compile(r"^(?:Fatal Python error|Current thread|Thread 0x)[^\n]*$")
_EXCEPTION = re.compile(r"^((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit))(?::|$)")
_LIBRARIES = (
    *("numpy", "sounddevice", "faster-whisper", "ctranslate2", "piper-tts", "onnxruntime", "pymicro-wakeword"),
    *("httpx", "gpiozero", "lgpio", "pyserial", "soxr", "hassil"),
)
_SHORTEST_PLUGIN_SECRET = 4


def write_archive(file: Path, texts: Mapping[str, Json], redact: Callable[[str], str]) -> None:
    """Write ``texts`` (what is none, as JSON), by name, as a tar.gz for its owner only. Raises ``OSError``."""
    with file.open("xb") as stream:
        file.chmod(0o600)
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for name, text in {"README.txt": _READ_ME, **texts}.items():
                data = written(text, redact).encode(errors="replace")
                entry = tarfile.TarInfo(f"{_FOLDER}/{name}")
                entry.size, entry.mode, entry.mtime = len(data), 0o600, int(time.time())
                archive.addfile(entry, io.BytesIO(data))


def written(value: Json, redact: Callable[[str], str]) -> str:
    """As text, without the secrets that are known, and without what looks like one."""
    if isinstance(value, str):
        return without_secrets(redact(value))
    return redact(json.dumps(_clean(value, redact), ensure_ascii=False, indent=2, default=str))


def settings(config: Config) -> Json:
    """Every setting and where it comes from."""
    return {
        f"{origin.section}.{origin.key}": {
            "value": _shown(f"{origin.section}.{origin.key}", origin.value),
            "from": origin.source,
        }
        for origin in config.origins
    }


def versions(machine: Machine) -> Json:
    """Of the program, its libraries, and the machine."""
    return {
        "appliance": __version__,
        "python": sys.version.split()[0],
        "kernel": platform.release(),
        "machine": platform.machine(),
        "board": _text(machine, "/proc/device-tree/model"),
        "system": _text(machine, "/etc/os-release").splitlines()[:1],
        "libraries": {name: version for name in _LIBRARIES if (version := _version(name))},
    }


def plugins(rows: Sequence[Mapping[str, Json]]) -> Json:
    """What each is and what is wrong with it; no settings."""
    kept = ("name", "contract", "version", "source", "is_on", "is_loaded", "problems", "missing_keys")
    return [{key: row.get(key) for key in kept} for row in rows]


def turns(rows: Sequence[Mapping[str, Json]]) -> Json:
    """When each began, how long its stages took, how it ended; no words."""
    kept = ("turn_id", "origin", "started_at", "stages", "end_reason")
    return [{key: row.get(key) for key in kept} for row in rows]


def log_lines(lines: Iterable[Mapping[str, Any]]) -> str:
    """Warnings and errors of the box; of plugins only that there was one."""
    told = []
    for line in lines:
        if line.get("level") in ("DEBUG", "INFO"):
            continue
        is_ours = not line.get("plugin") and str(line.get("source", "")).startswith("appliance")
        text = wordless(str(line.get("text", ""))) if is_ours else "(left out)"
        told.append(f"{line.get('at')} {line.get('level')} {line.get('source')} {line.get('turn_id', '')} {text}")
    return "\n".join(told)


def crashes(folder: Path) -> dict[str, str]:
    """The stacks of the last crashes, by a name in the archive. Blocks."""
    found = {}
    for file in crash_files(folder):
        try:
            found[f"crashes/{file.name}"] = stack_only(file.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            found[f"crashes/{file.name}"] = f"cannot be read: {error.strerror}"
    return found


def stack_only(text: str) -> str:
    """Files, lines, functions and kinds of errors; no messages and no source, for they may hold words."""
    kept = []
    for line in text.splitlines():
        if frame := FRAME.search(line):
            kept.append(f"  {frame[0]}")
        elif _THREAD.match(line):
            kept.append(line.rstrip())
        elif found := _EXCEPTION.match(line):
            kept.append(found[1])
    return "\n".join(kept)


def wordless(text: str) -> str:
    """The first line of a message, without what is quoted in it; behind it the stack, if there is one."""
    first, _, rest = text.partition("\n")
    stack = stack_only(rest)
    return _QUOTED.sub("'…'", first) + (f"\n{stack}" if stack else "")


def plugin_secrets(folder: Path) -> list[str]:
    """Whatever owners have set for plugins: nobody knows here which of it is a password. Blocks."""
    found: list[str] = []
    for file in folder.glob("*.json"):
        try:
            found += _texts(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            continue
    return [text for text in found if len(text) >= _SHORTEST_PLUGIN_SECRET]


def _clean(value: Json, redact: Callable[[str], str]) -> Json:
    """Each text by itself: taken out of the whole, a secret would take the commas with it."""
    if isinstance(value, str):
        return written(value, redact)
    if isinstance(value, Mapping):
        return {written(str(key), redact): _clean(entry, redact) for key, entry in value.items()}
    return [_clean(entry, redact) for entry in value] if isinstance(value, list | tuple) else value


def _texts(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for entry in entries for text in _texts(entry)]


def _shown(name: str, value: Any) -> Any:
    if name in _PERSONAL:
        return "(set)" if value else ""
    return _LOGIN.sub("//…@", value) if isinstance(value, str) else value


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _text(machine: Machine, path: str) -> str:
    try:
        return machine.read(path)
    except OSError:
        return ""
