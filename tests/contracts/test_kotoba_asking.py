"""A tool module asks a person: both doors lead to the desk, and every ending has its word."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.approve.config import ApprovalConfig
from appliance.contracts.kotoba.asking import ask_at
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.interaction import refusal_note
from appliance.contracts.plugin_files import PluginFiles
from appliance.events import Outcome
from appliance.tools.runner import Runner
from appliance.tools.tool import Verdict
from tests.approve.rig import Scene
from tests.contracts.rig import Rig, tool_source

ASK = """
from kotoba.core.interaction import APPROVED, ask_approval, no_run_result, no_run_verdict, refusal_note
verdict = await ask_approval(ctx, args.get("action", "open the gate"))
if verdict != APPROVED:
    assert no_run_verdict(ctx, ctx.call_id) == verdict
    assert no_run_result(ctx, "opening the gate", "") == refusal_note(verdict, "opening the gate")
    return verdict + ": " + refusal_note(verdict, "opening the gate")
return "opened"
"""
CONFIRM = "return 'opened' if await ctx.approval.confirm(args.get('action', 'open the gate')) else 'closed'"


class House:
    """Plugins of a rig at the desk of a scene."""

    def __init__(self, folder: Path, config: ApprovalConfig | None = None) -> None:
        (folder / "scene").mkdir()
        self.scene = Scene(folder / "scene", config)
        self.rig = Rig(folder, confirm=ask_at(self.scene.office.desk))
        self.rig.clock = self.scene.clock
        self.rig.runner = Runner(desk=self.scene.office.desk, audit=self.scene.trail, clock=self.scene.clock)

    async def load(self, body: str, *attributes: str) -> None:
        await self.rig.load_tool("gate", body, *attributes)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    found = House(tmp_path)
    yield found
    await found.rig.host.close()
    found.scene.database.close()


@pytest.mark.parametrize("body", [ASK, CONFIRM])
async def test_a_press_is_a_yes(house: House, body: str) -> None:
    await house.load(body)
    call = house.rig.start("gate")
    await house.scene.until_armed()
    assert house.scene.questions == [
        "The tool, gate, asks whether it may do this: open the gate. Press my button for yes. Hold it for no."
    ]
    house.scene.hand.press()  # type: ignore[union-attr]
    result = await call
    assert (result.text, result.outcome) == ("opened", Outcome.OK)
    (decision,) = await house.scene.entries()
    assert (decision.verdict, decision.approver, decision.tool) == ("approved", "button", "gate")


@pytest.mark.parametrize(
    ("end", "word", "says"),
    [
        ("hold", "declined", ("said NO", "did not happen")),
        ("wait", "unanswered", ("timed out on screen", "ask again")),
        ("lose", "unreachable", ("could not ask",)),
    ],
)
async def test_every_other_ending_has_its_own_word_and_nothing_ran(
    house: House, end: str, word: str, says: tuple[str, ...]
) -> None:
    await house.load(ASK)
    call = house.rig.start("gate")
    await house.scene.until_armed()
    if end == "wait":
        await house.scene.clock.advance(60.0)
    else:
        getattr(house.scene.hand, end)()
    result = await call
    assert result.outcome is Outcome.REFUSED
    assert result.text.startswith(f"{word}: ")
    assert all(part in result.text for part in says)
    assert "said NO" not in result.text or word == "declined"


async def test_a_refused_confirmation_is_a_call_that_never_ran(house: House) -> None:
    await house.load(CONFIRM)
    call = house.rig.start("gate")
    await house.scene.until_armed()
    house.scene.hand.hold()  # type: ignore[union-attr]
    result = await call
    assert (result.text, result.outcome) == ("closed", Outcome.REFUSED)


async def test_one_press_covers_the_call_and_its_own_question(house: House) -> None:
    await house.load(ASK, 'RISK = "exec"')
    call = house.rig.start("gate")
    await house.scene.until_armed()
    house.scene.hand.press()  # type: ignore[union-attr]
    assert (await call).text == "opened"
    assert len(house.scene.questions) == 1


async def test_something_dangerous_in_the_middle_is_asked_about_again(house: House) -> None:
    await house.load(ASK, 'RISK = "exec"')
    call = house.rig.start("gate", action="rm -rf /home")
    await house.scene.until_armed()
    house.scene.hand.press()  # type: ignore[union-attr]
    await house.scene.until_armed()
    assert "Careful, it deletes a whole folder." in house.scene.questions[1]
    house.scene.hand.hold()  # type: ignore[union-attr]
    assert (await call).text.startswith("declined")


async def test_a_stopped_call_takes_its_question_back(house: House) -> None:
    await house.load(CONFIRM)
    call = house.rig.start("gate")
    await house.scene.until_armed()
    call.cancel()
    await house.rig.host.close()
    await house.scene.quiet()
    assert house.scene.office.asker.pending == ()


async def test_without_a_desk_nobody_can_be_asked(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await rig.load_tool("gate", ASK)
    assert (await rig.call("gate")).text.startswith("unreachable")
    await rig.host.close()


def test_the_five_notes_differ() -> None:
    words = [verdict.value for verdict in Verdict]
    notes = {refusal_note(word, "opening the gate") for word in words if word not in ("allowed", "approved")}
    assert len(notes) == 4
    assert refusal_note("anything else", "it") == refusal_note("unreachable", "it")


# ----------------------------------------------------------------------------------------- a plugin's files


@pytest.fixture
def files(tmp_path: Path) -> PluginFiles:
    source = tool_source("a", "return 'x'")
    (tmp_path / "home" / "test").mkdir(parents=True)
    (tmp_path / "home" / "test" / "a.py").write_text(source, encoding="utf-8")
    (tmp_path / "home" / "test" / "data.txt").write_text("1", encoding="utf-8")
    (tmp_path / "home" / "alone.py").write_text(source, encoding="utf-8")
    (tmp_path / "shipped").mkdir()
    roots = [PluginRoot(tmp_path / "home", Source.OWNER), PluginRoot(tmp_path / "shipped", Source.SHIPPED)]
    return PluginFiles(roots, entry_points=list)


def test_every_change_of_a_plugin_changes_its_digest(files: PluginFiles, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "test"
    seen = {files.digest("plugin:test")}
    (folder / "data.txt").write_text("2", encoding="utf-8")
    seen.add(files.digest("plugin:test"))
    (folder / "data.txt").rename(folder / "other.txt")
    seen.add(files.digest("plugin:test"))
    (folder / "sub").mkdir()
    (folder / "sub" / "x").write_text("", encoding="utf-8")
    seen.add(files.digest("plugin:test"))
    (folder / "link").symlink_to("other.txt")
    seen.add(files.digest("plugin:test"))
    (tmp_path / "shipped" / "test.py").write_text("", encoding="utf-8")
    seen.add(files.digest("plugin:test"))
    assert len(seen) == 6
    assert all(len(digest) == 64 for digest in seen)


def test_what_running_leaves_behind_is_no_change(files: PluginFiles, tmp_path: Path) -> None:
    before = files.digest("plugin:test")
    (tmp_path / "home" / "test" / "__pycache__").mkdir()
    (tmp_path / "home" / "test" / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert files.digest("plugin:test") == before


def test_a_plugin_of_one_file_has_a_digest_and_a_missing_one_has_none(files: PluginFiles) -> None:
    assert len(files.digest("plugin:alone")) == 64
    assert [files.digest(name) for name in ("plugin:none", "plugin:", "plugin:../home", "plugin:.")] == [""] * 4
    assert files.digest("box") == "box"


def test_an_installed_package_counts_with_its_files() -> None:
    from importlib.metadata import distribution

    point = next(point for point in distribution("pytest").entry_points if point.name == "pytest")
    assert len(PluginFiles([], entry_points=lambda: [point]).digest("plugin:pytest")) == 64
