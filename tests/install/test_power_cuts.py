"""The plug is pulled while plugins are changed: the old or the new is there, whole; what was reported done stays."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from tests.install.rig import Manager, tides
from tests.store.crash_disk import Disk, RecordedDisk, cuts, fast_folder, lay_out

STATES = 1000


@dataclass
class Work:
    """What was done, and what the live plugin said after each step that was reported done."""

    disk: RecordedDisk
    said: list[str] = field(default_factory=lambda: [""])

    def go(self, plugins: Path) -> None:
        """Install, update, go back, remove, again and again."""
        manager = Manager(self.disk.root / "home")
        one, two = tides(plugins, "one"), tides(plugins, "two")
        for more in ("three", "four", "five"):
            self._did(manager, partial(manager.install, one, enable=True))
            self._did(manager, partial(manager.install, two))
            self._did(manager, partial(manager.rollback, "tides"))
            self._did(manager, partial(manager.install, tides(plugins, more)))
            self._did(manager, partial(manager.remove, "tides"))

    def _did(self, manager: Manager, step: Callable[[], None]) -> None:
        step()
        self.said.append(manager.said_by("tides"))
        self.disk.acknowledge()


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    """The work, recorded once."""
    with fast_folder() as folder:
        (folder / "disk").mkdir()
        done = Work(RecordedDisk(folder / "disk"))
        with done.disk.recording():
            done.go(folder / "plugins")
        yield done


def test_a_cut_at_any_moment_leaves_one_whole_version_and_loses_nothing_that_was_done(work: Work) -> None:
    dice = random.Random(2026)
    moments = sorted(dice.randrange(len(work.disk.steps) + 1) for _ in range(STATES))
    faults: list[str] = []
    for moment, disk in zip(moments, cuts(work.disk.steps, moments), strict=True):
        with fast_folder() as folder:
            lay_out(disk.after_a_cut(dice), folder)
            faults += [f"after step {moment}: {fault}" for fault in faults_after_cut(work, folder / "home", disk)]
    assert faults == [], f"{len(faults)} faults"


def faults_after_cut(work: Work, home: Path, disk: Disk) -> list[str]:
    """What the next command finds."""
    manager = Manager(home)
    try:
        with manager.at_work():
            pass
        faults = [f"{found.name} is {found.state}" for found in manager.verify() if found.is_wrong]
    except ApplianceError as error:
        return [str(error)]
    last = disk.acknowledged
    possible = work.said[last : last + 2]
    said = manager.said_by("tides")
    if said not in possible:
        faults.append(f"it says {said!r}, not one of {possible}")
    return faults
