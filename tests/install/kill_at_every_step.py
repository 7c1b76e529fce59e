"""A program: kills the plugin manager (kill -9) before every single change that it makes to the disk, in turn.

It works on copies of a home in the folder that it is given, and prints what was found as JSON. The changes are those
that Python itself reports (audit hooks), so a step that is new in the manager is in here by itself.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.install.rig import Manager, tides

_CHANGES = frozenset(
    {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate"}
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass
class Found:
    """What was seen after one kill."""

    step: int
    event: str
    recovery_step: int
    live: str
    is_journal_left: bool
    faults: list[str]


@dataclass(frozen=True)
class Scenario:
    """``prepare`` makes the home, ``act`` is what is killed; the live plugin says one of both afterwards."""

    prepare: Callable[[Manager, Path], None]
    act: Callable[[Manager, Path], None]
    old: str
    new: str


def _install_two(manager: Manager, plugins: Path) -> None:
    manager.install(plugins / "one" / "tides", enable=True)
    manager.install(plugins / "two" / "tides")


SCENARIOS = {
    "install": Scenario(
        lambda manager, plugins: None, lambda manager, plugins: manager.install(plugins / "one" / "tides"), "", "one"
    ),
    "update": Scenario(
        lambda manager, plugins: manager.install(plugins / "one" / "tides", enable=True),
        lambda manager, plugins: manager.install(plugins / "two" / "tides"),
        "one",
        "two",
    ),
    "rollback": Scenario(_install_two, lambda manager, plugins: manager.rollback("tides"), "two", "one"),
    "remove": Scenario(_install_two, lambda manager, plugins: manager.remove("tides"), "two", ""),
}


def main(folder: Path, name: str) -> list[dict[str, Any]]:
    """Kill the scenario at each step, and each recovery at each of its steps."""
    scenario, plugins, base = SCENARIOS[name], folder / "plugins", folder / "base"
    for says in ("one", "two"):
        tides(plugins, says)
    scenario.prepare(Manager(base), plugins)
    base.mkdir(exist_ok=True)
    found: list[dict[str, Any]] = []
    step, event = 0, "?"
    while event:
        step += 1
        home = _copy(base, folder / "home")
        event = _killed(partial(scenario.act, Manager(home), plugins), step)
        is_open = Manager(home).places.journal.exists()
        cut = _copy(home, folder / "cut")
        found.append(asdict(_look(scenario, home, plugins, Found(step, event, 0, "", is_open, []))))
        found += [asdict(one) for one in _recoveries(scenario, cut, folder / "again", plugins, step)] if is_open else []
    return found


def _recoveries(scenario: Scenario, cut: Path, home: Path, plugins: Path, step: int) -> list[Found]:
    """The command after the one that was killed is killed too."""
    found: list[Found] = []
    recovery_step, event = 0, "?"
    while event:
        recovery_step += 1
        _copy(cut, home)
        event = _killed(partial(_recover, home), recovery_step)
        found.append(_look(scenario, home, plugins, Found(step, event, recovery_step, "", True, [])))
    return found


def _recover(home: Path) -> None:
    with Manager(home).at_work():
        pass


def _look(scenario: Scenario, home: Path, plugins: Path, found: Found) -> Found:
    """Recover, and judge."""
    manager = Manager(home)
    before = manager.said_by("tides")
    if not scenario.old and before and "tides" not in manager.switch.read().disabled:
        found.faults.append("it was live before it was switched off")
    _recover(home)
    found.live = manager.said_by("tides")
    if found.live not in (scenario.old, scenario.new):
        found.faults.append(f"it says {found.live!r}")
    for standing in manager.verify():
        if standing.state != "pinned":
            found.faults.append(f"it is {standing.state}: {standing.changed} {standing.missing} {standing.extra}")
    if manager.places.journal.exists() or any(manager.places.stage.glob("*")):
        found.faults.append("something is left")
    if found.live == scenario.old or scenario.new == "":
        _check_that_it_can_be_done_now(scenario, manager, plugins, found)
    return found


def _check_that_it_can_be_done_now(scenario: Scenario, manager: Manager, plugins: Path, found: Found) -> None:
    if found.live == scenario.old:
        scenario.act(manager, plugins)
    if manager.said_by("tides") != scenario.new:
        found.faults.append("it cannot be done any more")
    if scenario.old and scenario.new != "one":
        manager.rollback("tides")
        if manager.said_by("tides") != scenario.old:
            found.faults.append("the version before is lost")


def _killed(work: Callable[[], None], step: int) -> str:
    """Do the work in a child that is killed before its change number ``step``; which that was, "" when there is none.

    Anything but that, or an end without a fault, is a failure of the test itself.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            _kill_at(step, writing)
            work()
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as stream:
        event = stream.read()
    assert os.WIFSIGNALED(status) if event else os.WEXITSTATUS(status) == 0, (event, status)
    return event


def _kill_at(step: int, writing: int) -> None:
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        is_opened = event == "open" and not isinstance(arguments[0], int) and bool(arguments[2] & _WRITING)
        if event not in _CHANGES and not is_opened:
            return
        count += 1
        if count == step:
            os.write(writing, f"{event} {arguments[0]!s}".encode())
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target))


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
