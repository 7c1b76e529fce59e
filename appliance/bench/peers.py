"""The environment of a peer: its packages as it ships them, apart from ours, made when it is wanted."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from appliance.errors import ApplianceError

#: Every package of the environment with its version.
LOCK = Path(__file__).with_name("peers.lock")
_PEER = "pipecat-ai"


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / "bin" / "python"


def environment_of(folder: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> Path:
    """``folder``, with the peers in it; they are fetched when they are not. Raises ``ApplianceError``."""
    found = re.search(rf"^{_PEER}==(\S+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    if _version_in(folder) == found[1]:
        return folder
    say(f"{_PEER} {found[1]} is fetched into {folder}: about 860 MB on disk, some minutes")
    _do([sys.executable, "-m", "venv", "--clear", str(folder)], environment)
    # All that is needed is in the list; what is not (docopt, which num2words wants only as a program) has no wheel.
    install = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps", "--only-binary", ":all:"]
    _do([str(python_of(folder)), *install, "-r", str(LOCK)], environment)
    return folder


def _version_in(folder: Path) -> str:
    """Of the peer that is installed there; "" for none."""
    ask = f"import importlib.metadata; print(importlib.metadata.version({_PEER!r}))"
    try:
        done = subprocess.run([str(python_of(folder)), "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def _do(command: list[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise ApplianceError(f"the peers could not be installed: {reason}; the benchmark runs without --peers too")
