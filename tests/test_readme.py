"""The first page tells the truth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_commands_is_that_of_the_program() -> None:
    table = README.partition("<!-- commands")[2].partition("<!-- end of commands -->")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {command.help} |" for name, command in COMMANDS.items()]


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_the_commands_in_its_examples_exist() -> None:
    named = set(re.findall(r"^\./run (\w+)", README, re.MULTILINE)) | set(re.findall(r"`\./run (\w+)", README))
    assert named - {"test", "setup"} <= set(COMMANDS) | {"COMMAND"}
    assert {"model", "ask", "config"} <= named
