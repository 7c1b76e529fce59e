"""The product for half an hour in a house where something breaks every minute; ``./run soak [MINUTES] [LOG]``.

A person asks for the time once a minute, over a real sound server, while a fault is there or just behind it. Every
question must be answered, or its fault be explained aloud, within ten seconds; memory must not grow. Needs root and
gcc: the disk that fills up is a small one of the test's own, and the wall clock is moved for one process only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from appliance import __version__, models
from appliance.adapters.piper import PiperSynthesizer
from appliance.adapters.wav_file import write_wav
from appliance.audio import AudioFormat, join, silence
from tests.e2e.device import Device, Fact
from tests.sound_server import SoundServer

PATIENCE_SECONDS = 10.0
MINUTE_SECONDS = 60.0
#: What a person waits before speaking to a box whose sound has just come back.
BACK_SECONDS = 5.0
OUTAGE_SECONDS = 10.0
#: Memory is compared with what it was after so many minutes.
WARM_UP_MINUTES = 5
MOST_GROWTH = 0.05
DAY_SECONDS = 86_400

_IN_NAMESPACE = "SOAK_IN_NAMESPACE"
_DISK_MEGABYTES = 64

_PLUGIN = """
import threading, time

SCHEMA = {"type": "function", "name": "soak_breaks", "description": "Breaks.",
          "parameters": {"type": "object", "properties": {"how": {"type": "string"}}, "required": ["how"]}}
BUDGET = 3


async def execute(args, ctx):
    if args["how"] == "thread":
        threading.Thread(target=lambda: 1 / 0).start()
    if args["how"] == "hang":
        time.sleep(5)
    raise ValueError("it is broken")
"""


@dataclass
class House:
    """The box, its person, and what can break around them."""

    server: SoundServer
    box: Device
    disk: Path
    clock: Path
    question: Path

    def ask(self) -> tuple[str, float]:
        """Ask for the time; what came of it, and seconds until the first word ("" when nothing came)."""
        behind = len(self.box.facts)
        self.server.play(self.question)
        spoken_at = time.monotonic()
        while time.monotonic() < spoken_at + PATIENCE_SECONDS:
            facts = self.box.facts[behind:]
            if any(fact["event"] == "TurnEnded" and _said(facts, fact["turn_id"]) for fact in facts):
                break
            time.sleep(0.05)
        return _outcome(self.box.facts[behind:], spoken_at)

    def move_clock(self, days: int) -> None:
        """Set the box's wall clock so many days off."""
        with self.clock.open("r+b") as file:
            file.write(struct.pack("q", days * DAY_SECONDS))


