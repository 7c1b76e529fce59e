from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from appliance.adapters.fakes.tool import FakeTool
from appliance.audio import AudioChunk, AudioFormat
from appliance.events import (
    Emotion,
    EmotionChanged,
    LineKind,
    Narrated,
    Outcome,
    PlaybackFinished,
    PlaybackStarted,
)
from appliance.ports import Priority
from appliance.speak.hum import Hum
from appliance.speak.narrator import Narrator
from appliance.tools.tool import CallContext, Expressions, ToolCall, ToolResult, VoiceLines
from appliance.turn import Turn
from tests.speak.rig import RATE_HZ, Rig, committed_turn

LINES = VoiceLines(
    announce="Let me look.",
    heartbeat=("Still looking.", "Nearly there."),
    complete="Here it is.",
    fail="It did not answer.",
)
HUM_LEVELS = (50, 60, 70, 80)


def slow_tool(name: str = "look", lines: VoiceLines = LINES, *, is_interactive: bool = False) -> FakeTool:
    faces = Expressions(focus=Emotion.DETERMINED, fail=Emotion.CONFUSED)
    return FakeTool(name, voice_lines=lines, expressions=faces, is_interactive=is_interactive)


def hums() -> Hum:
    samples = [np.full(RATE_HZ // 2, level, dtype=np.int16) for level in HUM_LEVELS]
    return Hum([AudioChunk(one, AudioFormat(RATE_HZ)) for one in samples])


@pytest.mark.contract("K-054", "K-055", "K-061")
@dataclass
class Stage:
    """A turn with a narrator; ``start`` and ``finish`` play the runner's part."""

    rig: Rig = field(default_factory=lambda: Rig(block_seconds=0.1))
    turn: Turn = field(default_factory=committed_turn)
    channel: str = "voice"
    is_reasoning: bool = False
    is_listening: bool = False

    def __post_init__(self) -> None:
        self.narrator = Narrator(
            self.rig.speaker, self.rig.clock, self.rig.events.append, hums(), is_listening=lambda: self.is_listening
        )
        self.narrator.begin_turn(self.turn.turn_id, self.turn, self.channel, self.is_reasoning)
        self.started_at = self.rig.clock.monotonic_seconds()

    def start(self, tool: FakeTool, call_id: str = "call-1") -> ToolCall:
        call = ToolCall(call_id, tool.name)
        context = CallContext(call_id, self.turn.turn_id, "chat", self.channel, self.turn)
        self.narrator.started(call, tool, context)
        return call

    def finish(self, call: ToolCall, tool: FakeTool, outcome: Outcome = Outcome.OK) -> None:
        self.narrator.finished(call, tool, ToolResult("", outcome))

    def narrated(self) -> list[tuple[LineKind, str]]:
        return [(event.kind, event.text) for event in self.rig.told(Narrated)]

    def seconds_of(self, kind: LineKind) -> list[float]:
        """When lines of this kind began to sound, in whole seconds of the turn."""
        return [round(event.at_seconds - self.started_at) for event in self.rig.told(Narrated) if event.kind is kind]

    def hums_heard(self) -> list[int]:
        played = self.rig.output.played
        stretches = np.split(played, np.flatnonzero(np.diff(played)) + 1)
        return [int(part[0]) for part in stretches if len(part) > RATE_HZ // 4 and part[0] in HUM_LEVELS]


async def test_a_slow_call_is_announced_kept_company_and_concluded_before_the_reply() -> None:
    stage, tool = Stage(), slow_tool()
    reply = stage.rig.speaker.open_reply(stage.turn.turn_id, stage.turn)
    reply.feed("Good question.")
    reply.flush_text()
    call = stage.start(tool)
    await stage.rig.play(12.0)
    stage.finish(call, tool)
    reply.feed("It is blue.")
    reply.flush_text()
    await stage.rig.play(2.0)
    assert stage.rig.heard == ["Good question.", "Let me look.", "Still looking.", "Here it is.", "It is blue."]
    assert stage.narrated() == [
        (LineKind.ANNOUNCE, "Let me look."),
        (LineKind.HEARTBEAT, "Still looking."),
        (LineKind.COMPLETE, "Here it is."),
    ]


@pytest.mark.contract("K-055", "K-056", "K-057", "K-058")
async def test_heartbeats_come_at_9_30_and_51_seconds_and_the_last_one_repeats() -> None:
    stage, tool = Stage(), slow_tool()
    stage.start(tool)
    await stage.rig.play(80.0)
    assert stage.seconds_of(LineKind.HEARTBEAT) == [9, 30, 51, 72]
    texts = [text for kind, text in stage.narrated() if kind is LineKind.HEARTBEAT]
    assert texts == ["Still looking.", "Nearly there.", "Nearly there.", "Nearly there."]


async def test_a_blank_heartbeat_is_silent_but_takes_its_place() -> None:
    stage, tool = Stage(), slow_tool(lines=VoiceLines(heartbeat=(" ", "Nearly there.")))
    stage.start(tool)
    await stage.rig.play(40.0)
    assert stage.seconds_of(LineKind.HEARTBEAT) == [30]


@pytest.mark.contract("K-059", "K-060")
async def test_a_heartbeat_waits_while_the_call_waits_for_a_person() -> None:
    stage, tool = Stage(), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(5.0)
    stage.narrator.waiting_for_person(call, True)
    await stage.rig.play(10.0)
    stage.narrator.waiting_for_person(call, False)
    await stage.rig.play(30.0)
    assert stage.seconds_of(LineKind.HEARTBEAT) == [18, 39]
    assert [text for kind, text in stage.narrated()][1:] == ["Still looking.", "Nearly there."]


@pytest.mark.contract("K-055", "K-056")
async def test_no_heartbeat_after_the_end_of_its_tool() -> None:
    stage, tool = Stage(), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(8.9)
    stage.finish(call, tool)
    await stage.rig.play(40.0)
    assert stage.rig.heard == ["Let me look.", "Here it is."]


async def test_a_heartbeat_that_still_waits_behind_something_else_is_dropped_with_its_tool() -> None:
    stage, tool = Stage(), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(8.8)
    long = " ".join(["word"] * 40) + "."
    stage.rig.speaker.say(long)
    await stage.rig.play(1.0)
    stage.finish(call, tool)
    await stage.rig.play(5.0)
    assert stage.rig.heard == ["Let me look.", long, "Here it is."]


async def test_heartbeats_do_not_pile_up_behind_something_else() -> None:
    stage, tool = Stage(), slow_tool()
    stage.start(tool)
    await stage.rig.play(8.8)
    long = " ".join(["word"] * 600) + "."
    stage.rig.speaker.say(long)
    while "Still looking." not in stage.rig.heard:
        await stage.rig.play(0.5)
    await stage.rig.play(2.0)
    assert stage.rig.heard[-1] == "Still looking."
    assert max(stage.seconds_of(LineKind.HEARTBEAT)) > 30.0
    await stage.rig.play(10.0)
    assert stage.rig.heard[-1] == "Nearly there."


async def test_a_heartbeat_that_an_alert_cut_is_not_said_again_when_its_tool_has_ended() -> None:
    stage, tool = Stage(), slow_tool(lines=VoiceLines(heartbeat=("Still looking at the many pages of it.",)))
    call = stage.start(tool)
    await stage.rig.play(9.2)
    stage.rig.speaker.say("The soup is ready.", Priority.ALERT)
    await stage.rig.play(0.1)
    stage.finish(call, tool)
    await stage.rig.play(3.0)
    assert stage.rig.heard == ["Still looking at the many pages of it.", "The soup is ready."]


@pytest.mark.contract("K-061", "K-062", "K-063", "K-064")
@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Outcome.OK, ["Here it is."]),
        (Outcome.FAILED, ["It did not answer."]),
        (Outcome.REFUSED, []),
        (Outcome.PENDING, []),
        (Outcome.INTERRUPTED, []),
    ],
)
async def test_the_outcome_decides_the_last_line(outcome: Outcome, line: list[str]) -> None:
    stage, tool = Stage(), slow_tool()
    stage.finish(stage.start(tool), tool, outcome)
    await stage.rig.play(2.0)
    assert stage.rig.heard == ["Let me look.", *line]


