"""``ctx``, the path jail, asking a person, and the names that a module may import."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from appliance.contracts.kotoba.context import Confirmation, ToolContext
from appliance.contracts.kotoba.imports import OFFERED, OfferedModules
from appliance.contracts.kotoba.path_security import PathSecurityError, validate_within_dir
from appliance.events import Outcome
from appliance.tools.tool import Verdict
from tests.contracts.gate import until
from tests.contracts.rig import Rig


async def seen(rig: Rig, expression: str) -> str:
    """The value of an expression over ``ctx`` and ``args``, as a tool sees it."""
    await rig.load_tool("look", f"return 'value: ' + repr({expression})")
    return (await rig.call("look", x=1)).text.removeprefix("value: ")


@pytest.mark.contract("K-018", "K-145", "K-147", "K-148", "K-150", "K-151", "K-153", "K-159")
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("args", "{'x': 1}"),
        ("ctx.session_id", "'chat-1'"),
        ("ctx.call_id", "'call-1'"),
        ("ctx.channel", "'voice'"),
        ("ctx.mode", "'companion'"),
        ("ctx.user_text", "'now'"),
        ("ctx.user_texts", "['now', 'before']"),
        ("ctx.el_call_bound", "False"),
        ("ctx.spawn_depth", "0"),
        ("ctx.emit_progress", "None"),
        ("ctx.mcp", "None"),
        ("ctx.client", "None"),
        ("ctx.sandbox", "None"),
        ("ctx.subagent_id", "None"),
        ("ctx.excluded_tools", "frozenset()"),
        ("ctx.soul_patterns['look']", "{'before': '', 'heartbeat': [], 'after': '', 'fail': ''}"),
        ("ctx.workdir.is_dir()", "True"),
        ("(ctx.register, ctx.narrate_tools)", "('voice', True)"),
        ("setattr(ctx, '_mine', 1) or ctx._mine", "1"),
        ("await ctx.ensure_sandbox()", "None"),
        ("await ctx.cleanup()", "None"),
        ("await ctx.approval.confirm('rm -rf /')", "False"),
        ("type(ctx).__name__", "'ToolContext'"),
    ],
)
async def test_what_a_tool_finds_in_its_context(rig: Rig, expression: str, value: str) -> None:
    assert await seen(rig, expression) == value


@pytest.mark.contract("K-019", "K-020")
async def test_arguments_reach_the_tool_whatever_its_schema_says(rig: Rig) -> None:
    parameters = (
        'SCHEMA["parameters"] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    )
    await rig.load_tool("loose", "return repr(args)", parameters)

    assert (await rig.call("loose", n="many", more=[1])).text == "{'more': [1], 'n': 'many'}"
    assert (await rig.call("loose")).text == "{}"


@pytest.mark.contract("K-159")
def test_a_context_can_be_made_by_an_author_for_a_test() -> None:
    ctx = ToolContext(db="database")
    assert (ctx.db, ctx.session_id, ctx.call_id, ctx.mode, ctx.channel) == ("database", None, "", "companion", "voice")
    ctx.anything = "goes"  # type: ignore[attr-defined]


def test_a_child_context_is_one_level_deeper_and_has_no_call() -> None:
    parent = ToolContext(session_id="s", call_id="c", workdir=Path("w"), excluded_tools=frozenset({"x"}))
    child = parent.child("helper")
    assert (child.subagent_id, child.mode, child.spawn_depth, child.call_id) == ("helper", "work", 1, "")
    assert (child.session_id, child.workdir, child.excluded_tools) == ("s", Path("w"), frozenset({"x"}))


@pytest.mark.contract("K-157")
async def test_reading_a_text_gives_none_for_any_miss(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xc3\xa9 \xff")
    ctx = ToolContext(workdir=tmp_path)
    assert await ctx.read_text("a.txt") == "café \N{REPLACEMENT CHARACTER}"
    for miss in ("none.txt", "../secret", ".", "nul\0byte", None):
        assert await ctx.read_text(miss) is None  # type: ignore[arg-type]
    assert await ToolContext().read_text("a.txt") is None


# -------------------------------------------------------------------------------------- asking a person


async def test_a_tool_asks_a_person_and_its_budget_stands_still_meanwhile(tmp_path: Path) -> None:
    answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
    asked: list[Confirmation] = []

    async def confirm(question: Confirmation) -> Verdict:
        asked.append(question)
        return await answer

    rig = Rig(tmp_path, confirm=confirm)
    await rig.load_tool("ask", "return 'yes' if await ctx.approval.confirm('open the gate', family='ask') else 'no'")
    call = rig.start("ask")
    await until(lambda: bool(asked))

    await rig.clock.advance(120.0)
    assert not call.done()
    answer.set_result(Verdict.APPROVED)

    assert (await call).text == "yes"
    question = asked[0]
    assert (question.tool, question.plugin, question.action) == ("ask", "test", "open the gate")
    assert (question.risk_kind, question.family, question.force_ask) == ("exec", "ask", False)
    assert question.call.call_id == "call-1"
    assert rig.observer.told == ["started ask", "waiting", "going on", "finished ask ok"]
    await rig.host.close()


async def test_a_fault_while_asking_means_no(tmp_path: Path) -> None:
    async def confirm(question: Confirmation) -> Verdict:
        raise OSError("the button fell off")

    rig = Rig(tmp_path, confirm=confirm)
    await rig.load_tool("ask", "return 'yes' if await ctx.approval.confirm('open the gate') else 'no'")
    assert (await rig.call("ask")).text == "no"
    await rig.host.close()


# ------------------------------------------------------------------------------------------ the path jail


@pytest.fixture
def jail(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (tmp_path / "root2").mkdir()
    (root / "out_link").symlink_to(tmp_path)
    (root / "in_link").symlink_to(root / "in")
    return root


@pytest.mark.contract("K-096", "K-098")
@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("a.txt", "a.txt"),
        ("in/../a.txt", "a.txt"),
        ("in_link/b", "in/b"),
        ("", ""),
        (".", ""),
        ("not/yet/there", "not/yet/there"),
        (" a", " a"),
    ],
)
def test_a_path_inside_is_given_back_absolute(jail: Path, path: str, place: str) -> None:
    assert validate_within_dir(path, jail) == jail.resolve() / place
    assert validate_within_dir(str(jail / path), str(jail)) == jail.resolve() / place


@pytest.mark.contract("K-097", "K-098", "K-099")
@pytest.mark.parametrize("path", ["..", "../root2/x", "in/../../x", "/etc/passwd", "out_link", "out_link/x", "~/x"])
def test_a_path_that_leads_out_is_refused(jail: Path, path: str) -> None:
    with pytest.raises(PathSecurityError):
        validate_within_dir(path, jail)


@pytest.mark.contract("K-095", "K-096", "K-098")
async def test_the_jail_as_the_page_shows_it(rig: Rig) -> None:
    body = (
        "from kotoba.core.path_security import PathSecurityError, validate_within_dir\n"
        "try:\n"
        "    target = validate_within_dir(args['path'], ctx.workdir)\n"
        "except PathSecurityError:\n"
        "    return 'That path is outside my workspace.'\n"
        "target.write_text('kept')\n"
        "return await ctx.read_text(args['path'])"
    )
    await rig.load_tool("keep", body)

    assert (await rig.call("keep", path="../../x")).text == "That path is outside my workspace."
    assert (await rig.call("keep", path="notes.txt")).text == "kept"


# ----------------------------------------------------------------------------------------- import names


@pytest.mark.parametrize("module", [name for name, names in OFFERED.items() if names])
async def test_every_offered_name_can_be_imported_at_the_top_and_inside(rig: Rig, module: str) -> None:
    names = ", ".join(OFFERED[module])
    for known in [known for known in sys.modules if known.partition(".")[0] == "kotoba"]:
        del sys.modules[known]
    await rig.load_tool("tool", f"from {module} import {names}\nreturn 'ok'", f"from {module} import {names}")
    assert rig.sentences == []
    assert (await rig.call("tool")).text == "ok"


async def test_packages_can_be_imported_in_any_style(rig: Rig) -> None:
    body = "import kotoba.core.loop as l, kotoba.tools\nfrom kotoba.core import loop\nfrom kotoba import core\n"
    await rig.load_tool("tool", body + "return str(l is loop is core.loop and hasattr(loop, 'nothing') is False)")
    assert (await rig.call("tool")).text == "True"


async def test_a_name_that_is_not_offered_is_an_import_error_that_names_it(rig: Rig) -> None:
    body = "try:\n    import kotoba.core.sandboxes\nexcept ImportError as e:\n    return str(e)"
    await rig.load_tool("tool", body)

    result = await rig.call("tool")

    assert result.outcome is Outcome.OK
    assert "does not offer kotoba.core.sandboxes" in result.text


def test_the_finder_is_installed_once_and_leaves_other_names_alone() -> None:
    OfferedModules.install()
    OfferedModules.install()
    assert len([finder for finder in sys.meta_path if isinstance(finder, OfferedModules)]) == 1
    assert OfferedModules().find_spec("kotobank", None) is None
