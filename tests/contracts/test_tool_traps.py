"""``plugin check`` on plugin tools: every silent trap of the page is said aloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from appliance.contracts.author.checking import CheckReport
from tests.contracts.test_module_traps import checked, said

MANIFEST: dict[str, Any] = {
    "name": "lamps",
    "version": "1.0",
    "description": "Lamps in the house.",
    "default_enabled": True,
    "capabilities": {"tools": ["tools/lamp.py"]},
}


def entry(name: str = "lamp_on", flags: str = '"is_local": True, ', **changes: str) -> str:
    """One entry of TOOLS."""
    parts = {
        "description": "'Switch a lamp on.'",
        "parameters": "{'type': 'object', 'properties': {}, 'required': []}",
        **changes,
    }
    function = ", ".join([f"'name': '{name}'", *(f"'{key}': {value}" for key, value in parts.items())])
    return f'{{"type": "function", {flags}"function": {{{function}}}}}'


TOOLS = f"TOOLS = [{entry()}]\n"
EXECUTE = "def execute(function_name, arguments, config):\n    return 'on', True\n"
GOOD = "AVAILABLE_FUNCTIONS = ['lamp_on']\n" + TOOLS + EXECUTE


def returning(value: str) -> str:
    """A good file whose execute returns this."""
    return GOOD.replace("'on', True", value)


def taking(parameters: str) -> str:
    """A good file whose execute takes these."""
    return GOOD.replace("function_name, arguments, config", parameters)


FAULTS = {
    "execute is missing": (TOOLS, "it offers no tools: it has no execute()"),
    "TOOLS is missing": (EXECUTE, "it offers no tools: it has no TOOLS"),
    "TOOLS is a dict": (
        GOOD.replace("TOOLS = [", "TOOLS = {1: [").replace("]\ndef", "]}\ndef"),
        "TOOLS are not a list",
    ),
    "SCHEMA instead": ("SCHEMA = {}\n" + EXECUTE, "it has SCHEMA and no TOOLS: that is the other contract"),
    "another API's form": (
        "TOOLS = [{'type': 'function', 'name': 'lamp_on', 'description': 'x'}]\n" + EXECUTE,
        "entry 1 of TOOLS (lamp_on) has its name at the top: that is another API's form",
    ),
    "an entry without a name": (GOOD.replace("'name': 'lamp_on', ", ""), "has no function with a name"),
    "the same twice": (f"TOOLS = [{entry()}, {entry()}]\n" + EXECUTE, "TOOLS has lamp_on twice"),
    "the name is reserved": (GOOD.replace("lamp_on", "box_lamp"), "the name box_lamp is reserved"),
    "no description": (GOOD.replace("'Switch a lamp on.'", "''"), "lamp_on has no description"),
    "not plain JSON": (GOOD.replace("'Switch a lamp on.'", "{1, 2}"), "its schema is not plain JSON"),
    "required names nothing": (GOOD.replace("'required': []", "'required': ['room']"), "requires 'room'"),
    "AVAILABLE_FUNCTIONS names nothing": (
        GOOD.replace("['lamp_on']", "['lamp_on', 'lamp_off']"),
        "AVAILABLE_FUNCTIONS names lamp_off, which TOOLS does not have",
    ),
    "AVAILABLE_FUNCTIONS forgets one": (
        GOOD.replace(TOOLS, f"TOOLS = [{entry()}, {entry('lamp_off')}]\n"),
        "TOOLS has lamp_off, but AVAILABLE_FUNCTIONS does not name it: it is left out without a word",
    ),
    "AVAILABLE_FUNCTIONS is a text": (GOOD.replace("['lamp_on']", "'lamp_on'"), "AVAILABLE_FUNCTIONS is not a list"),
    "SETTINGS_GATED names nothing": ("SETTINGS_GATED = {'lamp_off': 'X'}\n" + GOOD, "SETTINGS_GATED names lamp_off"),
    "MODE_FILTER leaves none": ("MODE_FILTER = {'monolith': ['x']}\n" + TOOLS + EXECUTE, "MODE_FILTER leaves no tool"),
    "execute is async": (
        GOOD.replace("def execute", "async def execute"),
        "execute is an async def: it must be a plain",
    ),
    "execute takes two": (taking("function_name, arguments"), "has 2 parameters and gets 3 arguments by position"),
    "execute takes six": (taking("a, b, c, d, e, f"), "execute wants 6 arguments and gets five at most"),
    "execute takes the rest": (taking("*everything"), "execute has *args, which counts as one parameter"),
    "execute takes keywords": (taking("a, b, c, *, plugin_settings=None"), "has 4 parameters and gets 4 arguments"),
    "the fourth is credentials": (taking("a, b, c, credentials"), "the fourth parameter of execute is the settings"),
    "returns a text": (returning("'on'"), "execute returns a text by itself here and not (message, True or False)"),
    "returns a formatted text": (returning("f'{function_name} on'"), "execute returns a text by itself"),
    "returns a dict": (returning("{'ok': True}"), "execute returns a dict by itself"),
    "returns nothing": (returning("None"), "execute returns nothing"),
    "returns without anything": (GOOD.replace("return 'on', True", "pass"), "execute returns nothing"),
    "returns three": (returning("'on', True, 1"), "execute returns a tuple of 3"),
    "returns a number as a flag": (returning("'on', 1"), "execute returns 1 in place of True or False"),
    "get_tools raises": (
        "def get_tools():\n    raise KeyError('x')\n" + GOOD,
        "its get_tools() failed (KeyError: 'x')",
    ),
    "get_tools is async": (
        "async def get_tools():\n    return TOOLS\n" + GOOD,
        "get_tools is an async def and not a plain def",
    ),
    "is_local is a word": (GOOD.replace('"is_local": True', '"is_local": "yes"'), "is_local of lamp_on is 'yes'"),
    "a package that is missing": ("import no_such_package\n" + GOOD, "needs the Python package no_such_package"),
    "a name that is not offered": ("from core.web import x\n" + GOOD, "imports what this box does not offer"),
    "it asks the network while it loads": ("from core import net\nnet.get('http://lamp.lan')\n" + GOOD, "not loaded"),
}
REMARKS = {
    "ENABLED is False": ("ENABLED = False\n" + GOOD, "ENABLED is False, so it offers nothing"),
    "no type": (GOOD.replace('"type": "function", "is', '"is'), 'entry 1 of TOOLS has not "type": "function"'),
    "get_tools without TOOLS": (
        GOOD.replace("TOOLS = ", "def get_tools():\n    return ") + "\n",
        "there is get_tools() and no static TOOLS",
    ),
    "is_local is missing": (
        GOOD.replace('"is_local": True, ', ""),
        "lamp_on has no is_local: in private chats it is refused",
    ),
    "local and network": (GOOD.replace('"is_local": True', '"is_local": True, "network": True'), "it cannot be both"),
    "local, and yet it goes out": ("from core import net\n" + GOOD, "lamp_on says is_local, but its code can go out"),
    "hidden": (GOOD.replace('"is_local": True', '"is_local": True, "hidden": True'), "lamp_on is hidden"),
    "its own way out": (
        "import requests\n" + GOOD,
        "lamp.py:1: requests goes its own way; core.net takes the same calls",
    ),
    "a key that is not there": (
        GOOD.replace("arguments, config", "arguments, config, settings, credentials").replace(
            "return 'on'", "credentials.get_ha_token()\n    return 'on'"
        ),
        "asks for HA_TOKEN, and there is none here: appliance credential set lamps HA_TOKEN keeps one",
    ),
}
MANIFEST_FAULTS = {
    "no tools": ({"capabilities": {}}, "capabilities.tools is empty, so no tool is loaded"),
    "a file that is not there": ({"capabilities": {"tools": ["tools/lamp.py", "tools/x.py"]}}, "there is no such file"),
    "a file outside": ({"capabilities": {"tools": ["../lamp.py"]}}, "a tool file is a .py file inside"),
    "no name": ({"name": None}, "must be letters, digits"),
    "a package that is missing": (
        {"pip_dependencies": ["no-such-thing"]},
        "install it with: pip install no-such-thing",
    ),
    "the same key twice": (
        {"capabilities": {"tools": ["tools/lamp.py"], "settings": [{"key": "a", "default": 1}] * 2}},
        "two settings have the key a",
    ),
    "a secret for everybody": (
        {"capabilities": {"tools": ["tools/lamp.py"], "settings": [{"key": "a", "type": "password", "default": "x"}]}},
        "the setting a is a secret with a default",
    ),
}
MANIFEST_REMARKS = {
    "no version": ({"version": ""}, "it has no version"),
    "off by default": ({"default_enabled": False}, "it stays off until somebody runs appliance plugin on lamps"),
    "what is not used here": (
        {"capabilities": {"tools": ["tools/lamp.py"], "services": [{"name": "x"}]}},
        "this box does nothing with: services",
    ),
    "a setting without a default": (
        {"capabilities": {"tools": ["tools/lamp.py"], "settings": [{"key": "a"}]}},
        "the setting a has no default",
    ),
    "a setting that means something": (
        {"capabilities": {"tools": ["tools/lamp.py"], "settings": [{"key": "voice", "default": {}}]}},
        "the setting voice means something to this box",
    ),
}


async def checked_tools(folder: Path, source: str, *others: tuple[str, str], **manifest: Any) -> CheckReport:
    """The report on a plugin with this tool file."""
    whole = json.dumps({**MANIFEST, **manifest})
    return await checked(folder, ("plugin.json", whole), ("tools/lamp.py", source), *others, plugin="lamps")


async def test_a_good_plugin_is_good_and_shows_what_a_model_sees(tmp_path: Path) -> None:
    report = await checked_tools(tmp_path, GOOD)
    assert (report.name, report.contract, report.is_good) == ("lamps", "tool", True)
    assert report.findings == ()
    (tool,) = report.offered
    assert (tool.name, tool.risk, tool.schema["description"]) == ("lamp_on", "write", "Switch a lamp on.")


@pytest.mark.parametrize("trap", FAULTS)
async def test_a_fault_is_said(tmp_path: Path, trap: str) -> None:
    source, sentence = FAULTS[trap]
    report = await checked_tools(tmp_path, source)
    assert not report.is_good
    assert any(sentence in fault for fault in said(report, faults=True)), report.findings


@pytest.mark.parametrize("trap", REMARKS)
async def test_a_remark_is_said_and_costs_nothing_by_itself(tmp_path: Path, trap: str) -> None:
    source, sentence = REMARKS[trap]
    other = ("tools/other.py", GOOD.replace("lamp_on", "other_on"))
    tools = {"tools": ["tools/lamp.py", "tools/other.py"]}
    report = await checked_tools(tmp_path, source, other, capabilities=tools)
    assert said(report, faults=True) == []
    assert any(sentence in remark for remark in said(report, faults=False)), report.findings


@pytest.mark.parametrize("trap", MANIFEST_FAULTS)
async def test_a_fault_of_the_manifest_is_said(tmp_path: Path, trap: str) -> None:
    manifest, sentence = MANIFEST_FAULTS[trap]
    report = await checked_tools(tmp_path, GOOD, **manifest)
    assert not report.is_good
    assert any(sentence in fault for fault in said(report, faults=True)), report.findings


@pytest.mark.parametrize("trap", MANIFEST_REMARKS)
async def test_a_remark_on_the_manifest_is_said(tmp_path: Path, trap: str) -> None:
    manifest, sentence = MANIFEST_REMARKS[trap]
    report = await checked_tools(tmp_path, GOOD, **manifest)
    assert report.is_good
    assert any(sentence in remark for remark in said(report, faults=False)), report.findings


async def test_a_tool_file_that_the_manifest_forgets_is_found(tmp_path: Path) -> None:
    report = await checked_tools(tmp_path, GOOD, ("tools/more.py", GOOD))
    assert said(report, faults=False) == [
        "plugin.json: tools/more.py is not in capabilities.tools, so it offers nothing"
    ]


async def test_a_plugin_that_is_off_by_default_is_opened_all_the_same(tmp_path: Path) -> None:
    report = await checked_tools(tmp_path, GOOD, default_enabled=False)
    assert [tool.name for tool in report.offered] == ["lamp_on"]
