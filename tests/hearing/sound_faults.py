"""Sound devices that fail on a real sound server: how long until the box hears and sounds again.

    python -m tests.hearing.sound_faults             each fault once, alone and in a talk; prints two tables
    python -m tests.hearing.sound_faults --keep      and keeps them in appliance/bench/results/devices.txt

The box is an ear on the real sound card that hums without end. "noticed" counts from the fault, "hears" and "sounds"
from the moment at which the device is there again: a tone in the mouth is heard, the hum is on the loudspeaker.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import platform
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.adapters.sound_card import PortAudioSoundCard
from appliance.audio import AudioChunk, AudioFormat, Samples
from appliance.clock import SystemClock
from appliance.errors import AudioError
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Ear
from tests.sound_server import SoundServer

RESULTS = Path(__file__).resolve().parents[2] / "appliance" / "bench" / "results" / "devices.txt"
#: Nothing takes longer, or it counts as deaf.
_PATIENCE_SECONDS = 40.0
_SETTLE_SECONDS = 2.5

Told = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """``begin`` breaks something, ``end`` makes it good again ``seconds`` later, after which these are the devices."""

    name: str
    seconds: float
    begin: Callable[[SoundServer], None]
    end: Callable[[SoundServer], None]
    mouth: str = "mouth"
    speaker: str = "speaker"
    #: It begins with other devices than these being the system's choice.
    is_about_others: bool = False


@dataclass(frozen=True)
class Recovery:
    """``noticed_seconds`` is None where nothing had to be noticed: the sound went on."""

    fault: str
    seconds: float
    noticed_seconds: float | None
    hears_seconds: float
    sounds_seconds: float


def nothing(_server: SoundServer) -> None:
    """Here the fault is over as soon as it has begun."""


def _choose(server: SoundServer) -> None:
    server.choose("mouth", "speaker")


def _come_in(
    mouth: str = "mouth", speaker: str = "speaker", *, rate_hz: int = 48_000, channels: int = 1
) -> Callable[[SoundServer], None]:
    def do(server: SoundServer) -> None:
        server.plug_in_one(mouth, rate_hz=rate_hz, channels=channels)
        server.plug_in_one(speaker, rate_hz=rate_hz, channels=channels)
        server.choose(mouth, speaker)

    return do


def _go(*names: str) -> Callable[[SoundServer], None]:
    def do(server: SoundServer) -> None:
        for name in names:
            server.unplug_one(name)

    return do


def _back(name: str) -> Callable[[SoundServer], None]:
    def do(server: SoundServer) -> None:
        server.plug_in_one(name)
        server.choose("mouth", "speaker")

    return do


def _freeze(seconds: float) -> Callable[[SoundServer], None]:
    def do(server: SoundServer) -> None:
        with server.frozen():
            time.sleep(seconds)

    return do


FAULTS = (
    Fault("both devices unloaded and loaded again", 3.0, SoundServer.unplug, SoundServer.plug_in),
    Fault("the loudspeaker unloaded and loaded again", 3.0, _go("speaker"), _back("speaker")),
    Fault("the microphone unloaded and loaded again", 3.0, _go("mouth"), _back("mouth")),
    Fault("both gone for half a minute", 30.0, SoundServer.unplug, SoundServer.plug_in),
    Fault("they come back with 44.1 kHz, stereo", 1.0, SoundServer.unplug, _come_in(rate_hz=44_100, channels=2)),
    Fault("they come back with 16 kHz", 1.0, SoundServer.unplug, _come_in(rate_hz=16_000)),
    Fault("the default moves to other devices", 0.0, _come_in("mouth2", "speaker2"), nothing, "mouth2", "speaker2"),
    Fault("the default is unloaded, others are there", 0.0, _go("mouth2", "speaker2"), _choose, is_about_others=True),
    Fault("the server is killed and started again", 3.0, SoundServer.stop, SoundServer.restart),
    Fault("the server is gone for half a minute", 30.0, SoundServer.stop, SoundServer.restart),
    Fault("the server is frozen for 5 s", 0.0, _freeze(5.0), nothing),
    Fault("the server is frozen for 15 s", 0.0, _freeze(15.0), nothing),
)  # fmt: skip
#: What the tests have time for.
FEW = tuple(FAULTS[index] for index in (0, 4, 6, 8))


class Child:
    """The box as a process; what it tells is read on a thread."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def wait_for(self, is_it: Callable[[Told], bool], what: str, within_seconds: float = _PATIENCE_SECONDS) -> Told:
        """The next thing it tells that is so."""
        deadline = time.monotonic() + within_seconds
        while True:
            try:
                told = self._told.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{what}: not within {within_seconds:g} s") from None
            if is_it(told):
                return told

    def all_told(self) -> list[Told]:
        """What it told that nobody has taken yet."""
        told = []
        while not self._told.empty():
            told.append(self._told.get())
        return told

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._told.put(json.loads(line))


@contextmanager
def a_child(server: SoundServer) -> Iterator[Child]:
    """The box on ``server``."""
    command = [sys.executable, "-m", "tests.hearing.sound_faults", "--child"]
    with subprocess.Popen(command, env=server.environment, stdout=subprocess.PIPE, text=True) as process:
        child = Child(process)
        try:
            child.wait_for(lambda told: "heard" in told, "the first sound")
            yield child
        finally:
            process.terminate()


