"""What did you just do, and why: told from the record, without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.box import FakeTurnMemory
from appliance.adapters.fakes.tool import FakeTool
from appliance.approve.config import ApprovalConfig
from appliance.device.conversation_tools import conversation_tools
from appliance.device.why_tool import DeedTeller, why_tools
from appliance.events import Outcome
from appliance.tools.tool import CallContext, Risk, ToolResult
from tests.approve.rig import Scene
from tests.device.house import House


class Story:
    """A scene whose box can be asked about it."""

    def __init__(self, folder: Path, config: ApprovalConfig | None = None) -> None:
        self.scene = Scene(folder, config)
        house = House()
        self.memory = FakeTurnMemory()
        teller = DeedTeller(self.scene.audit, self.scene.clock, UTC, self.scene.catalogue)
        talk = conversation_tools(
            controls=house.controls,
            memory=self.memory,
            ringing=house.ringer,
            catalogue=self.scene.catalogue,
            deeds=teller,
        )
        why = why_tools(teller, self.scene.catalogue)
        self.tools = {tool.name: tool for tool in (*talk, *why)}

    async def ask(self, tool: str = "box_why", channel: str = "voice") -> str:
        return (await self.tools[tool].invoke({}, self.scene.context("why", channel))).text

    async def tell(self, end: str) -> None:
        """Ask for the backup, and let the hand do something."""
        call = await self.scene.asked()
        getattr(self.scene.hand, end)()
        await call


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Callable[..., Story]]:
    stories: list[Story] = []

    def story(config: ApprovalConfig | None = None) -> Story:
        stories.append(Story(tmp_path, config))
        return stories[-1]

    yield story
    for entry in stories:
        entry.scene.database.close()


async def test_it_did_something_because_somebody_pressed(make: Callable[..., Story]) -> None:
    story = make()
    assert await story.ask() == "As far as my record goes, I haven't done anything."
    await story.tell("press")
    assert await story.ask() == (
        "The last thing I did was run backup, at three oh seven in the afternoon. It worked. "
        "You allowed it: somebody pressed my button for it."
    )
    assert "at 3:07 PM" in await story.ask(channel="text")
    story.scene.clock.set_wall(story.scene.clock.now() + timedelta(days=1))
    assert "yesterday, at three oh seven" in await story.ask()
    story.scene.clock.set_wall(story.scene.clock.now(), trusted=False)
    assert "a while ago" in await story.ask()


@pytest.mark.parametrize(
    ("end", "says"),
    [
        ("hold", "Somebody held my button, and that means no."),
        ("lose", "It needs a hand on my button, and I could not ask anybody."),
    ],
)
async def test_it_did_nothing_and_says_why(make: Callable[..., Story], end: str, says: str) -> None:
    story = make()
    await story.tell(end)
    assert await story.ask() == f"I did nothing. I was to do run backup, at three oh seven in the afternoon. {says}"


async def test_silence_is_told_as_silence(make: Callable[..., Story]) -> None:
    story = make()
    call = await story.scene.asked()
    await story.scene.clock.advance(60.0)
    await call
    assert (await story.ask()).endswith("Nobody pressed my button in time. That is not a no: ask me again.")


async def test_what_was_changed_meanwhile_is_told(make: Callable[..., Story]) -> None:
    story = make()
    call = await story.scene.asked()
    story.scene.plugin_digests["plugin:backup"] = "changed"
    story.scene.hand.press()  # type: ignore[union-attr]
    await call
    assert (await story.ask()).endswith("Something that it needs was changed after I had asked.")
    assert (await story.ask()).startswith("I did nothing.")


async def test_a_file_that_was_changed_while_it_ran_is_told(make: Callable[..., Story]) -> None:
    story = make()
    script = story.scene.workdir / "backup.sh"
    script.write_text("echo good\n", encoding="utf-8")

    class Restless(FakeTool):
        async def invoke(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
            script.write_text("echo other\n", encoding="utf-8")
            return ToolResult("done")

    story.scene.add(Restless("restless", risk=Risk.EXEC))
    call = await story.scene.asked("restless", {"command": "sh backup.sh"})
    story.scene.hand.press()  # type: ignore[union-attr]
    await call
    told = await story.ask()
    assert "It worked. You allowed it" in told
    assert told.endswith("A file that it works with was changed or touched while it ran. My record says which one.")


async def test_it_tells_whose_word_else_it_was(make: Callable[..., Story]) -> None:
    story = make()
    await story.scene.office.grants.allow(story.scene.backup, None, days=None, uid=0)
    assert "haven't done anything" in await story.ask(), "a permission alone is no deed"
    await story.scene.start()
    assert (await story.ask()).endswith("My owner has allowed that once and for all, at a shell.")
    story.scene.add(FakeTool("box_timer_set", ToolResult("set"), risk=Risk.WRITE, origin="box"))
    await story.scene.start("box_timer_set")
    assert "timer set" in await story.ask()
    assert (await story.ask()).endswith("My settings let that run without asking.")


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (ToolResult("no", Outcome.FAILED), "I tried run backup"),
        (ToolResult("no", Outcome.REFUSED), "I called run backup"),
        (ToolResult("later", Outcome.PENDING), "it is not done yet"),
    ],
)
async def test_how_it_ended_is_told(make: Callable[..., Story], result: ToolResult, says: str) -> None:
    story = make()
    story.scene.backup._results = [result]
    await story.tell("press")
    assert says in await story.ask()


async def test_what_was_done_comes_from_the_turn_and_else_from_the_record(make: Callable[..., Story]) -> None:
    story = make()
    assert await story.ask("box_did") == "I haven't done anything lately."
    await story.tell("press")
    assert await story.ask("box_did") == (
        "The last thing I did was run backup, at three oh seven in the afternoon. It worked."
    )
    story.memory.last_did = ("Your timer is set for 5 minutes.",)
    assert await story.ask("box_did") == "Your timer is set for 5 minutes."


async def test_a_record_that_cannot_be_read_is_a_sentence(make: Callable[..., Story]) -> None:
    story = make()
    story.scene.database.close()
    assert "storage" in await story.ask()
