"""What a person hears, and an owner reads, of plugins that the box leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.contracts.failures import FAILURES
from appliance.store.plugin_pins import PluginPin, PluginPins, digest_of, file_digests
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig
from tests.contracts.rig import PING, tool_source


def write(folder: Path, place: str, text: str) -> Path:
    file = folder / "plugins" / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def install(folder: Path, name: str) -> None:
    """Pin the plugin as it is now."""
    files = file_digests(folder / "plugins" / name)
    pins = PluginPins(folder / "installed" / "pins.json")
    pins.put(PluginPin(name, "module", "1.0", name, "a folder", digest_of(files), files))


async def row(rig: Rig, name: str) -> dict[str, Any]:
    return next(row for row in await rig.control.call("plugin.list") if row["name"] == name)


async def test_a_changed_plugin_is_told_of_aloud_and_in_the_list(make_rig: MakeRig, tmp_path: Path) -> None:
    write(tmp_path, "sea_tides/tide.py", tool_source("tide", "return 'high'"))
    write(tmp_path, "good/ping.py", PING)
    install(tmp_path, "sea_tides")
    write(tmp_path, "sea_tides/tide.py", tool_source("tide", "return 'hacked'"))
    rig = await make_rig()
    await rig.rests()

    assert rig.said == ["The plugin sea tides was changed since it was installed, so I do not run it."]
    found = await row(rig, "sea_tides")
    assert (found["withheld"], found["is_on"], found["is_loaded"]) == ("changed", True, False)
    assert "tide.py was changed since it was installed" in found["problems"][0]
    assert (await row(rig, "good"))["is_loaded"]
    with pytest.raises(Exception, match=r"the plugin sea_tides, which is not loaded \(changed\), names it in tide\.py"):
        await rig.control.call("tool.why", {"name": "tide"})


async def test_a_changed_manifest_counts_as_changed(make_rig: MakeRig, tmp_path: Path) -> None:
    write(tmp_path, "sea/plugin.json", '{"name": "sea", "default_enabled": true}')
    install(tmp_path, "sea")
    write(tmp_path, "sea/plugin.json", '{"name": "sea", "default_enabled": true, "version": "2"}')
    rig = await make_rig()
    await rig.until(lambda: bool(rig.said))
    assert rig.said == ["The plugin sea was changed since it was installed, so I do not run it."]
    assert (await row(rig, "sea"))["withheld"] == "changed"


async def test_what_is_as_it_was_installed_runs_and_nothing_is_said(make_rig: MakeRig, tmp_path: Path) -> None:
    write(tmp_path, "sea_tides/tide.py", tool_source("tide", "return 'high'"))
    install(tmp_path, "sea_tides")
    rig = await make_rig()
    await rig.rests()
    assert rig.said == []
    assert (await row(rig, "sea_tides"))["is_loaded"]


async def test_a_plugin_that_cannot_be_imported_counts_as_quarantined(make_rig: MakeRig, tmp_path: Path) -> None:
    write(tmp_path, "broken/tide.py", "raise RuntimeError('no')")
    write(tmp_path, "half/tide.py", "raise RuntimeError('no')")
    write(tmp_path, "half/ping.py", PING)
    rig = await make_rig()
    await rig.rests()

    assert " ".join(rig.said).startswith("The plugin broken does not work, so I go on without it.")
    assert "half" not in " ".join(rig.said)
    assert (await row(rig, "broken"))["withheld"] == "quarantined"
    assert (await row(rig, "half"))["withheld"] == "", "what works of it works"

    write(tmp_path, "broken/tide.py", tool_source("tide", "return 'high'"))
    assert (await rig.control.call("plugin.reload", {"name": "broken"}))["withheld"] == ""


async def test_safe_mode_goes_on_and_off_while_the_box_runs(make_rig: MakeRig, tmp_path: Path) -> None:
    write(tmp_path, "good/ping.py", PING)
    rig = await make_rig()
    assert await rig.control.call("plugin.safe_mode", {}) == {"on": False, "why": ""}
    assert rig.box.status()["safe mode"] == "off"

    found = await rig.control.call("plugin.safe_mode", {"on": True})
    assert found == {"on": True, "why": "you have switched it on"}
    assert (await row(rig, "good"))["withheld"] == "safe mode"
    assert rig.box.status()["safe mode"] == "you have switched it on"

    await rig.control.call("plugin.safe_mode", {"on": False})
    assert (await row(rig, "good"))["is_loaded"]


async def test_a_tool_that_fails_three_times_is_told_of_and_no_longer_offered(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    write(tmp_path, "sea/high_tide.py", tool_source("high_tide", "raise ValueError('no')"))
    rig = await make_rig(model=FakeModelEndpoint())
    assert rig.model is not None
    for _ in range(FAILURES):
        rig.model.answers += [calls(("high_tide", {})), says("That did not work.")]
        await rig.types("How high is it?")
    await rig.until(lambda: bool(rig.said))

    assert rig.said == ["high tide has failed three times, so I leave it alone for a quarter of an hour."]
    assert "it has failed 3 times" in (await rig.control.call("tool.why", {"name": "high_tide"}))["why_not"]
    assert any("it has failed 3 times" in problem for problem in (await row(rig, "sea"))["problems"])

    await rig.control.call("plugin.switch", {"name": "sea", "on": True})
    assert (await rig.control.call("tool.why", {"name": "high_tide"}))["why_not"] == ""
