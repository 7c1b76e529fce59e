"""What a person hears and sees around a call of a tool module, from its attributes to the loudspeaker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.desk import FakeDesk
from appliance.clock import settle
from appliance.contracts.kotoba.context import Confirmation
from appliance.events import Emotion, EmotionChanged, LineKind, Narrated, Outcome
from appliance.speak.narrator import Narrator
from appliance.tools.runner import Runner
from appliance.tools.tool import ToolResult, Verdict
from tests.contracts.gate import Gate, until
from tests.contracts.rig import Rig
from tests.speak.rig import Rig as SpeakRig

LINES = (
    'ANNOUNCE = "Let me look."',
    'HEARTBEAT = ["Still looking.", "Nearly there."]',
    'COMPLETE = "Here it is."',
    'FAIL = "It did not answer."',
    'EXPRESSIONS = {"focus": "determined", "fail": "confused", "done": "happy", "glance": "excited"}',
    "TIMEOUT = 200",
)
WAIT = "import asyncio\nfrom tests.contracts.gate import GATES\nawait asyncio.to_thread(GATES[0].block)\n"
ASK = "return 'done' if await ctx.approval.confirm('open the gate') else 'left'"


class Hall:
    """A box with plugins and a loudspeaker."""

    def __init__(self, folder: Path) -> None:
        self.answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self.is_asked = False
        self.rig = Rig(folder, confirm=self._confirm)
        self.sound = SpeakRig(block_seconds=0.1)
        self.rig.clock = self.sound.clock
        self.narrator = Narrator(self.sound.speaker, self.sound.clock, self.sound.events.append)
        self.narrator.begin_turn(self.rig.turn.turn_id, self.rig.turn, "voice", False)
        self.rig.runner = Runner(
            desk=FakeDesk(), audit=self.rig.audit, clock=self.sound.clock, observers=[self.narrator]
        )
        self._started_at = 0.0

    async def _confirm(self, _question: Confirmation) -> Verdict:
        self.is_asked = True
        return await self.answer

    async def start(self, body: str, *attributes: str) -> asyncio.Task[ToolResult]:
        await self.rig.load_tool("look", body, *LINES, *attributes)
        self._started_at = self.sound.clock.monotonic_seconds()
        call = self.rig.start("look")
        # The announcement is made before any of it is played, as by a voice that is faster than speech.
        await settle()
        return call

    async def ends(self, call: asyncio.Task[ToolResult]) -> Outcome:
        """Let it end, and its last line be said."""
        outcome = (await call).outcome
        await self.sound.play(2.0)
        return outcome

    @property
    def beats(self) -> list[tuple[int, str]]:
        """When each heartbeat began to sound, in whole seconds of the call."""
        told = [fact for fact in self.sound.told(Narrated) if fact.kind is LineKind.HEARTBEAT]
        return [(round(fact.at_seconds - self._started_at), fact.text) for fact in told]

    @property
    def faces(self) -> list[tuple[Emotion, str]]:
        return [(fact.emotion, fact.source) for fact in self.sound.told(EmotionChanged)]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    made = Hall(tmp_path)
    yield made
    await made.rig.host.close()


@pytest.mark.contract("K-054", "K-055", "K-056", "K-057", "K-058", "K-061", "K-073", "K-076", "K-078", "K-079")
async def test_a_slow_call_speaks_at_9_30_51_and_72_seconds_and_then_says_that_it_is_done(
    hall: Hall, gate: Gate
) -> None:
    call = await hall.start(f"{WAIT}return 'found'")
    await gate.reached()

    await hall.sound.play(80.0)
    gate.open()

    assert await hall.ends(call) is Outcome.OK
    near = "Nearly there."
    assert hall.beats == [(9, "Still looking."), (30, near), (51, near), (72, near)]
    assert hall.sound.heard == ["Let me look.", "Still looking.", near, near, near, "Here it is."]
    assert hall.faces == [(Emotion.DETERMINED, "focus")]


@pytest.mark.contract("K-059", "K-060")
async def test_a_beat_that_falls_into_a_question_comes_later_and_none_is_lost(hall: Hall, gate: Gate) -> None:
    call = await hall.start(f"await ctx.approval.confirm('open the gate')\n{WAIT}return 'found'")
    await until(lambda: hall.is_asked)

    await hall.sound.play(40.0)
    assert hall.beats == []
    hall.answer.set_result(Verdict.APPROVED)
    await gate.reached()
    await hall.sound.play(30.0)

    # Due at 9 s, put off by 9 s each time: to 18, 27, 36, and to 45 s, when nobody is asked any more.
    assert hall.beats == [(45, "Still looking."), (66, "Nearly there.")]
    call.cancel()


FAILURES = {
    "raises": "raise OSError('no answer')",
    "returns nothing": "return None",
    "notes it": "from kotoba.core.loop import note_tool_failure\nnote_tool_failure('502')\nreturn 'It is down.'",
}


@pytest.mark.contract("K-061", "K-062", "K-074", "K-109")
@pytest.mark.parametrize("body", FAILURES.values(), ids=FAILURES.keys())
async def test_a_failure_has_its_line_and_its_face_and_no_other(hall: Hall, body: str) -> None:
    assert await hall.ends(await hall.start(body)) is Outcome.FAILED
    assert hall.sound.heard == ["Let me look.", "It did not answer."]
    assert hall.faces == [(Emotion.DETERMINED, "focus"), (Emotion.CONFUSED, "fail")]


@pytest.mark.contract("K-062", "K-081")
async def test_a_call_that_runs_out_of_time_has_the_line_of_a_failure(hall: Hall, gate: Gate) -> None:
    call = await hall.start(f"{WAIT}return 'late'", "TIMEOUT = 20")
    await gate.reached()
    await hall.sound.play(22.0)
    assert await hall.ends(call) is Outcome.FAILED
    assert hall.sound.heard == ["Let me look.", "Still looking.", "It did not answer."]


REFUSES = "from kotoba.core.loop import note_tool_refusal\nnote_tool_refusal(ctx)\nreturn 'I will not.'"


@pytest.mark.contract("K-074", "K-105")
async def test_a_refusal_says_neither_line_and_shows_no_face(hall: Hall) -> None:
    assert await hall.ends(await hall.start(REFUSES)) is Outcome.REFUSED
    assert hall.sound.heard == ["Let me look."]
    assert hall.faces == [(Emotion.DETERMINED, "focus")]


@pytest.mark.parametrize(
    ("verdict", "heard"),
    [
        pytest.param(Verdict.DECLINED, [], marks=pytest.mark.contract("K-063")),
        pytest.param(Verdict.UNANSWERED, [], marks=pytest.mark.contract("K-064")),
        (Verdict.UNREACHABLE, []),
        (Verdict.APPROVED, ["Here it is."]),
    ],
)
async def test_a_call_that_got_no_yes_says_neither_line(hall: Hall, verdict: Verdict, heard: list[str]) -> None:
    call = await hall.start(ASK)
    await until(lambda: hall.is_asked)
    await hall.sound.play(2.0)
    hall.answer.set_result(verdict)
    await hall.ends(call)
    assert hall.sound.heard == ["Let me look.", *heard]


@pytest.mark.contract("K-064")
async def test_nothing_is_concluded_while_the_question_is_open(hall: Hall) -> None:
    call = await hall.start(ASK)
    await until(lambda: hall.is_asked)
    await hall.sound.play(100.0)
    assert hall.sound.heard == ["Let me look."]
    assert not call.done()
    call.cancel()


@pytest.mark.contract("K-037")
async def test_an_exec_tool_is_not_cancelled_while_its_question_is_open(hall: Hall) -> None:
    call = await hall.start(ASK, 'RISK = "exec"', "TIMEOUT = 5")
    await until(lambda: hall.is_asked)

    await hall.sound.play(180.0)
    assert not call.done()
    hall.answer.set_result(Verdict.APPROVED)

    assert (await call).text == "done"


@pytest.mark.contract("K-089")
async def test_an_interactive_call_has_no_beats(hall: Hall, gate: Gate) -> None:
    call = await hall.start(f"{WAIT}return 'typed'", "INTERACTIVE = True")
    await gate.reached()
    await hall.sound.play(60.0)
    gate.open()
    await hall.ends(call)
    assert hall.sound.heard == ["Let me look.", "Here it is."]


@pytest.mark.contract("K-053", "K-066", "K-067", "K-115")
@pytest.mark.parametrize(("line", "heard"), [("", []), ('FAIL = "Oh no."', []), ('COMPLETE = "Done."', ["Done."])])
async def test_where_nothing_is_declared_nothing_is_said(hall: Hall, gate: Gate, line: str, heard: list[str]) -> None:
    await hall.rig.load_tool("quiet", f"{WAIT}return 'done'", line, "TIMEOUT = 200")
    call = hall.rig.start("quiet")
    await gate.reached()
    await hall.sound.play(60.0)
    gate.open()
    await hall.ends(call)
    assert hall.sound.heard == heard
