"""Asked ahead: the model begins to answer while the person may still go on, and nobody notices but by its haste."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, Step, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import Clock, FakeClock
from appliance.errors import BrainError, BrainKeyError, BrainStreamError, BrainUnreachableError
from appliance.events import DraftBegun, DraftEnded, EndReason, ErrorRaised, PlaybackStarted, SpeechEnded, ToolStarted
from appliance.listen.opening import Opening, OpeningKind
from appliance.ports_think import ModelEvent, ModelRequest, TextDelta
from tests.assistant.conftest import NO_DRAFTS, MakeRig
from tests.assistant.rig import SPEECH_SECONDS, WAKE_WORD, Rig
from tests.assistant.test_plugin_hooks import box_with_plugin
from tests.assistant.test_private_talk import private

QUESTION = "Why is the sky blue?"
#: Long enough for the soft end, too short for the end.
PAUSE_SECONDS = 0.35


class SlowModel(FakeModelEndpoint):
    """Every answer begins so late, by ``clock``."""

    def __init__(self, clock: Clock, seconds: float, *answers: list[Step]) -> None:
        super().__init__(*answers)
        self._clock = clock
        self._seconds = seconds

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        await self._clock.sleep(self._seconds)
        async for event in super().respond(request):
            yield event


def drafts(rig: Rig) -> tuple[int, int, int]:
    """Begun, used, discarded: as ``status`` tells them, and as the trace does."""
    counts = rig.box.status()["drafts"]
    endings = [fact.is_used for fact in rig.told(DraftEnded)]
    assert counts["begun"] == len(rig.told(DraftBegun))
    assert (counts["used"], counts["discarded"]) == (endings.count(True), endings.count(False))
    return counts["begun"], counts["used"], counts["discarded"]


async def says_and_goes_on(rig: Rig, *parts: str) -> None:
    """The wake word, then these parts with pauses between them; the last is all that was said."""
    rig.ears.will_hear(*parts)
    await rig.hears(WAKE_WORD)
    for _ in parts[:-1]:
        rig.speaks(SPEECH_SECONDS)
        await rig.runs(SPEECH_SECONDS + PAUSE_SECONDS)
    await rig.hears_noise()


async def reply_seconds(make_rig: MakeRig, **settings: str) -> float:
    """From the end of speech to the first sound of the answer, with a model that needs half a second."""
    clock = FakeClock()
    rig = await make_rig(clock=clock, model=SlowModel(clock, 0.5, says("Because of the air.")), settings=settings)
    rig.quiet_step_seconds = 0.02
    await rig.asks(QUESTION)
    (ended,) = rig.told(SpeechEnded)
    (sounded,) = [fact for fact in rig.told(PlaybackStarted) if fact.lane == "speech"]
    await rig.close()
    return sounded.at_seconds - ended.at_seconds


async def test_the_answer_to_the_same_words_is_asked_for_once_and_ahead(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Because ", "of the air. ", "Blue light scatters."))
    rig = await make_rig(model=model)
    await rig.asks(QUESTION)

    assert len(model.requests) == 1
    assert rig.said == ["Because of the air.", "Blue light scatters."]
    assert rig.told(DraftBegun)[0].at_seconds < rig.told(SpeechEnded)[0].at_seconds
    assert drafts(rig) == (1, 1, 0)
    (record,) = await rig.history()
    assert (record.user_text, record.reply_text) == (QUESTION, "Because of the air. Blue light scatters.")
    assert model.open_answers == 0


async def test_the_reply_begins_sooner(make_rig: MakeRig, tmp_path: Path) -> None:
    ahead = await reply_seconds(make_rig)
    assert ahead < await reply_seconds(make_rig, **NO_DRAFTS) - 0.3


async def test_who_goes_on_is_answered_once_and_the_first_request_is_cut_off(make_rig: MakeRig) -> None:
    for_ever = asyncio.Event()
    first: list[Step] = [*calls(("lamp", {}), text="I switch it on.")[:-1], for_ever]
    model = FakeModelEndpoint(first, says("It stays off."))
    rig = await make_rig(model=model)
    lamp = FakeTool("lamp")
    rig.adds(lamp)

    await says_and_goes_on(rig, "Switch on the lamp.", "Switch on the lamp. No, do not.")
    await rig.rests()

    assert rig.said == ["It stays off."]
    assert lamp.calls == [] and rig.told(ToolStarted) == []
    assert [record.user_text for record in await rig.history()] == ["Switch on the lamp. No, do not."]
    assert model.open_answers == 0
    assert drafts(rig) == (2, 1, 1)
    (kept,) = (await rig.control.call("turns.show", {"turn_id": rig.told(SpeechEnded)[0].turn_id}))["rounds"]
    assert "I switch it on." not in str(kept)


async def test_a_tool_that_a_used_draft_calls_runs_once_and_only_when_the_turn_is_meant(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(calls(("lamp", {})), says("It is on."))
    rig = await make_rig(model=model)
    lamp = FakeTool("lamp")
    rig.adds(lamp)

    await rig.asks("Switch on the lamp.")

    assert len(lamp.calls) == 1
    assert rig.told(ToolStarted)[0].at_seconds >= rig.told(SpeechEnded)[0].at_seconds
    assert rig.said == ["It is on."]
    assert (len(model.requests), drafts(rig)) == (2, (1, 1, 0))


@pytest.mark.parametrize(
    "broken",
    [
        [BrainUnreachableError("refused")],
        [BrainKeyError("401")],
        [TextDelta("The sky is. "), BrainStreamError("cut")],
        [KeyError("a fault of ours")],
    ],
    ids=["away", "key", "cut", "fault"],
)
async def test_a_draft_that_fails_is_no_failure(make_rig: MakeRig, broken: list[Step]) -> None:
    model = FakeModelEndpoint(broken, says("Because of the air."))
    rig = await make_rig(model=model)

    await rig.asks(QUESTION)

    assert rig.said == ["Because of the air."]
    assert rig.told(ErrorRaised) == [] and rig.endings == [EndReason.ANSWERED]
    assert drafts(rig) == (1, 0, 1)
    health = await rig.control.call("tool.run", {"name": "box_health"})
    assert "does not answer" not in health["text"]


async def test_a_draft_that_fails_once_it_is_the_turns_own_is_told_and_not_asked_again(make_rig: MakeRig) -> None:
    later = asyncio.Event()
    model = FakeModelEndpoint([TextDelta("The sky is blue. Because"), later, BrainStreamError("cut")])
    rig = await make_rig(model=model)
    await rig.hears(WAKE_WORD, QUESTION)
    await rig.until(lambda: rig.told(PlaybackStarted))
    later.set()
    await rig.rests()

    assert rig.endings == [EndReason.FAILED]
    assert rig.said[:2] == ["The sky is blue.", "Because."]
    assert " ".join(rig.said[2:]) in rig.sentences("brain.stream")
    assert len(model.requests) == 1


async def test_a_stop_in_a_draft_ends_it_and_leaves_nothing(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint([*says("Because of the air. ")[:-1], asyncio.Event()])
    rig = await make_rig(model=model)
    rig.ears.will_hear(QUESTION)
    await rig.hears(WAKE_WORD)
    rig.speaks(SPEECH_SECONDS)
    await rig.until(lambda: model.open_answers)

    rig.box.assistant.stop()
    await rig.rests()

    assert rig.endings == [EndReason.STOPPED]
    assert model.open_answers == 0 and drafts(rig) == (1, 0, 1)
    assert (rig.said, await rig.history()) == ([], [])


async def test_no_more_than_three_times_in_one_turn(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(*(says(f"Answer {number}.") for number in range(1, 7)))
    rig = await make_rig(model=model)

    await says_and_goes_on(rig, *(f"{'So I wonder and ' * count}why?" for count in range(6)))
    await rig.rests()

    assert drafts(rig) == (3, 0, 3)
    assert rig.said == ["Answer four."]


async def test_what_the_box_does_by_itself_is_not_asked_ahead(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("Never.")))
    for sentence in ("Louder.", "Stop.", "Cancel the timer."):
        await rig.asks(sentence)
    assert rig.model is not None and rig.model.requests == []
    assert drafts(rig) == (0, 0, 0)


async def test_going_on_with_a_long_answer_is_not_asked_ahead(make_rig: MakeRig) -> None:
    rig = await make_rig(
        model=FakeModelEndpoint(says("One. Two. Three.")), settings={"speak.longest_reply_sentences": "2"}
    )
    await rig.asks_and_waits("Count.")
    await rig.hears("Yes, go on.")
    await rig.rests()
    assert rig.said[-1] == "Three." and drafts(rig) == (1, 1, 0)


async def test_a_model_outside_gets_nothing_of_a_private_chat_ahead(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Never."))
    rig = await private(await make_rig(model=model))
    await rig.asks("I have a purple elephant.")
    assert model.requests == [] and drafts(rig) == (0, 0, 0)
    assert model.warmed in ([], [None]), "not even a word of the conversation"


async def test_a_model_in_the_house_is_asked_ahead_in_a_private_chat_too(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("I see."))
    rig = await private(await make_rig(model=model, is_model_local=True))
    await rig.asks("I have a purple elephant.")
    assert rig.said[-1] == "I see." and drafts(rig) == (1, 1, 0)
    assert "elephant" not in rig.disk.text


async def test_a_private_chat_that_was_closed_elsewhere_leaves_its_words_to_nobody(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Never."))
    rig = await private(await make_rig(model=model, is_model_local=True))
    await rig.control.call("chat.lock")
    await rig.asks("I have a purple elephant.")
    assert model.requests == [] and drafts(rig) == (0, 0, 0)


async def test_plugins_that_get_the_words_first_are_not_passed_by(make_rig: MakeRig, tmp_path: Path) -> None:
    model = FakeModelEndpoint(says("Because of the air."))
    rig = await box_with_plugin(make_rig, tmp_path, model)
    await rig.asks(QUESTION)
    assert rig.said == ["Because of the air."]
    assert len(model.requests) == 1 and drafts(rig) == (0, 0, 0)


async def test_a_tool_that_came_meanwhile_makes_it_another_request(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint([TextDelta("No lamp. "), asyncio.Event()], says("There is a lamp."))
    rig = await make_rig(model=model)
    rig.ears.will_hear(QUESTION)
    await rig.hears(WAKE_WORD)
    rig.speaks(SPEECH_SECONDS)
    await rig.until(lambda: model.requests)
    rig.adds(FakeTool("lamp"))
    await rig.rests()

    assert rig.said == ["There is a lamp."]
    assert model.open_answers == 0 and drafts(rig) == (1, 0, 1)


async def test_the_owner_may_not_want_it(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Because of the air."))
    rig = await make_rig(model=model, settings=NO_DRAFTS)
    await rig.asks(QUESTION)
    assert rig.said == ["Because of the air."]
    assert rig.told(DraftBegun) == [] and rig.box.status()["drafts"] == {}


async def test_words_that_become_text_only_when_the_turn_is_over_are_asked_once(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Because of the air."))
    rig = await make_rig(model=model)
    rig.ears.block()
    await rig.hears(WAKE_WORD, QUESTION)
    await rig.until(lambda: rig.told(SpeechEnded))
    rig.ears.release()
    await rig.rests()
    assert rig.said == ["Because of the air."] and len(model.requests) == 1


async def test_silence_begins_no_draft(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("Never.")))
    await rig.asks("")
    assert rig.endings == [EndReason.NOTHING_HEARD] and drafts(rig) == (0, 0, 0)


async def test_a_disk_that_fails_costs_the_draft_and_not_the_turn(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Because of the air."))
    rig = await make_rig(model=model)
    rig.disk.is_full = True
    await rig.asks(QUESTION)
    assert rig.said == ["Because of the air."] and len(model.requests) == 1


# --------------------------------------------------------------------------------- getting the model ready


async def test_a_model_in_the_house_reads_ahead_when_it_is_called(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."), says("It scatters."))
    rig = await make_rig(model=model, is_model_local=True)
    await rig.asks("Which colour?")
    await rig.runs(60.0)
    await rig.asks(QUESTION)

    first, second = model.warmed
    assert first is not None and second is not None
    asked = model.requests[-1]
    assert (second.instructions, second.tools) == (asked.instructions, asked.tools)
    assert second.items[:-1] == asked.items[:-1] and len(second.items) == 3
    assert QUESTION not in str(second)


async def test_to_a_model_outside_only_the_connection_is_opened(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."))
    rig = await make_rig(model=model)
    await rig.asks("Which colour?")
    assert model.warmed == [None]


async def test_a_talk_in_quick_turns_warms_it_up_once(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."), says("Red."))
    rig = await make_rig(model=model, is_model_local=True)
    await rig.asks("Which colour?")
    await rig.asks("And this?")
    assert len(model.warmed) == 1


async def test_warming_up_ends_when_something_is_asked_and_costs_no_turn(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."))
    model.warming = asyncio.Event()
    rig = await make_rig(model=model, is_model_local=True, settings=NO_DRAFTS)
    rig.ears.will_hear("Which colour?")
    await rig.hears(WAKE_WORD)
    assert model.is_warming
    await rig.hears_noise()
    await rig.rests()
    assert rig.said == ["Blue."] and not model.is_warming


async def test_a_model_that_cannot_be_warmed_up_is_asked_all_the_same(make_rig: MakeRig) -> None:
    class Cold(FakeModelEndpoint):
        async def warm_up(self, request: ModelRequest | None) -> None:
            raise BrainError("cold")

    rig = await make_rig(model=Cold(says("Blue.")), is_model_local=True)
    await rig.asks("Which colour?")
    assert rig.said == ["Blue."] and rig.told(ErrorRaised) == []


async def test_the_owner_may_want_it_cold(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."))
    rig = await make_rig(model=model, is_model_local=True, settings={"think.warm_prefix": "off"})
    await rig.asks("Which colour?")
    assert model.warmed == []


async def test_a_ring_is_no_reason_to_get_the_model_ready(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("Never.")), is_model_local=True)
    rig.ears.will_hear("Nice weather.")
    turn = asyncio.create_task(rig.box.assistant.take_turn(Opening(OpeningKind.ALERT, "alert", 2.0)))
    await rig.hears_noise()
    await rig.until(turn.done)
    assert rig.model is not None and (rig.model.warmed, rig.model.requests) == ([], [])


# ------------------------------------------------------------------------------------ the first sound of it


async def until_draft_is_whole(rig: Rig) -> None:
    """The person has spoken, is silent, and may still go on."""
    rig.ears.will_hear(QUESTION)
    await rig.hears(WAKE_WORD)
    rig.speaks(SPEECH_SECONDS)
    await rig.runs(SPEECH_SECONDS + PAUSE_SECONDS)
    assert rig.told(DraftBegun) and not rig.told(SpeechEnded)


@pytest.mark.parametrize(
    ("pieces", "first"),
    [
        (("Because of ", "the air. ", "Blue light scatters."), "Because of the air."),
        (("It is 5 °C.",), "It is five degrees Celsius."),
    ],
)
async def test_the_first_sentence_is_synthesised_ahead_and_once(
    make_rig: MakeRig, pieces: tuple[str, ...], first: str
) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says(*pieces)))
    await until_draft_is_whole(rig)
    assert rig.voice.asked == [first] and not rig.mixer.has_sound()
    await rig.rests()
    assert rig.said[0] == first and rig.voice.asked.count(first) == 1


async def test_nothing_of_a_draft_that_is_not_used_sounds(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("Because of the air."), says("It is not.")))
    await until_draft_is_whole(rig)
    rig.ears.will_hear("Why is the sky blue? Or is it not?")
    await rig.hears_noise()
    await rig.rests()
    assert rig.said == ["It is not."]
    assert [fact.lane for fact in rig.told(PlaybackStarted)].count("speech") == 1


async def test_what_plugins_may_change_is_not_synthesised_ahead(make_rig: MakeRig, tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "words"
    folder.mkdir(parents=True)
    capabilities = {"hooks": {"post_llm": "hooks.py"}}
    manifest = {"name": "words", "default_enabled": True, "capabilities": capabilities}
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "hooks.py").write_text("def post_llm(event):\n    pass\n")
    rig = await make_rig(model=FakeModelEndpoint(says("Because of the air.")))
    rig.quiet_step_seconds = 0.01
    await until_draft_is_whole(rig)
    assert rig.voice.asked == []
    await rig.rests()
    assert rig.said == ["Because of the air."] and drafts(rig) == (1, 1, 0)
