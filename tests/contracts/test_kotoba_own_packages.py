"""Packages in a plugin's own folder: tools that they offer, and what the plugin needs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from appliance.contracts.kotoba.contract import PluginRecord
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.plugin_files import PluginFiles
from tests.contracts.rig import Rig, schema_line, tool_source


def install(rig: Rig, plugin: str, package: str, files: dict[str, str], *points: str) -> Path:
    """What an installer leaves behind: the package, and beside it what it offers."""
    place = rig.home / plugin / "site-packages"
    for name, text in files.items():
        file = place / package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    info = place / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    if points:
        (info / "entry_points.txt").write_text("[kotoba.tools]\n" + "\n".join(points) + "\n", encoding="utf-8")
    return place


def tides(word: str, name: str = "") -> dict[str, str]:
    """A package with a tool that needs another file of it, and one more inside ``execute``."""
    schema = schema_line(name) if name else 'SCHEMA = {"description": "Tides."}\n'
    body = "async def execute(args, ctx):\n    from . import late\n    import shelf_of_words\n"
    return {
        "__init__.py": "",
        "tool.py": f"from .words import WORD\n{schema}{body}    return WORD + late.MARK + shelf_of_words.END\n",
        "words.py": f"WORD = {word!r}\n",
        "late.py": "MARK = '!'\n",
    }


@pytest.fixture
def needed(rig: Rig) -> None:
    install(rig, "sea", "shelf_of_words", {"__init__.py": "import os\nEND = '?'\nos.getenv('A_KEY_OF_A_LIBRARY')\n"})


@pytest.mark.contract("K-011", "K-012")
async def test_what_its_packages_offer_are_tools_of_the_plugin(rig: Rig, needed: None) -> None:
    install(rig, "sea", "sea_tides", tides("high"), "tide_table = sea_tides.tool")
    rig.write("sea/own.py", tool_source("own", "import shelf_of_words\nreturn shelf_of_words.END"))

    report = await rig.load()

    assert rig.sentences == []
    assert report.plugins == (PluginRecord("sea", Source.OWNER, ("own", "tide_table"), is_loaded=True),)
    assert rig.tool("tide_table").toolset == "plugin:sea"
    assert rig.registry.select().schemas[1]["name"] == "tide_table"
    assert (await rig.call("tide_table")).text == "high!?"
    assert (await rig.call("own")).text == "?"


async def test_they_follow_the_switch_of_their_plugin_unopened(rig: Rig) -> None:
    install(rig, "sea", "sea_off", {"__init__.py": "raise SystemExit('must not run')"}, "tides = sea_off")
    rig.switch_file.write_text(json.dumps({"disabled": ["sea"]}))
    report = await rig.load()
    assert report.problems == ()
    assert report.plugins == (PluginRecord("sea", Source.OWNER, (), is_loaded=False),)


async def test_a_newer_package_is_imported_anew(rig: Rig, needed: None) -> None:
    place = install(rig, "sea", "sea_news", tides("old"), "tide_table = sea_news.tool")
    await rig.load()
    assert (await rig.call("tide_table")).text == "old!?"

    (place / "sea_news" / "words.py").write_text("WORD = 'newest'\n", encoding="utf-8")
    await rig.load()

    assert (await rig.call("tide_table")).text == "newest!?"


async def test_nobody_else_finds_them_and_what_the_box_has_comes_first(rig: Rig) -> None:
    install(rig, "sea", "sea_private", {"__init__.py": ""})
    install(rig, "sea", "calendar", {"__init__.py": "IS_OURS = True"})
    look = "import importlib.util, calendar\nreturn str((importlib.util.find_spec('sea_private') is not None, "
    rig.write("sea/a.py", tool_source("a", look + "hasattr(calendar, 'IS_OURS')))"))
    rig.write("land/b.py", tool_source("b", look + "hasattr(calendar, 'IS_OURS')))"))
    await rig.load()
    assert (await rig.call("a")).text == "(True, False)"
    assert (await rig.call("b")).text == "(False, False)"
    assert "sea_private" not in sys.modules


async def test_a_broken_one_costs_only_itself(rig: Rig) -> None:
    install(rig, "sea", "sea_broken", {"__init__.py": "import not_there_at_all"}, "tides = sea_broken")
    rig.write("sea/own.py", tool_source("own", "return 'said'"))
    await rig.load()
    assert rig.names == ["own"]
    assert rig.sentences == [
        "sea: it is not loaded: it needs the Python package not_there_at_all, which is not installed"
    ]


async def test_its_sources_are_its_own_files_and_not_those_that_it_only_needs(rig: Rig, needed: None) -> None:
    install(rig, "sea", "sea_tides", tides("high"), "tide_table = sea_tides.tool")
    rig.write("sea/own.py", tool_source("own", "return 'said'"))
    files = PluginFiles([PluginRoot(rig.home, Source.OWNER)], entry_points=list)
    names = [path.name for path in files.sources("sea")]
    assert sorted(names) == ["__init__.py", "late.py", "own.py", "tool.py", "words.py"]
    assert len(files.digest("plugin:sea")) == 64
