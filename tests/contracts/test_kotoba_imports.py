"""Every name that a tool module may import, written down by hand: the table of the box is not its own proof."""

from __future__ import annotations

import itertools
import sys

import pytest

from appliance.contracts.kotoba.imports import OFFERED
from tests.contracts.rig import Rig, tool_source

#: What the page shows to authors, and what tools of the original host import.
DOCUMENTED: dict[str, str] = {
    "kotoba.core.path_security": "PathSecurityError validate_within_dir",
    "kotoba.core.loop": "note_tool_refusal note_tool_failure",
    "kotoba.tools": "ToolContext ToolResult ToolSpec register schemas_for discover",
    "kotoba.core.interaction": (
        "ask_approval request_input request_approval open_input_card open_link_card note_no_run no_run_verdict "
        "no_run_result refusal_note has_pending el_agent_turn APPROVED DECLINED UNANSWERED UNREACHABLE DISMISSED"
    ),
    "kotoba.core.events": "emit_task emit_emotion has_listener draws_cards",
    "kotoba.core.approval": "detect_dangerous ApprovalGate",
    "kotoba.core.sandbox": "backend_name sandbox_available_sync create_sandbox",
    "kotoba.core.quoted": "fence",
    "kotoba.core.emotions": "VALID_EMOTIONS",
    "kotoba.core.work_state": "set_step is_running get",
    "kotoba.core.ephemeral_secrets": "get put",
    "kotoba.core.deferred_exec": "schedule",
    "kotoba.core.llm": "get_client",
    "kotoba.core.user_memory": "",
    "kotoba.soul.prompt": "",
}
LINES = [
    f"from {module} import {name}" if name else f"import {module}"
    for module, names in DOCUMENTED.items()
    for name in names.split() or [""]
]


@pytest.mark.contract("K-094", "K-095", "K-102")
async def test_every_documented_name_can_be_imported_at_the_top_and_inside(rig: Rig) -> None:
    for number, line in enumerate(LINES):
        rig.write(f"one/{number:02}.py", tool_source(f"t{number}", f"{line}\nreturn 'ok'", line))
    await rig.load()
    assert rig.sentences == []
    assert len(rig.names) == len(LINES)
    for number, name in enumerate(rig.names):
        assert (await rig.call(name, f"call-{number}")).text == "ok", LINES[number]


@pytest.mark.parametrize("first", DOCUMENTED)
async def test_they_can_be_imported_in_any_order(rig: Rig, first: str) -> None:
    for known in [name for name in sys.modules if name.partition(".")[0] == "kotoba"]:
        del sys.modules[known]
    order = itertools.chain([first], reversed(DOCUMENTED))
    await rig.load_tool("tool", "return 'ok'", *(f"import {module}" for module in order))
    assert rig.sentences == []


def test_the_table_holds_every_documented_name() -> None:
    for module, names in DOCUMENTED.items():
        assert set(names.split()) <= set(OFFERED[module])


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("from kotoba.tools import registry", ("registry", "kotoba.tools")),
        ("from kotoba.core.user_memory import recall", ("recall", "kotoba.core.user_memory")),
        ("from kotoba.core.loop import execute_with_heartbeat", ("execute_with_heartbeat", "kotoba.core.loop")),
        ("import kotoba.core.engine", ("kotoba.core.engine",)),
        ("from kotoba import cli", ("cli",)),
        ("from kotoba.core import keystore", ("keystore",)),
    ],
)
async def test_a_name_that_is_not_offered_costs_its_file_alone_and_is_named(
    rig: Rig, line: str, names: tuple[str, ...]
) -> None:
    rig.write("test/bad.py", tool_source("bad", "return 'x'", line))
    await rig.load_tool("good", "return 'ok'")

    assert rig.names == ["good"]
    (sentence,) = rig.sentences
    assert sentence.startswith("test: it is not loaded: it imports what this box does not offer")
    assert all(name in sentence for name in names)


async def test_an_attribute_that_is_not_offered_is_named_in_the_log(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    await rig.load_tool("tool", "import kotoba.core.user_memory as memory\nreturn memory.recall('tea')")
    assert (await rig.call("tool")).text.startswith("The tool errored.")
    assert "this box does not offer recall in kotoba.core.user_memory" in caplog.text


@pytest.mark.contract("K-094")
async def test_the_context_is_an_object_of_the_offered_class(rig: Rig) -> None:
    await rig.load_tool("tool", "from kotoba.tools import ToolContext\nreturn str(type(ctx) is ToolContext)")
    assert (await rig.call("tool")).text == "True"