Fault = Callable[[House], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def device_lost(house: House) -> Iterator[None]:
    """Microphone and speaker are pulled out, and put back."""
    house.server.unplug()
    time.sleep(OUTAGE_SECONDS)
    house.server.plug_in()
    time.sleep(BACK_SECONDS)
    yield


@contextlib.contextmanager
def server_dead(house: House) -> Iterator[None]:
    """The sound server dies, and is started again."""
    house.server.stop()
    time.sleep(OUTAGE_SECONDS)
    house.server.restart()
    time.sleep(BACK_SECONDS)
    yield


@contextlib.contextmanager
def disk_full(house: House) -> Iterator[None]:
    """Not a byte is free while the person asks."""
    ballast = house.disk / "ballast-of-the-soak"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
    yield
    ballast.unlink()


@contextlib.contextmanager
def plugin_crash(house: House) -> Iterator[None]:
    """A tool raises, breaks in a thread of its own, and hangs."""
    for how in ("raise", "thread", "hang"):
        house.box.call("tool.run", name="soak_breaks", arguments={"how": how})
    yield


@contextlib.contextmanager
def clock_jump(house: House) -> Iterator[None]:
    """The wall clock is years ahead, then years behind, then right."""
    house.move_clock(400)
    time.sleep(2)
    house.move_clock(-400)
    yield
    house.move_clock(0)


FAULTS: tuple[Fault, ...] = (device_lost, server_dead, disk_full, plugin_crash, clock_jump)


def main(words: list[str]) -> int:
    """Exit code 0 when all went well."""
    if os.environ.get(_IN_NAMESPACE) is None:
        # Mounts of its own: the small disk is gone with this process, whatever happens.
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", "tests.soak", *words]
        return subprocess.call(command, env={**os.environ, _IN_NAMESPACE: "1"})
    minutes = int(words[0]) if words else 30
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(Path(words[1]).open("w", encoding="utf-8")) if len(words) > 1 else sys.stdout
        house = stack.enter_context(_house())
        return _soak(house, minutes, log)


def _soak(house: House, minutes: int, log: TextIO) -> int:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    _tell(log, f"soak of appliance {__version__}, {minutes} minutes, {time.strftime('%Y-%m-%d %H:%M')}; {machine}")
    memory: list[int] = []
    waits: list[float] = []
    unanswered = 0
    for minute in range(minutes):
        began = time.monotonic()
        fault = FAULTS[minute % len(FAULTS)]
        with fault(house):
            outcome, seconds = house.ask()
        unanswered += not outcome
        waits += [seconds] if outcome else []
        memory.append(house.box.memory_kilobytes)
        told = outcome or "NOTHING CAME"
        _tell(log, f"{minute:3}  {fault.__name__:13} {told}, {seconds:.1f} s, {memory[-1] / 1024:.0f} MB")
        time.sleep(max(0.0, began + MINUTE_SECONDS - time.monotonic()))
    growth = _growth(memory)
    _tell(log, f"questions without a word within {PATIENCE_SECONDS:g} s: {unanswered} of {minutes}")
    _tell(log, f"first word after {statistics.median(waits):.1f} s (median), {max(waits):.1f} s (longest)")
    _tell(log, f"memory grew by {growth:.1%} since minute {WARM_UP_MINUTES}")
    return 1 if unanswered or growth > MOST_GROWTH else 0


def _said(facts: list[Fact], turn_id: str) -> list[Fact]:
    """What was heard from the box in that turn, or outside of all turns."""
    return [fact for fact in facts if fact.get("heard_text") and fact["turn_id"] in ("", turn_id)]


def _outcome(facts: list[Fact], spoken_at: float) -> tuple[str, float]:
    """An answer if there was one, else any word; the first playback behind the question is its beginning."""
    ended = next((fact for fact in facts if fact["event"] == "TurnEnded"), {"turn_id": "", "reason": "told"})
    words = _said(facts, ended["turn_id"])
    own = [fact for fact in words if fact["turn_id"]] or words
    if not own:
        return "", PATIENCE_SECONDS
    began = (fact["at_seconds"] for fact in facts if fact["event"] == "PlaybackStarted" and fact["turn_id"])
    seconds = next((float(at) - spoken_at for at in began if at > spoken_at), own[0]["at_seconds"] - spoken_at)
    return f"{ended['reason']}: {own[0]['heard_text']}", seconds


def _growth(memory: list[int]) -> float:
    """The middle of the last five against the middle of the five behind the warm-up."""
    settled = memory[WARM_UP_MINUTES:]
    if len(settled) < WARM_UP_MINUTES:
        return 0.0
    return statistics.median(settled[-5:]) / statistics.median(settled[:5]) - 1.0


def _tell(log: TextIO, line: str) -> None:
    print(line, file=log, flush=True)
    if log is not sys.stdout:
        print(line, flush=True)


@contextlib.contextmanager
def _house() -> Iterator[House]:
    with tempfile.TemporaryDirectory() as folder, SoundServer() as server:
        disk, notes, clock = Path(folder) / "disk", Path(folder) / "notes", Path(folder) / "clock"
        disk.mkdir()
        notes.mkdir()
        clock.write_bytes(struct.pack("q", 0))
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_MEGABYTES}m", "tmpfs", str(disk)], check=True)
        plugins = disk / "home" / "plugins"
        plugins.mkdir(parents=True)
        (plugins / "soak_breaks.py").write_text(_PLUGIN)
        moved = {"LD_PRELOAD": str(_wall_clock(notes)), "SOAK_CLOCK": str(clock)}
        try:
            with Device(server, disk / "home", moved, notes=notes, may_complain=True) as box:
                yield House(server, box, disk, clock, _question(notes))
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _wall_clock(folder: Path) -> Path:
    library = folder / "wall_clock.so"
    source = Path(__file__).with_name("wall_clock.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def _question(folder: Path) -> Path:
    file = folder / "question.wav"
    voice = PiperSynthesizer(models.locate("en_US-joe-medium", folder))

    async def speak() -> None:
        chunks = [chunk.audio async for chunk in voice.synthesize("Okay Nabu. What time is it?")]
        spoken = join(chunks, AudioFormat(voice.sample_rate_hz))
        write_wav(file, join([silence(0.5, spoken.format), spoken], spoken.format))

    asyncio.run(speak())
    voice.close()
    return file


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
