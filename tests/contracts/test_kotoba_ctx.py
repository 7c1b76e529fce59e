"""``ctx`` against the recovered table, field by field; and what becomes of values that a tool returns."""

from __future__ import annotations

import base64
import dataclasses
from pathlib import Path

import pytest

from appliance.adapters.fakes.model_endpoint import calls, says
from appliance.contracts.kotoba.context import Approval, ToolContext
from appliance.contracts.kotoba.keys import PluginKeys
from appliance.contracts.kotoba.results import ERRORED, FAILURE_NOTE
from appliance.events import Outcome
from appliance.tools.tool import ToolCall, Verdict, VoiceLines
from tests.contracts.rig import Rig, schema_line
from tests.think.scene import Scene

#: Name and default of every field, as the facts about the original host have them; ``db`` has none there.
DEFAULTS: dict[str, object] = {
    "session_id": None,
    "client": None,
    "workdir": None,
    "sandbox": None,
    "approval": None,
    "mode": "companion",
    "channel": "voice",
    "el_call_bound": False,
    "spawn_depth": 0,
    "emit_progress": None,
    "mcp": None,
    "soul_patterns": None,
    "subagent_id": None,
    "user_text": None,
    "call_id": "",
    "excluded_tools": frozenset(),
}


async def context_of(rig: Rig, channel: str = "voice") -> ToolContext:
    """The ctx that a tool got in a call."""
    got: list[ToolContext] = []
    tool = await rig.load_tool("look", "SEEN(ctx)\nreturn 'ok'", "SEEN = None")
    tool.module.SEEN = got.append
    call = ToolCall("call-1", "look", {})
    await rig.runner.run(call, rig.context(channel), rig.registry.select())
    return got[0]


@pytest.mark.contract("K-138", "K-143", "K-144", "K-147", "K-148", "K-150", "K-152", "K-153")
def test_every_field_has_the_default_of_the_table() -> None:
    ctx = ToolContext(db="database")
    assert vars(ctx) == {"db": "database", **DEFAULTS}
    assert [field.name for field in dataclasses.fields(ToolContext)] == ["db", *DEFAULTS]


@pytest.mark.contract("K-137", "K-138", "K-140", "K-142", "K-143", "K-146", "K-152")
async def test_a_call_fills_what_the_table_says_is_always_there(rig: Rig, tmp_path: Path) -> None:
    ctx = await context_of(rig)
    assert isinstance(ctx.db, PluginKeys)
    assert isinstance(ctx.approval, Approval)
    assert (ctx.session_id, ctx.call_id, ctx.mode, ctx.spawn_depth) == ("chat-1", "call-1", "companion", 0)
    assert ctx.workdir == tmp_path / "workdir"
    assert ctx.workdir.is_dir()


@pytest.mark.contract("K-144", "K-158")
@pytest.mark.parametrize("channel", ["voice", "text"])
async def test_the_turn_itself_is_in_it(rig: Rig, channel: str) -> None:
    ctx = await context_of(rig, channel)
    assert ctx.channel == channel
    turn = {name: value for name, value in vars(ctx).items() if name not in ("db", *DEFAULTS)}
    assert turn == {
        "run_id": rig.turn.turn_id,
        "announce_turn": False,
        "user_texts": ["now", "before"],
        "register": channel,
        "model_role": "companion",
        "narrate_tools": channel == "voice",
    }


@pytest.mark.contract("K-149")
async def test_the_lines_of_every_tool_are_in_it_with_the_souls_over_them(tmp_path: Path) -> None:
    rig = Rig(tmp_path, soul={"look": {"after": "", "heartbeat": ["Hm."]}})
    rig.write("other.py", schema_line("other") + 'FAIL = "No."\nasync def execute(args, ctx):\n    return "x"\n')
    ctx = await context_of(rig)
    assert ctx.soul_patterns == {
        "look": {"before": "", "heartbeat": ["Hm."], "after": "", "fail": ""},
        "other": {"before": "", "heartbeat": [], "after": "", "fail": "No."},
    }
    await rig.host.close()


@pytest.mark.contract("K-146", "K-150", "K-152", "K-154")
async def test_a_helper_gets_a_context_of_its_own_one_level_deeper(rig: Rig) -> None:
    ctx = await context_of(rig)
    child = ctx.child("helper-1")
    assert type(child) is ToolContext
    changed = {"mode": "work", "spawn_depth": 1, "subagent_id": "helper-1", "call_id": ""}
    assert {name: getattr(child, name) for name in changed} == changed
    same = ("db", *(name for name in DEFAULTS if name not in changed))
    assert all(getattr(child, name) is getattr(ctx, name) for name in same)
    assert child.child("helper-2").spawn_depth == 2


@pytest.mark.contract("K-142")
async def test_its_gate_asks_the_person_through_the_desk(tmp_path: Path) -> None:
    async def confirm(question: object) -> Verdict:
        return Verdict.APPROVED

    rig = Rig(tmp_path, confirm=confirm)
    await rig.load_tool("ask", "return repr(await ctx.approval.confirm('open the gate'))")
    assert (await rig.call("ask")).text == "True"
    await rig.host.close()


# --------------------------------------------------------------------------------------- what a tool returns

PNG = b"\x89PNG..."
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()


@pytest.mark.contract("K-118")
async def test_the_model_gets_each_picture_of_a_result_beside_its_text(rig: Rig) -> None:
    body = f"from kotoba.tools import ToolResult\nreturn ToolResult('Two views.', [{URL!r}, {URL!r}])"
    await rig.load_tool("camera", body)
    scene = Scene(calls(("camera", {})), says("A cat."))
    scene.results["camera"] = await rig.call("camera")

    await scene.ask("What do you see?")

    output, message = scene.fake.requests[1].items[-2:]
    assert output["output"] == "Two views."
    parts = [part for part in message["content"] if part["type"] == "input_image"]
    assert parts == [{"type": "input_image", "detail": "auto", "image_url": URL}] * 2


@pytest.mark.contract("K-132")
async def test_an_interactive_plain_def_is_an_errored_call(rig: Rig) -> None:
    rig.write("a.py", schema_line("plain") + "INTERACTIVE = True\ndef execute(args, ctx):\n    return 'value'\n")
    await rig.load()
    result = await rig.call("plain")
    assert (result.text, result.outcome) == (f"{ERRORED} {FAILURE_NOTE}", Outcome.FAILED)


# ----------------------------------------------------------------------------------- the soul, while it runs


async def test_an_edited_soul_changes_the_lines_and_opens_no_file_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    loaded = await rig.load_tool("look", "return repr(ctx.soul_patterns['look'])", 'ANNOUNCE = "Own."', 'FAIL = "No."')
    rig.write("test/look.py", "raise AssertionError('opened again')")

    await rig.contract.change_soul({"look": {"before": "Let me see.", "fail": ""}})

    assert loaded.voice_lines == VoiceLines("Let me see.", (), "", "")
    pattern = {"before": "Let me see.", "heartbeat": [], "after": "", "fail": ""}
    assert (await rig.call("look")).text == repr(pattern)
    await rig.contract.change_soul({})
    assert loaded.voice_lines == VoiceLines("Own.", (), "", "No.")
    await rig.host.close()
