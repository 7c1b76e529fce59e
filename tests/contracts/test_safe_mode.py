"""A plugin that brought the box down stays closed; in safe mode all do that are not the box's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.store.plugin_pins import PluginPin, digest_of, file_digests
from appliance.store.running_notes import Doing, Phase
from appliance.store.starts import Starts
from tests.contracts.rig import PING, Rig, tool_source
from tests.contracts.sapphire_rig import SapphireRig, tool_file

NOW = datetime(2026, 5, 4, 15, 7, tzinfo=UTC)
TIDE = tool_source("tide", "return 'high'")


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    return Starts(tmp_path / "starts.json", lambda: NOW, "boot-1")


@pytest.fixture
async def rig(tmp_path: Path, starts: Starts) -> AsyncIterator[Rig]:
    """A box that knows of its last starts."""
    made = Rig(tmp_path, starts=starts)
    yield made
    await made.host.close()


def crash(starts: Starts, plugin: str, installation_of: Callable[[str], str] = lambda _plugin: "") -> None:
    """The process before this one ended while that plugin was being imported."""
    starts.begin(is_device=True)
    starts.notes.enter(plugin, Doing.IMPORT)
    starts.begin(is_device=True, installation_of=installation_of)


async def test_a_plugin_in_quarantine_is_never_opened_and_its_neighbours_are(rig: Rig, starts: Starts) -> None:
    rig.write("sea/tide.py", "raise AssertionError('opened')")
    rig.write("other/ping.py", PING)
    crash(starts, "sea")

    await rig.load()

    assert rig.names == ["ping"]
    [sentence] = rig.sentences
    assert "it is quarantined: it brought the box down while it was being loaded" in sentence
    assert "appliance plugin on sea tries it again" in sentence
    record = next(record for record in rig.report.plugins if record.name == "sea")
    assert record.is_withheld and not record.is_loaded


async def test_its_owner_tries_it_again(rig: Rig, starts: Starts) -> None:
    rig.write("sea/tide.py", TIDE)
    crash(starts, "sea")
    await rig.load()
    rig.admission.forgive("sea")
    await rig.load()
    assert rig.names == ["tide"]


async def test_another_version_is_let_in(rig: Rig, starts: Starts) -> None:
    rig.write("sea/tide.py", "import os")
    crash(starts, "sea", lambda _plugin: "digest of the one that crashed")
    rig.write("sea/tide.py", TIDE)
    files = file_digests(rig.home / "sea")
    rig.pins.put(PluginPin("sea", "module", "1.1", "sea", "a folder", digest_of(files), files))
    await rig.load()
    assert rig.names == ["tide"]


async def test_in_safe_mode_only_what_the_box_brings_along_is_loaded(rig: Rig, starts: Starts) -> None:
    rig.write("sea/tide.py", "raise AssertionError('opened')")
    rig.write("kitchen/ping.py", PING, is_shipped=True)
    starts.set_safe_mode(True)
    await rig.load()
    assert rig.names == ["ping"]
    assert "not loaded in safe mode; appliance plugin safe-mode off ends that" in rig.sentences[0]

    starts.set_safe_mode(False)
    rig.write("sea/tide.py", TIDE)
    await rig.load()
    assert sorted(rig.names) == ["ping", "tide"]


async def test_plugins_of_the_second_contract_stay_closed_too(box: SapphireRig) -> None:
    box.plugin("sea", {"tools/tide.py": "raise AssertionError('opened')"})
    box.plugin("kitchen", {"tools/oven.py": tool_file("oven", "return 'hot', True")}, is_shipped=True)
    box.admission.starts.set_safe_mode(True)
    await box.load()
    assert box.names == ["oven"]
    assert box.record("sea").is_on and not box.record("sea").is_loaded


async def test_what_a_plugin_does_is_noted_while_it_does_it(rig: Rig, box: SapphireRig) -> None:
    """The notes of the host are those of the start; here they are looked at from within."""
    notes = rig.host._notes
    seen: list[list[tuple[str, Doing]]] = []

    async def look() -> None:
        seen.append([(running.plugin, running.doing) for running in notes.now()])

    await rig.host.run("sea", look, doing=Doing.IMPORT)
    await rig.host.run("sea", look)
    assert seen == [[("sea", Doing.IMPORT)], [("sea", Doing.CALL)]]
    assert notes.now() == ()


async def test_a_thread_that_a_plugin_leaves_behind_is_noted_as_long_as_it_lives(rig: Rig) -> None:
    body = "import threading\nctx_gate = threading.Event()\n"
    await rig.load_tool("spawn", f"{body}threading.Thread(target=ctx_gate.wait).start()\nglobals()['G'] = ctx_gate")
    await rig.call("spawn")
    notes = rig.host._notes
    assert [(running.plugin, running.doing) for running in notes.now()] == [("test", Doing.THREAD)]
    thread_gate = rig.tool("spawn").module.G
    thread_gate.set()


def test_a_start_that_is_under_way_is_no_settled_one(starts: Starts) -> None:
    starts.begin(is_device=True)
    left = starts.notes.left()
    assert left is not None and left.phase is Phase.STARTING
