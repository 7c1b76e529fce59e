"""The plug is pulled while small files are written, more than a thousand times, and any legal state is looked at.

What was not flushed may be lost, zeros or half there; names that were given since their folder was flushed may be
the old ones. Settings, switches, pins and secrets: nothing acknowledged is lost. Plugin state: at most what was saved
since the last flush, which comes within a second. Nothing is unreadable without a good older one.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from appliance.clock import FakeClock
from appliance.config_file import set_values
from appliance.contracts.sapphire.settings import PluginSettings
from appliance.contracts.sapphire.state import PluginStates
from appliance.contracts.switch import PluginSwitch
from appliance.errors import ApplianceError
from appliance.home import Home
from appliance.store.atomic_file import write_json
from appliance.store.audit_head import AuditHead, AuditHeadFile
from appliance.store.credentials import Credentials
from appliance.store.plugin_pins import PluginPin, PluginPins
from tests.store.crash_disk import Disk, RecordedDisk, Step, cuts, fast_folder, lay_out

STATES = 2000

World = dict[str, Any]


def world_of(home: Home, tell: Callable[[str], None]) -> World:
    """What a box that starts on this home finds, by the box's own readers; ``tell`` gets what is wrong."""
    now = FakeClock().now
    credentials = Credentials(home.folder / "credentials.json", {}, FakeClock())
    tell(credentials.problem)
    switch = PluginSwitch(home.switch_file).read()
    tell(switch.problem)
    config = home.config_file.read_text() if home.config_file.exists() else ""
    # That its file was damaged is no fault when an older state was there.
    states = PluginStates(home.plugin_state_folder, now, lambda _sentence: None)
    return {
        "credentials": {name: credentials.get(name) for name in credentials.names},
        "switch": (sorted(switch.enabled), sorted(switch.disabled)),
        "settings": PluginSettings(home.plugin_settings_folder, now).read("lamp", {}),
        "pins": PluginPins(home.pins_file).all(),
        "config": tomllib.loads(config),
        "state": states.of("game").all(),
    }


@dataclass
class Work:
    """What an owner and plugins do to a home on a recorded disk."""

    disk: RecordedDisk
    told: list[World] = field(default_factory=list)
    #: After how many acknowledgements plugin state was flushed.
    flushes: list[int] = field(default_factory=lambda: [0])
    #: Secrets that were taken out, with the number of the acknowledgement.
    gone: list[tuple[int, bytes]] = field(default_factory=list)

    @property
    def home(self) -> Home:
        return Home(self.disk.root / "data" / "home")

    def tell(self) -> None:
        """Something was done, and the box says so."""
        faults: list[str] = []
        self.told.append(world_of(self.home, faults.append))
        assert not list(filter(None, faults))
        self.disk.acknowledge()

    def go(self) -> None:
        """Do it all, in an order that is the same in each run."""
        home, dice = self.home, random.Random(5)
        credentials = Credentials(home.folder / "credentials.json", {}, FakeClock())
        states = PluginStates(home.plugin_state_folder, FakeClock().now, lambda _sentence: None)
        heads = AuditHeadFile(home.folder / "audit.head")
        write_json(home.folder / "first.json", "makes the home")
        heads.begin(AuditHead(0, ""))
        self.tell()
        for number in range(12):
            credentials.set("key", f"secret-{number}-" + "k" * 200 * dice.randrange(4))
            self.gone.append((len(self.told), f"secret-{number - 1}-".encode()))
            self.tell()
            PluginSwitch(home.switch_file).set(f"plugin-{number}", bool(number % 2))
            self.tell()
            PluginSettings(home.plugin_settings_folder, FakeClock().now).save("lamp", {"on": number, "text": "t" * 900})
            self.tell()
            PluginPins(home.pins_file).put(PluginPin(f"plugin-{number}", "sapphire", "1", "p", "here", "f" * 64))
            self.tell()
            set_values(home.config_file, "think", {"url": f"http://host-{number}/", "model": "m" * number * 90})
            self.tell()
            heads.advance(AuditHead(number + 1, f"hash {number}"))
            self._save(states, number, dice)
        PluginPins(home.pins_file).remove("plugin-3")
        self.tell()

    def _save(self, states: PluginStates, number: int, dice: random.Random) -> None:
        for save in range(dice.randrange(1, 4)):
            states.of("game").save("level", [number, save, "l" * dice.randrange(2000)])
            self.tell()
        states.close()
        self.flushes.append(len(self.told))
        self.tell()


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    """The work, recorded once."""
    with fast_folder() as root:
        done = Work(RecordedDisk(root))
        done.told.append(world_of(Home(root / "nothing"), lambda _fault: None))
        with done.disk.recording():
            done.go()
        yield done


