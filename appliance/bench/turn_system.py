"""The systems of the benchmark of turns, each a process that is told to take a turn and says what came of it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import appliance
from appliance.bench.processes import ProcessCost, cost_of
from appliance.bench.turn_clips import TurnClip
from appliance.bench.turn_worker import BOX, Floor, Setup, TurnTaken
from appliance.errors import ApplianceError
from appliance.promptness import environment_as_it_came, keep_algebra_on_one_thread

_LONGEST_SETTLING_SECONDS = 180
#: Of a processor core: less is waiting.
_IDLE_SHARE = 0.1


class System(Protocol):
    """Something that takes turns."""

    def take_turn(self, clip: TurnClip) -> TurnTaken:
        """Hear ``clip`` and answer it. Raises ``ApplianceError`` when it has broken down."""
        ...

    def take_floor(self) -> Floor:
        """See ``Floor``; only the box knows."""
        ...

    def cost(self) -> ProcessCost:
        """What all its processes have cost until now."""
        ...


class WorkerSystem:
    """Meets ``System`` with the process that ``command`` starts; see ``turn_worker`` for what is said."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._name = name
        # Nobody reads what it logs, unless it breaks; a pipe would be full at some time.
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment
        )

    def wait_until_ready(self) -> None:
        """Its weights are loaded. Raises ``ApplianceError``."""
        self._read()

    def take_turn(self, clip: TurnClip) -> TurnTaken:
        """See ``System``."""
        return TurnTaken(**self._order({"file": str(clip.file), "end_seconds": clip.end_seconds}))

    def take_floor(self) -> Floor:
        """See ``System``."""
        return Floor(**self._order({}))

    def cost(self) -> ProcessCost:
        """See ``System``."""
        return cost_of(self._process.pid)

    def close(self) -> None:
        """End it: in good order when it can, within some seconds in any case."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close() if self._process.stdout else None
        self._log.close()

    def _order(self, order: dict[str, object]) -> dict[str, Any]:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{json.dumps(order)}\n")
            self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # A library may print too.
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        self._log.seek(0)
        last = "; ".join(self._log.read().strip().splitlines()[-3:])
        raise ApplianceError(f"the system {self._name!r} of the benchmark has ended: {last or 'it says nothing'}")


@contextlib.contextmanager
def started_systems(pythons: Mapping[str, str], setup: Setup) -> Iterator[dict[str, WorkerSystem]]:
    """Systems by name, each run by its Python, loading side by side. Raises ``ApplianceError``."""
    keep_algebra_on_one_thread()
    # The environment of a peer does not hold this program.
    search = {"PYTHONPATH": str(Path(appliance.__file__).parent.parent)}
    as_device, stock = {**os.environ, **search}, {**environment_as_it_came(), **search}
    systems: dict[str, WorkerSystem] = {}
    try:
        for name, python in pythons.items():
            own = json.dumps(dataclasses.asdict(dataclasses.replace(setup, system=name)))
            command = [python, "-m", "appliance.bench.turn_worker", own]
            systems[name] = WorkerSystem(name, command, as_device if name == BOX else stock)
        for system in systems.values():
            system.wait_until_ready()
        for system in systems.values():
            _wait_until_idle(system)
        yield systems
    finally:
        for system in systems.values():
            system.close()


def _wait_until_idle(system: System) -> None:
    """The box speaks its fixed lines ahead when it starts for the first time, which is no part of a turn."""
    for _ in range(_LONGEST_SETTLING_SECONDS):
        before = system.cost().cpu_seconds
        time.sleep(1.0)
        if system.cost().cpu_seconds - before < _IDLE_SHARE:
            return


@dataclass(frozen=True)
class Turn:
    """One turn of a system with a clip; processor time and memory are those of all its processes.

    ``requests`` counts how often the model was asked.
    """

    system: str
    clip: TurnClip
    pace: str
    number: int
    taken: TurnTaken
    cpu_seconds: float
    rss_megabytes: float
    requests: int

    @property
    def is_early(self) -> bool:
        """Whether the answer began before the person had finished."""
        return self.taken.first_milliseconds is not None and self.taken.first_milliseconds < 0.0

    @property
    def milliseconds(self) -> float | None:
        """From the end of speech to the first sound; None for a turn that does not count."""
        return None if self.is_early or not self.requests else self.taken.first_milliseconds
