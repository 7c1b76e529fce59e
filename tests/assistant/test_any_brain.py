"""The assistant with a brain of any make: what a brain is given, and what becomes of its answer."""

from __future__ import annotations

import asyncio

import pytest

from appliance.adapters.fakes.audit_trail import FakeAuditTrail
from appliance.adapters.fakes.brain import FakeBrain
from appliance.adapters.fakes.chat_log import FakeChatLog
from appliance.adapters.fakes.desk import FakeDesk
from appliance.adapters.fakes.sentence_matcher import FakeSentenceMatcher
from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.tool import FakeTool
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.assistant import Assistant
from appliance.assistant_parts import Parts
from appliance.bus import Bus
from appliance.catalogue import Catalogue
from appliance.clock import settle
from appliance.contracts.host import PluginHost
from appliance.contracts.sapphire.hooks import Hooks
from appliance.contracts.sapphire.turn_hooks import TurnHooks
from appliance.controls import Health
from appliance.errors import BrainTimeoutError, StoreError
from appliance.events import EndReason, Outcome
from appliance.home import shipped
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Ear
from appliance.listen.hearer import Hearer
from appliance.memory import Memory
from appliance.ports_think import SentenceMatch
from appliance.speak.narrator import Narrator
from appliance.store.shapes import TurnRecord
from appliance.think.brain import BrainAnswer
from appliance.think.offline_brain import OfflineBrain
from appliance.think.sentences import Sentences
from appliance.tools.registry import Registry
from appliance.tools.runner import Runner
from appliance.tools.tool import Risk, ToolCall, ToolResult
from tests.speak.rig import Rig as SpeakingRig


class Bench:
    """An assistant made by hand, with everything that a brain may touch within reach."""

    def __init__(self, brain: FakeBrain, *tools: FakeTool) -> None:
        self.speaking = SpeakingRig()
        self.clock = clock = self.speaking.clock
        self.chats = FakeChatLog()
        self.audit = FakeAuditTrail()
        self.forgotten: list[str] = []
        self.memory = Memory(self.chats, self, clock, history_turns=5)
        self.catalogue = Catalogue.load(shipped("soul"), "en")
        self.registry = Registry()
        for tool in tools:
            self.registry.add(tool)
        card, bus = FakeSoundCard(), Bus()
        ear = Ear(card, LoudnessVoiceActivity(), FakeWakeWords(), clock, ListenConfig())
        narrator = Narrator(self.speaking.speaker, clock, bus.publish)
        self.assistant = Assistant(
            Parts(
                clock=clock,
                bus=bus,
                catalogue=self.catalogue,
                ear=ear,
                hearer=Hearer(ear, FakeTranscriber(), clock, publish=bus.publish, sound=lambda _kind: None),
                offline=OfflineBrain(Sentences(_MATCHER), self.catalogue, clock),
                model=brain,
                is_reasoning=False,
                speaker=self.speaking.speaker,
                narrator=narrator,
                sound=lambda _kind: None,
                registry=self.registry,
                refresh_tools=_nothing,
                runner=Runner(desk=FakeDesk(), audit=self.audit, clock=clock, observers=(narrator,)),
                memory=self.memory,
                alarm=_NoAlarm(),
                health=Health("Nabu", card, "a brain"),
                hooks=TurnHooks(
                    Hooks(PluginHost(), clock),
                    config=None,
                    system=lambda: None,
                    name_of=lambda chat: chat,
                    is_private=lambda _chat: False,
                ),
                after_turn=_nothing,
                when_heard=_nothing,
            )
        )

    async def forget(self, turn_id: str) -> None:
        """``Rounds``."""
        self.forgotten.append(turn_id)

    @property
    def kept(self) -> list[TurnRecord]:
        """The conversation."""
        return self.chats.records[self.chats.chat]


class _NoAlarm:
    """Nothing ever rings."""

    is_ringing = False

    def pause(self) -> None:
        """Nothing to pause."""

    def dismiss(self) -> bool:
        return False


_MATCHER = FakeSentenceMatcher({"good morning": SentenceMatch("say_hello", {})})


async def _nothing() -> None:
    """Nothing to wait for."""


async def test_a_brain_gets_the_question_the_channel_and_what_was_said_before() -> None:
    brain = FakeBrain(["Four."], ["Because."])
    bench = Bench(brain)

    await bench.assistant.take_typed_turn("Two and two?")
    report = await bench.assistant.take_typed_turn("Why?")

    first, second = brain.questions
    assert (first.text, first.channel, first.history) == ("Two and two?", "text", ())
    assert [record.user_text for record in second.history] == ["Two and two?"]
    assert second.turn_id == report.turn_id != first.turn_id


async def test_its_calls_go_through_the_runner_and_it_gets_their_results() -> None:
    brain = FakeBrain([ToolCall("call-1", "shutters", {"which": "all"}), ToolCall("call-2", "coffee"), "Done."])
    tool = FakeTool("shutters", ToolResult("closed"), risk=Risk.WRITE)
    bench = Bench(brain, tool)

    await bench.assistant.take_typed_turn("Close all, and make coffee.")

    closed, unknown = brain.results
    assert (closed.text, unknown.outcome) == ("closed", Outcome.FAILED)
    ((arguments, context),) = tool.calls
    assert arguments == {"which": "all"}
    assert (context.call_id, context.channel, context.user_text) == ("call-1", "text", "Close all, and make coffee.")
    assert len(bench.audit.results) == 1


