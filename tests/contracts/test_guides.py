"""The authors' pages tell the truth: their examples are checked and their tests run, their tables are complete."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.contracts.author.checking import check
from appliance.contracts.kotoba.context import ToolContext
from appliance.contracts.sapphire import core_net, manifest
from appliance.home import shipped
from appliance.store.credentials import Credentials
from appliance.testing import fixtures
from appliance.testing.scripts import ScriptedModel, ScriptedNetwork
from appliance.testing.under_test import PluginUnderTest
from tests.cli.conftest import process
from tests.cli.shell import Process

__all__ = ["process"]

EXAMPLES = {"tool-modules.md": "tides", "plugin-tools.md": "lamps"}
PAGES = {page: (shipped("plugins") / page).read_text(encoding="utf-8") for page in EXAMPLES}
ATTRIBUTES = (
    *("SCHEMA", "execute", "RISK", "check", "ANNOUNCE", "HEARTBEAT", "COMPLETE", "FAIL", "EXPRESSIONS", "TIMEOUT"),
    *("ARG_TIMEOUT", "MAX_TIMEOUT", "INTERACTIVE", "BUILT_IN", "TOOLSET"),
)
EXPORTS = (
    *("TOOLS", "execute", "ENABLED", "EMOJI", "AVAILABLE_FUNCTIONS", "get_tools", "MODE_FILTER", "SETTINGS_GATED"),
    *("is_local", "network", "hidden", "loop_warn_after"),
)


def write_example(page: str, folder: Path) -> Path:
    """The files of a page's example: fenced blocks that name a file."""
    blocks = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)
    for place, source in blocks:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return folder / EXAMPLES[page]


@pytest.mark.parametrize("page", PAGES)
async def test_nothing_is_to_be_said_about_the_example(page: str, tmp_path: Path) -> None:
    plugin = write_example(page, tmp_path)
    secrets = Credentials(tmp_path / "credentials.json", {"TIDE_KEY": "sesame-open"}, FakeClock())
    report = await check(plugin, secrets)
    assert [finding for finding in report.findings if "a helper" not in finding.sentence] == []
    assert len(report.offered) == 1


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_of_the_example_pass(page: str, tmp_path: Path, process: Process) -> None:
    ran = process("plugin", "test", write_example(page, tmp_path))
    assert ran.code == 0, ran.out
    assert re.search(r"[34] passed", ran.out)


def table_rows(page: str) -> str:
    """The first cells of every table of a page."""
    return "\n".join(re.findall(r"^\| (.*?) \|", PAGES[page], re.MULTILINE))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_attribute_of_a_module_stands_in_its_table(name: str) -> None:
    assert f"`{name}`" in table_rows("tool-modules.md")


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_and_flag_of_a_tool_file_stands_in_its_table(name: str) -> None:
    assert f"`{name}`" in table_rows("plugin-tools.md")


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(ToolContext)])
def test_every_field_of_ctx_stands_in_its_table(name: str) -> None:
    assert f"`ctx.{name}`" in table_rows("tool-modules.md")


def test_what_this_box_does_with_a_manifest_stands_in_its_table() -> None:
    rows = table_rows("plugin-tools.md")
    assert [name for name in manifest.USED_CAPABILITIES if f"{name}`" not in rows] == []


def test_every_name_of_the_network_door_is_named() -> None:
    assert [name for name in core_net.NAMES if f"`{name}`" not in PAGES["plugin-tools.md"]] == []


@pytest.mark.parametrize(
    ("fixture", "kind"), [("plugin", PluginUnderTest), ("model", ScriptedModel), ("network", ScriptedNetwork)]
)
def test_the_table_of_fixtures_names_what_they_have(fixture: str, kind: type) -> None:
    (row,) = re.findall(rf"^\| `{fixture}` \| (.*) \|$", PAGES["tool-modules.md"], re.MULTILINE)
    known = {name for name in dir(kind) if not name.startswith("_")} - {"close", "name", "endpoint", "exchange"}
    assert [name for name in sorted(known) if name not in {"model", "network"} and f"`{name}" not in row] == []
    assert hasattr(fixtures, fixture)