def test_nothing_acknowledged_is_lost_and_nothing_is_unreadable_after_any_power_cut(work: Work) -> None:
    dice = random.Random(2026)
    steps = work.disk.steps
    moments = some_moments(steps, dice)
    faults: list[str] = []
    for number, (moment, disk) in enumerate(zip(moments, cuts(steps, moments), strict=True)):
        with fast_folder() as folder:
            lay_out(disk.after_a_cut(dice), folder)
            found = faults_after_cut(work, Home(folder / "data" / "home"), disk)
            faults.extend(f"state {number} after step {moment}: {fault}" for fault in found)
    print(f"{STATES} states in {len(steps)} steps with {len(work.told) - 1} acknowledgements: {len(faults)} faults")
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:10])
    assert len(work.told) > 90


def some_moments(steps: list[Step], dice: random.Random) -> list[int]:
    """Anywhere, and as often just after something was acknowledged."""
    told = [number for number, step in enumerate(steps, start=1) if step.kind == "acknowledged"]
    anywhere = [dice.randrange(len(steps) + 1) for _ in range(STATES // 2)]
    return sorted([*anywhere, *(dice.choice(told) for _ in range(STATES // 2))])


def faults_after_cut(work: Work, home: Home, disk: Disk) -> list[str]:
    """What is wrong when the box starts on what a cut has left."""
    last = disk.acknowledged
    following = min(last + 1, len(work.told) - 1)
    there = b"".join(file.read_bytes() for file in home.folder.glob("*") if file.is_file())
    faults = [f"{secret!r} is still there" for number, secret in work.gone if number <= last and secret in there]
    try:
        world = world_of(home, faults.append)
        head = AuditHeadFile(home.folder / "audit.head").read()
    except ApplianceError as error:
        return [*faults, str(error)]
    if head is None and last >= 1:
        faults.append("the head of the audit trail is gone")
    flushed = max(flush for flush in work.flushes if flush <= last)
    for name, value in world.items():
        possible = work.told[flushed : following + 1] if name == "state" else [work.told[last], work.told[following]]
        if value not in [told[name] for told in possible]:
            faults.append(f"{name} is {value!r:.120} and not {work.told[last][name]!r:.120}")
    return [fault for fault in faults if fault]


def test_a_file_is_written_and_flushed_before_it_takes_its_name_and_the_name_is_flushed_then() -> None:
    with fast_folder() as root:
        disk = RecordedDisk(root)
        with disk.recording():
            write_json(root / "state.json", 1)
            disk.acknowledge()
            write_json(root / "state.json", 2)
    kinds = [step.kind for step in disk.steps]
    first = kinds.index("acknowledged")
    assert kinds[:first] == ["create", "write", "sync", "rename", "open folder", "sync folder"]
    # The one before gets its second name in between.
    again = ["create", "write", "sync", "link", "rename", "rename", "open folder", "sync folder"]
    assert kinds[first + 1 :] == again
    assert all(step.is_exclusive for step in disk.steps if step.kind == "create")
    names = [step.other for step in disk.steps if step.kind == "rename"]
    assert names == ["state.json", "state.json.bak", "state.json"]


def test_a_file_that_is_not_flushed_is_found_out() -> None:
    """The simulation can fail: plugin state that was saved and not flushed yet may be lost."""
    with fast_folder() as root:
        disk = RecordedDisk(root)
        states = PluginStates(root / "state", FakeClock().now, lambda _sentence: None)
        with disk.recording():
            states.of("game").save("level", 1)
            disk.acknowledge()
        states.close()
    dice, (state,) = random.Random(3), [*cuts(disk.steps, [len(disk.steps)])]
    left = [state.after_a_cut(dice) for _ in range(100)]
    assert {} in left
    assert any(b"level" in data for files in left for data in files.values())
    assert any(set(data) == {0} for files in left for data in files.values() if data)