@pytest.mark.contract("K-054")
async def test_each_tool_is_announced_and_concluded_once_per_turn() -> None:
    stage, tool, other = Stage(), slow_tool(), slow_tool("other", VoiceLines("Other.", (), "Done other.", ""))
    stage.finish(stage.start(tool, "call-1"), tool, Outcome.FAILED)
    stage.finish(stage.start(tool, "call-2"), tool, Outcome.OK)
    stage.finish(stage.start(other, "call-3"), other)
    await stage.rig.play(3.0)
    assert stage.rig.heard == ["Let me look.", "It did not answer.", "Other.", "Done other."]
    stage.narrator.begin_turn(stage.turn.turn_id, stage.turn, "voice", False)
    stage.finish(stage.start(tool, "call-4"), tool, Outcome.OK)
    await stage.rig.play(3.0)
    assert stage.rig.heard[4:] == ["Let me look.", "Here it is."]


@pytest.mark.contract("K-089")
async def test_a_tool_that_asks_a_person_itself_has_no_heartbeats() -> None:
    stage, tool = Stage(), slow_tool(is_interactive=True)
    call = stage.start(tool)
    await stage.rig.play(60.0)
    stage.finish(call, tool)
    await stage.rig.play(1.0)
    assert stage.rig.heard == ["Let me look.", "Here it is."]


@pytest.mark.contract("K-053", "K-066")
async def test_a_tool_without_lines_is_silent() -> None:
    stage, tool = Stage(), slow_tool(lines=VoiceLines())
    call = stage.start(tool)
    await stage.rig.play(40.0)
    stage.finish(call, tool)
    await stage.rig.play(1.0)
    assert not stage.rig.output.played.any()