def undergo(server: SoundServer, child: Child, fault: Fault) -> Recovery:
    """Have the box suffer one fault. Raises ``AssertionError`` when it stays deaf or silent."""
    time.sleep(_SETTLE_SECONDS)
    child.all_told()
    began_at = time.monotonic()
    fault.begin(server)
    time.sleep(fault.seconds)
    fault.end(server)
    ended_at = time.monotonic()
    with server.record(fault.speaker) as recording:
        told, heard_at = _hear_a_tone(server, child, fault)
        recording.wait_for_sound(within_seconds=_PATIENCE_SECONDS)
        sounds_at = recording.first_sound_at_seconds
    assert sounds_at is not None
    noticed_at = next((entry["at"] for entry in told if "lost" in entry or "speaker" in entry), None)
    return Recovery(
        fault.name,
        fault.seconds,
        None if noticed_at is None else max(0.0, noticed_at - began_at),
        max(0.0, heard_at - ended_at),
        max(0.0, sounds_at - ended_at),
    )


def _hear_a_tone(server: SoundServer, child: Child, fault: Fault) -> tuple[list[Told], float]:
    """What was told until a tone was heard, and when the first sound came that led up to it."""
    everything: list[Told] = []
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        server.play_samples(_TONE, fault.mouth)
        everything += child.all_told()
        loud = next((index for index, entry in enumerate(everything) if entry.get("heard", -96.0) > -20.0), None)
        if loud is not None:
            return everything, _stretch_start(everything, loud)
    raise AssertionError(f"{fault.name}: deaf for {_PATIENCE_SECONDS:g} s; {everything[-5:]}")


def _stretch_start(told: list[Told], loud: int) -> float:
    """When the sound began to come without a gap that ended in the loud one."""
    at: float = told[loud]["at"]
    for entry in reversed(told[:loud]):
        if "lost" in entry or ("heard" in entry and at - entry["at"] > 0.5):
            break
        at = entry["at"] if "heard" in entry else at
    return at


def _tone(seconds: float) -> AudioChunk:
    wave = 10_000 * np.sin(2 * np.pi * 1000 * np.arange(round(48_000 * seconds)) / 48_000)
    return AudioChunk(wave.astype(np.int16), AudioFormat(48_000))


_TONE = _tone(0.3)


async def _be_the_box() -> None:
    """The child: hum without end, and tell what is heard and lost."""

    def tell(**what: Any) -> None:
        print(json.dumps({"at": time.monotonic(), **what}), flush=True)

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "speaker" in record.getMessage():
                tell(speaker=record.getMessage())

    logging.getLogger("appliance.adapters.sound_card").addHandler(Teller())
    logging.getLogger("appliance.adapters.sound_card").setLevel(logging.INFO)
    card = PortAudioSoundCard(SystemClock())
    await card.open(_hum)
    card.tap(lambda sound: tell(heard=sound.level_dbfs))
    ear = Ear(card, LoudnessVoiceActivity(), FakeWakeWords(), SystemClock(), ListenConfig())

    def lost(error: AudioError) -> None:
        tell(lost=str(error))

    ear.when_card_lost = lost
    await ear.run()


def _hum(frames: int) -> Samples:
    """Far below the tone: where the microphone is for a moment the loudspeaker's own, that is not hearing."""
    return (600 * np.sin(2 * np.pi * np.arange(frames) / 48)).astype(np.int16)


def table(recoveries: list[Recovery]) -> str:
    """For people."""
    lines = [f"{'fault':45} {'lasts':>7} {'noticed':>9} {'hears':>8} {'sounds':>8}"]
    for one in recoveries:
        noticed = "went on" if one.noticed_seconds is None else f"{one.noticed_seconds:.2f} s"
        lines.append(
            f"{one.fault:45} {one.seconds:5.0f} s {noticed:>9} {one.hears_seconds:6.2f} s {one.sounds_seconds:6.2f} s"
        )
    return "\n".join(lines)


def _alone() -> str:
    recoveries = []
    with SoundServer() as server, a_child(server) as child:
        for fault in FAULTS:
            recoveries.append(undergo(server, child, fault))
            print(table(recoveries[-1:]).splitlines()[1], flush=True)
    return table(recoveries)


def _in_talk() -> str:
    """Each fault in an answer of the whole product; each has a server of its own, as the microphone may move."""
    from tests.hearing import talk_faults

    talks = []
    with tempfile.TemporaryDirectory() as folder:
        for fault in FAULTS:
            talks.append(talk_faults.talk_alone(fault, Path(folder)))
            print(talk_faults.table(talks[-1:]).splitlines()[1], flush=True)
    return talk_faults.table(talks)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help=f"keep the table in {RESULTS.name}")
    arguments = parser.parse_args()
    if arguments.child:
        asyncio.run(_be_the_box())
        return
    text = f"{_alone()}\n\n{_in_talk()}\n\n{platform.machine()}, Python {platform.python_version()}\n"
    print(f"\n{text}")
    if arguments.keep:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