async def test_the_last_utterances_are_told_to_a_tool_newest_first() -> None:
    brain = FakeBrain(["One."], ["Two."], [ToolCall("call-1", "listener"), "Three."])
    tool = FakeTool("listener")
    bench = Bench(brain, tool)
    for text in ("first", "second", "third"):
        await bench.assistant.take_typed_turn(text)

    assert tool.calls[0][1].user_texts == ("third", "second", "first")


async def test_an_answer_may_ask_be_forgotten_or_have_failed() -> None:
    brain = FakeBrain(
        ["Which?", BrainAnswer("Which?", wants_answer=True)],
        ["It is gone.", BrainAnswer("It is gone.", is_remembered=False)],
        ["Sorry.", BrainAnswer("Sorry.", is_remembered=False, failed="BrainError: ?")],
    )
    bench = Bench(brain)

    asking = await bench.assistant.take_typed_turn("one")
    gone = await bench.assistant.take_typed_turn("two")
    failed = await bench.assistant.take_typed_turn("three")

    assert (asking.wants_answer, gone.wants_answer) == (True, False)
    assert (failed.reason, failed.problem) == (EndReason.FAILED, "BrainError: ?")
    assert [record.user_text for record in bench.kept] == ["one"]


async def test_a_brain_that_is_away_leaves_the_boxs_own_sentences() -> None:
    bench = Bench(FakeBrain([BrainTimeoutError("30 s")], [BrainTimeoutError("30 s")]))

    known = await bench.assistant.take_typed_turn("Good morning!")
    unknown = await bench.assistant.take_typed_turn("Why?")

    assert known.reply in bench.catalogue.forms("offline.say_hello")
    assert unknown.reply in bench.catalogue.forms("brain.timeout")
    assert [record.user_text for record in bench.kept] == ["Good morning!"]


async def test_a_brain_that_is_stopped_is_cancelled_where_it_stands() -> None:
    bench = Bench(FakeBrain([asyncio.Event()], ["Here."]))
    turn = asyncio.create_task(bench.assistant.take_typed_turn("Think for ever."))
    await settle()
    assert (bench.assistant.is_busy, bench.assistant.state) == (True, "thinking")

    assert bench.assistant.stop()

    assert (await turn).reason is EndReason.STOPPED
    assert (bench.assistant.is_busy, bench.assistant.state) == (False, "idle")
    assert bench.assistant.stop() is False
    assert (await bench.assistant.take_typed_turn("Are you there?")).reply == "Here."


async def test_a_spoken_answer_begins_while_the_brain_still_writes() -> None:
    more = asyncio.Event()
    bench = Bench(FakeBrain(["[happy] One is first. Two", more, " is second."]))
    turn = asyncio.create_task(bench.assistant.take_typed_turn("Count.", is_voiced=True))

    assert await bench.speaking.play(1.0) == ["One is first."]
    more.set()
    await bench.speaking.play(1.0)

    assert (await turn).said == "One is first. Two is second."


async def test_what_is_said_before_a_call_is_heard_before_it_ends() -> None:
    brain = FakeBrain(["One moment", ToolCall("call-1", "slow"), " and here it is."])
    bench = Bench(brain)
    bench.registry.add(FakeTool("slow", clock=bench.clock, seconds=5.0))
    turn = asyncio.create_task(bench.assistant.take_typed_turn("Look.", is_voiced=True))

    assert await bench.speaking.play(2.0) == ["One moment."]
    await bench.speaking.play(5.0)

    assert (await turn).said == "One moment. and here it is."


async def test_a_chat_log_that_fails_costs_the_memory_only() -> None:
    bench = Bench(FakeBrain(["One."], ["Two."]))
    bench.chats.fails = True

    reports = [await bench.assistant.take_typed_turn(text) for text in ("first", "second")]

    assert [report.reply for report in reports] == ["One.", "Two."]
    assert bench.kept == []
    bench.chats.fails = False


async def test_forgetting_reaches_the_rounds_even_when_the_conversation_never_had_it() -> None:
    bench = Bench(FakeBrain(["One."], [BrainTimeoutError("30 s")]))
    await bench.assistant.take_typed_turn("first")
    lost = await bench.assistant.take_typed_turn("second")

    assert await bench.memory.forget_last()
    assert (bench.forgotten, [record.user_text for record in bench.kept]) == ([lost.turn_id], ["first"])
    assert await bench.memory.forget_last()
    assert (bench.kept, await bench.memory.forget_last()) == ([], False)


async def test_whoever_wants_it_forgotten_learns_that_it_was_not() -> None:
    bench = Bench(FakeBrain(["One."]))
    await bench.assistant.take_typed_turn("first")
    bench.chats.fails = True

    with pytest.raises(StoreError):
        await bench.memory.forget_last()