@pytest.mark.contract("K-071", "K-073", "K-074")
@pytest.mark.parametrize("is_reasoning", [False, True])
async def test_a_typed_turn_is_silent_but_has_its_faces(is_reasoning: bool) -> None:
    stage, tool = Stage(channel="text", is_reasoning=is_reasoning), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(40.0)
    stage.finish(call, tool, Outcome.FAILED)
    await stage.rig.play(1.0)
    assert not stage.rig.output.played.any()
    assert stage.narrated() == []
    faces = [(event.emotion, event.source) for event in stage.rig.told(EmotionChanged)]
    assert faces == [(Emotion.DETERMINED, "focus"), (Emotion.CONFUSED, "fail")]


@pytest.mark.contract("K-074", "K-076")
@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.REFUSED, Outcome.PENDING, Outcome.INTERRUPTED])
async def test_only_a_failure_makes_the_fail_face(outcome: Outcome) -> None:
    stage, tool = Stage(), slow_tool()
    stage.finish(stage.start(tool), tool, outcome)
    assert [event.source for event in stage.rig.told(EmotionChanged)] == ["focus"]


@pytest.mark.contract("K-068", "K-070")
async def test_a_reasoning_model_gets_hums_in_turn_instead_of_lines() -> None:
    stage, tool = Stage(is_reasoning=True), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(95.0)
    stage.finish(call, tool)
    await stage.rig.play(5.0)
    assert stage.hums_heard() == [50, 60, 70, 80, 50]
    assert stage.seconds_of(LineKind.HUM) == [9, 30, 51, 72, 93]
    assert stage.rig.heard == []
    assert {kind for kind, _ in stage.narrated()} == {LineKind.HUM}
    assert {event.lane for event in stage.rig.told(PlaybackStarted)} == {"hum"}
    assert len(stage.rig.told(PlaybackFinished)) == 5


async def test_a_hum_is_not_over_speech_nor_over_an_open_ear() -> None:
    stage, tool = Stage(is_reasoning=True), slow_tool()
    stage.start(tool)
    await stage.rig.play(8.0)
    stage.rig.speaker.say(" ".join(["word"] * 50) + ".")
    await stage.rig.play(2.0)
    stage.is_listening = True
    await stage.rig.play(4.0)
    assert stage.hums_heard() == []
    stage.is_listening = False
    await stage.rig.play(2.0)
    assert stage.hums_heard() == [50]


async def test_a_hum_fades_out_when_its_tool_ends() -> None:
    stage, tool = Stage(is_reasoning=True), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(9.2)
    stage.finish(call, tool)
    last = await stage.rig.output.play(0.1)
    assert last[0] > last[RATE_HZ // 20] > 0
    assert not (await stage.rig.output.play(30.0)).any()


async def test_without_hums_a_reasoning_turn_is_silent() -> None:
    stage, tool = Stage(is_reasoning=True), slow_tool()
    stage.narrator = Narrator(stage.rig.speaker, stage.rig.clock, stage.rig.events.append, None)
    stage.narrator.begin_turn(stage.turn.turn_id, stage.turn, "voice", True)
    stage.start(tool)
    await stage.rig.play(40.0)
    assert not stage.rig.output.played.any()


async def test_nothing_is_said_over_a_person_while_the_ear_is_open() -> None:
    stage, tool = Stage(is_listening=True), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(12.0)
    assert stage.rig.heard == []
    stage.is_listening = False
    await stage.rig.play(3.0)
    assert stage.rig.heard == ["Let me look.", "Still looking."]
    stage.is_listening = True
    stage.finish(call, tool)
    await stage.rig.play(3.0)
    assert stage.rig.heard == ["Let me look.", "Still looking."]
    stage.is_listening = False
    await stage.rig.play(1.0)
    assert stage.rig.heard[-1] == "Here it is."


async def test_a_turn_that_is_not_meant_leaves_no_sample() -> None:
    stage, tool = Stage(turn=Turn("voice", turn_id="turn-1")), slow_tool()
    stage.start(tool)
    await stage.rig.play(10.0)
    stage.turn.drop()
    stage.narrator.end_turn()
    await stage.rig.play(30.0)
    assert not stage.rig.output.played.any()


async def test_after_the_end_of_the_turn_a_late_call_says_nothing() -> None:
    stage, tool = Stage(), slow_tool()
    call = stage.start(tool)
    await stage.rig.play(1.0)
    stage.narrator.end_turn()
    stage.rig.speaker.stop()
    await stage.rig.play(40.0)
    stage.finish(call, tool, Outcome.FAILED)
    await stage.rig.play(2.0)
    assert stage.rig.heard == ["Let me look."]
    assert [event.source for event in stage.rig.told(EmotionChanged)] == ["focus"]


async def test_a_line_the_voice_fails_on_is_not_told_as_said() -> None:
    stage, tool = Stage(), slow_tool()
    stage.rig.voice.fail("Let me look.")
    call = stage.start(tool)
    await stage.rig.play(1.0)
    stage.finish(call, tool)
    await stage.rig.play(1.0)
    assert stage.narrated() == [(LineKind.COMPLETE, "Here it is.")]
