"""``toolset``: which of the plugins' tools take part; and what ``tool list`` shows of their flags."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell
from tests.contracts.sapphire_rig import tool_file


def garden(shell: Shell) -> None:
    """A plugin with a tool that goes out and a hidden one."""
    manifest = {
        "name": "garden",
        "default_enabled": True,
        "capabilities": {"tools": ["tools/water.py", "tools/dig.py"]},
    }
    shell.write("plugins/garden/plugin.json", json.dumps(manifest))
    shell.write("plugins/garden/tools/water.py", tool_file("water", "return 'x', True", flags='"network": True,'))
    shell.write("plugins/garden/tools/dig.py", tool_file("dig", "return 'dug', True", flags='"hidden": True,'))


@pytest.mark.contract("S-020", "S-164")
def test_the_list_of_tools_shows_which_are_network_tools_and_which_are_hidden(shell: Shell) -> None:
    garden(shell)
    lines = {line.split()[0]: line for line in shell("tool", "list").out.splitlines()}
    assert "A tool [network]" in lines["water"]
    assert "A tool [hidden]" in lines["dig"]
    assert "[" not in lines["roll_dice"]
    labels = {tool["name"]: tool["labels"] for tool in shell("tool", "list", "--json").json}
    assert (labels["water"], labels["dig"], labels["box_time"]) == (["network"], ["hidden"], [])


@pytest.mark.contract("S-156", "S-174")
def test_a_toolset_is_made_used_and_forgotten(shell: Shell) -> None:
    garden(shell)
    assert shell("toolset", "new", "spring", "dig", "roll_dice").out.startswith("spring has 2 tools; ")
    ran = shell("toolset", "use", "spring")
    assert ran.out == "spring is in use: 2 tools of plugins; the box's own are always there\n"
    assert sorted(shell("toolset", "show").out.split()) == ["dig", "roll_dice"]
    rows = [line.split() for line in shell("toolset", "list").out.splitlines()]
    assert ["*", "spring", "saved", "2", "tools"] in rows
    assert ["plugin_garden_water", "1", "tool"] in rows
    assert "not in the toolset spring" in shell("tool", "why", "water").out
    assert shell("tool", "why", "dig").out.startswith("dig (write, from plugin:garden) is offered")
    assert shell("toolset", "delete", "spring").out == "spring is forgotten; all is in use\n"
    assert shell("toolset", "show", "--json").json["name"] == "all"


def test_a_name_that_means_nothing_is_told(shell: Shell) -> None:
    ran = shell("toolset", "use", "summer")
    assert ran.out == "summer is in use: 0 tools of plugins; the box's own are always there\n"
    assert "summer is in use, and there is nothing of that name now" in ran.err
    assert "there is no toolset 'winter'" in shell("toolset", "show", "winter").err
