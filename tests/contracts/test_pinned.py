"""An installed plugin is loaded from exactly the bytes that were installed, or not at all; others as they lie there."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import sys
from pathlib import Path

import pytest

from appliance.contracts import pinned
from appliance.contracts.pinned import ChangedFileError
from appliance.events import Outcome
from appliance.store.plugin_pins import PluginPin, PluginPins, digest_of, file_digests
from tests.contracts.rig import PING, Rig, tool_source
from tests.contracts.sapphire_rig import SapphireRig, tool_file


def install(pins: PluginPins, place: Path, name: str = "") -> None:
    """Pin what lies there now, as the plugin manager does."""
    files = file_digests(place)
    name = name or place.name.removesuffix(".py")
    pins.put(PluginPin(name, "module", "1.0", place.name, "a folder", digest_of(files), files))


def told(rig: Rig | SapphireRig) -> str:
    return "\n".join(rig.sentences)


# --------------------------------------------------------------------------------------------- tool modules


async def test_what_is_as_it_was_installed_is_loaded_with_its_neighbours(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "from _moon import phase\nreturn phase()"))
    rig.write("sea/_moon.py", "def phase():\n    return 'new moon'\n")
    install(rig.pins, rig.home / "sea")

    await rig.load()

    assert rig.sentences == []
    assert (await rig.call("tide")).text == "new moon"


async def test_a_changed_file_costs_the_whole_plugin_and_the_sentence_says_what_to_do(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    rig.write("sea/ebb.py", tool_source("ebb", "return 'low'"))
    rig.write("other/ping.py", PING)
    install(rig.pins, rig.home / "sea")
    rig.write("sea/tide.py", tool_source("tide", "return 'hacked'"))

    await rig.load()

    assert rig.names == ["ping"], "its neighbour is alive"
    assert told(rig).startswith("sea: it is not loaded: tide.py was changed since it was installed")
    for words in ("plugin verify sea", "update sea or rollback sea", "plugin dev sea"):
        assert words in told(rig)


@pytest.mark.parametrize("added", ["flood.py", "_helper.py", "flood.so", "sentences/en.yaml", "site-packages/x.py"])
async def test_a_file_that_appeared_and_would_be_opened_counts(rig: Rig, added: str) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    install(rig.pins, rig.home / "sea")
    rig.write(f"sea/{added}", "")

    await rig.load()

    assert rig.names == []
    assert f"{added} was added since it was installed" in told(rig)


async def test_a_file_beside_an_installed_folder_under_its_name_is_no_part_of_it(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    install(rig.pins, rig.home / "sea")
    rig.write("sea.py", tool_source("flood", "return 'hacked'"))

    await rig.load()

    assert rig.names == []
    assert "sea.py was added beside it" in told(rig)


async def test_data_that_a_plugin_keeps_in_its_folder_changes_nothing(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    install(rig.pins, rig.home / "sea")
    rig.write("sea/last_tide.json", "{}")
    rig.write("sea/__pycache__/tide.cpython-311.pyc", "left by a test run of its author")

    await rig.load()

    assert rig.names == ["tide"]


async def test_a_missing_file_and_a_link_in_its_place_count(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    helper = rig.write("sea/_moon.py", "x = 1\n")
    install(rig.pins, rig.home / "sea")
    helper.unlink()
    await rig.load()
    assert "_moon.py is gone" in told(rig)

    elsewhere = rig.write("elsewhere.txt", "x = 1\n")
    helper.symlink_to(elsewhere)
    await rig.load()
    assert "_moon.py was changed" in told(rig)


async def test_a_lone_file_is_held_to_its_pin(rig: Rig) -> None:
    file = rig.write("tide.py", tool_source("tide", "return 'high'"))
    install(rig.pins, file)
    await rig.load()
    assert rig.names == ["tide"]

    rig.write("tide.py", tool_source("tide", "return 'hacked'"))
    await rig.load()
    assert rig.names == []
    assert "tide.py was changed" in told(rig)


async def test_what_was_dropped_in_by_hand_is_loaded_as_it_is(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    await rig.load()
    rig.write("sea/tide.py", tool_source("tide", "return 'low'"))
    await rig.load()
    assert (await rig.call("tide")).text == "low"


async def test_a_plugin_that_is_linked_to_or_worked_on_is_exempt(rig: Rig, tmp_path: Path) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    install(rig.pins, rig.home / "sea")
    rig.write("sea/tide.py", tool_source("tide", "return 'in work'"))
    rig.admission.work_on("sea", True)
    await rig.load()
    assert (await rig.call("tide")).text == "in work"

    rig.admission.work_on("sea", False)
    await rig.load()
    assert rig.names == []

    (rig.home / "sea").rename(tmp_path / "sea")
    (rig.home / "sea").symlink_to(tmp_path / "sea")
    await rig.load()
    assert (await rig.call("tide")).text == "in work"


async def test_a_change_after_loading_is_noticed_when_the_file_is_imported(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "import _moon\nreturn _moon.PHASE"))
    rig.write("sea/_moon.py", "PHASE = 'new moon'\n")
    install(rig.pins, rig.home / "sea")
    await rig.load()
    rig.write("sea/_moon.py", "PHASE = 'hacked'\n")

    result = await rig.call("tide")

    assert result.outcome is Outcome.FAILED
    assert "_moon.py was changed since sea was installed" in result.error


async def test_byte_code_is_neither_read_nor_written(rig: Rig) -> None:
    """A compiled file that fits time and size of its source is what Python would run instead."""
    rig.write("sea/tide.py", tool_source("tide", "import depth\nreturn depth.METRES"))
    source = rig.write("sea/site-packages/depth/__init__.py", "from depth.chart import METRES\n")
    chart = rig.write("sea/site-packages/depth/chart.py", "METRES = 'hacked'\n")
    for file in (source, chart):
        py_compile.compile(str(file), cfile=importlib.util.cache_from_source(str(file)))
    state = chart.stat()
    rig.write("sea/site-packages/depth/chart.py", "METRES = 'twelve'\n")
    os.utime(chart, ns=(state.st_atime_ns, state.st_mtime_ns))
    install(rig.pins, rig.home / "sea")
    before = sorted((rig.home / "sea").rglob("*.pyc"))

    await rig.load()

    assert (await rig.call("tide")).text == "twelve"
    assert sorted((rig.home / "sea").rglob("*.pyc")) == before


async def test_a_library_is_only_loaded_from_its_own_packages(rig: Rig) -> None:
    ending = importlib.machinery.EXTENSION_SUFFIXES[0]
    rig.write("sea/tide.py", tool_source("tide", "import fast"))
    rig.write(f"sea/fast{ending}", "no library")
    install(rig.pins, rig.home / "sea")
    await rig.load()

    result = await rig.call("tide")

    assert "those are only loaded from site-packages" in result.error


async def test_pins_that_cannot_be_read_are_told_and_hold_nobody(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "return 'high'"))
    rig.write("../pins.json", "{ damaged")
    await rig.load()
    assert rig.names == ["tide"]
    assert "cannot be read" in rig.admission.problem


def test_the_bytes_that_are_given_out_are_those_that_were_compared(tmp_path: Path) -> None:
    file = tmp_path / "plugins" / "sea" / "tide.py"
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\n")
    pins = PluginPins(tmp_path / "pins.json")
    install(pins, file.parent)
    pinned.use(tmp_path / "plugins", pins)

    assert pinned.read(file) == b"x = 1\n"
    assert pinned.read(file.parent / ".." / "sea" / "tide.py") == b"x = 1\n", "however it is spelled"
    file.write_text("x = 2\n")
    with pytest.raises(ChangedFileError, match=r"tide\.py was changed since sea was installed"):
        pinned.read(file)
    (file.parent / "new.py").write_text("")
    with pytest.raises(ChangedFileError, match=r"new\.py was added"):
        pinned.read(file.parent / "new.py")


# ---------------------------------------------------------------------------------------------- plugin tools


async def test_a_plugin_of_the_second_contract_is_held_to_its_pin_too(box: SapphireRig) -> None:
    folder = box.plugin("sea", {"tools/tide.py": tool_file("tide", "return 'high', True")})
    box.plugin("other", {"tools/wind.py": tool_file("wind", "return 'west', True")})
    install(box.pins, folder)
    await box.load()
    assert sorted(box.names) == ["tide", "wind"]

    box.write(folder / "tools" / "tide.py", tool_file("tide", "return 'hacked', True"))
    await box.load()

    assert box.names == ["wind"]
    assert "sea: it is not loaded: tools/tide.py was changed since it was installed" in told(box)


async def test_a_changed_manifest_is_not_even_read(box: SapphireRig) -> None:
    folder = box.plugin("sea", {"tools/tide.py": tool_file("tide", "return 'high', True")})
    install(box.pins, folder)
    box.write(folder / "plugin.json", '{"name": "sea", "default_enabled": true, "capabilities": {}}')

    await box.load()

    assert box.names == []
    assert "plugin.json was changed since sea was installed" in told(box)


async def test_what_a_plugin_puts_on_the_path_is_held_to_the_pin(box: SapphireRig) -> None:
    lines = "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'lib'))"
    source = tool_file("tide", "import sea_moon_lib\nreturn sea_moon_lib.PHASE, True", lines)
    folder = box.plugin("sea", {"tools/tide.py": source, "lib/sea_moon_lib.py": "PHASE = 'new moon'\n"})
    install(box.pins, folder)
    before = list(sys.path)
    try:
        await box.load()
        box.write(folder / "lib" / "sea_moon_lib.py", "PHASE = 'hacked'\n")
        result = await box.call("tide")
    finally:
        sys.path[:] = before
        sys.modules.pop("sea_moon_lib", None)

    assert result.outcome is Outcome.FAILED
    assert "sea_moon_lib.py was changed" in result.text


async def test_others_cannot_import_a_plugin_that_stays_out(box: SapphireRig) -> None:
    folder = box.plugin("sea", {"tools/tide.py": tool_file("tide", "return 'high', True")})
    source = tool_file("wind", "from plugins.sea.tools import tide\nreturn 'got in', True")
    box.plugin("other", {"tools/wind.py": source})
    install(box.pins, folder)
    box.write(folder / "tools" / "tide.py", "raise SystemExit")
    await box.load()

    assert "there is no plugin sea here" in (await box.call("wind")).text
