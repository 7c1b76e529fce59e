"""``appliance net gear``, with a plugin that looks at no network."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.cli.shell import Shell
from tests.contracts.sapphire_rig import tool_file

_PRINTER = {
    "address": "192.168.1.9",
    "lane": "lan",
    "name": "Laser",
    "kind": "printer",
    "also": ["hub"],
    "confidence": 0.995,
    "is_new": True,
    "first_seen": 0.0,
    "evidence": [{"says": "announces _ipp._tcp"}, {"says": "announces _ipp._tcp"}, {"says": "calls itself laserjet"}],
}
_NAMELESS = {**_PRINTER, "name": "", "kind": "unknown", "also": [], "confidence": 0.0, "is_new": False, "evidence": []}


def gear(shell: Shell, body: str) -> None:
    """The owner's own plugin of that name takes the place of the shipped one."""
    manifest = {"name": "lan_gear", "default_enabled": True, "capabilities": {"tools": ["gear.py"]}}
    shell.write("plugins/lan_gear/plugin.json", json.dumps(manifest))
    shell.write("plugins/lan_gear/gear.py", tool_file("lan_gear_look", body, "import json"))


def answering(*things: dict[str, Any]) -> str:
    found = json.dumps({"things": things, "new_since": None})
    return f"assert arguments['form'] == 'data'\nreturn {found!r}, True"


def test_the_things_are_a_table_of_address_lane_name_kind_and_reasons(shell: Shell) -> None:
    gear(shell, answering(_PRINTER, _NAMELESS))
    first, second = shell("net", "gear").out.splitlines()
    reasons = "announces _ipp._tcp; calls itself laserjet"
    assert re.split(" {2,}", first) == ["192.168.1.9", "lan", "Laser", "printer + hub", "99%", "new", reasons]
    assert second.split() == ["192.168.1.9", "lan", "(no", "name)", "unknown", "0%", "1970-01-01"]


def test_as_json_they_come_as_the_plugin_tells_them(shell: Shell) -> None:
    gear(shell, answering(_PRINTER))
    assert shell("net", "gear", "--json").json == {"things": [_PRINTER], "new_since": None}


def test_a_scan_is_only_made_when_it_is_asked_for(shell: Shell) -> None:
    gear(shell, "return json.dumps({'things': [], 'asked': arguments}), True")
    assert shell("net", "gear", "--json").json["asked"]["scan"] is False
    assert shell("net", "gear", "--scan", "--json").json["asked"]["scan"] is True


def test_a_look_that_fails_is_told(shell: Shell) -> None:
    gear(shell, "return 'I am not on a network now, so there is nothing to see.', False")
    ran = shell("net", "gear")
    assert (ran.code, ran.out) == (1, "")
    assert "the network could not be looked at: I am not on a network now" in ran.err
