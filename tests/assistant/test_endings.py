"""How a turn goes and how it ends; that it ends once, and last, is looked at behind every story (``Rig.close``)."""

from __future__ import annotations

import asyncio
import threading

import numpy as np

from appliance.adapters.fakes.face import FakeFace
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, says
from appliance.audio import silence
from appliance.errors import BrainKeyError
from appliance.events import (
    Emotion,
    EndReason,
    ErrorRaised,
    PlaybackFinished,
    SpeechEnded,
    Transcribed,
    TurnEnded,
    WakeDetected,
)
from appliance.listen.earcons import Earcon
from tests.assistant.conftest import NO_DRAFTS, MakeRig
from tests.assistant.rig import WAKE_WORD, speech


async def test_a_question_behind_the_wake_word_is_answered_aloud(make_rig: MakeRig) -> None:
    rig = await make_rig()

    await rig.asks("What time is it?")

    assert rig.said == ["It is three oh seven in the afternoon."]
    assert rig.endings == [EndReason.ANSWERED]
    order = [type(fact) for fact in rig.facts]
    assert [order.index(kind) for kind in (WakeDetected, SpeechEnded, Transcribed, PlaybackFinished, TurnEnded)] == (
        sorted(order.index(kind) for kind in (WakeDetected, SpeechEnded, Transcribed, PlaybackFinished, TurnEnded))
    )
    (record,) = await rig.history()
    assert (record.user_text, record.heard_text) == ("What time is it?", "It is three oh seven in the afternoon.")


async def test_with_a_model_the_answer_is_the_models_and_the_face_follows(make_rig: MakeRig) -> None:
    face = FakeFace()
    rig = await make_rig(
        model=FakeModelEndpoint(says("[happy] Bon", "jour. It is sunny.")), faces=(face,), settings=_SLOW_FACE
    )

    shown = threading.Event()
    face.on_shown = lambda: shown.set() if Emotion.HAPPY in face.emotions else None
    await rig.hears(WAKE_WORD, "Say hello in French.")
    await rig.until(lambda: rig.said)
    rig.box.stage.show()
    # Faces have threads of their own, in real time.
    assert await asyncio.to_thread(shown.wait, 20.0)
    await rig.rests()

    assert rig.said == ["Bonjour.", "It is sunny."]
    assert rig.model is not None
    (request,) = rig.model.requests
    assert request.items[-1]["content"][0]["text"] == "Say hello in French."


async def test_the_person_stops_it(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("A very long story begins here.")))
    await rig.hears(WAKE_WORD, "Tell me a story.")
    await rig.until(lambda: rig.box.speaker.now_saying)

    assert rig.box.assistant.stop()
    await rig.rests()

    assert rig.endings == [EndReason.STOPPED]


async def test_the_person_speaks_over_it(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("A very long story begins here."), says("Four.")))
    await rig.hears(WAKE_WORD, "Tell me a story.")
    await rig.until(lambda: rig.box.speaker.now_saying)

    await rig.asks("How much is two and two?")

    assert rig.endings == [EndReason.BARGED_IN, EndReason.ANSWERED]
    assert rig.said[-1] == "Four."


async def test_nobody_speaks_behind_the_wake_word(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint())
    await rig.hears(WAKE_WORD)

    seconds = await rig.until(lambda: Earcon.CLOSED in rig.tones)

    assert seconds < 6.0
    await rig.rests()
    assert rig.tones == [Earcon.WOKE, Earcon.CLOSED]
    assert rig.endings == [EndReason.NOTHING_HEARD]
    assert (rig.said, rig.ears.heard, await rig.history()) == ([], [], [])


async def test_a_noise_that_is_no_speech_leaves_nothing_behind(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint())
    await rig.hears(WAKE_WORD, "")
    await rig.rests()

    assert rig.endings == [EndReason.NOTHING_HEARD]
    assert rig.model is not None
    assert (rig.said, rig.model.requests, await rig.history()) == ([], [], [])


async def test_the_model_does_not_take_the_key(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint([BrainKeyError("401")]), settings=NO_DRAFTS)

    await rig.asks("Who are you really?")

    assert rig.endings == [EndReason.FAILED]
    assert " ".join(rig.said) in rig.sentences("brain.key")


async def test_a_voice_that_hangs_costs_its_patience_once_in_a_turn_and_a_tone_tells(make_rig: MakeRig) -> None:
    rig = await make_rig(
        model=FakeModelEndpoint(says(*(f"This is sentence {number}. " for number in range(12)))),
        settings={"speak.longest_reply_sentences": "100"},
    )
    rig.voice.block()
    await rig.hears(WAKE_WORD, "Tell me everything.")
    rig.quiet_step_seconds = 1.0

    await rig.until(lambda: rig.endings, at_most_seconds=60.0)

    await rig.rests()
    assert rig.said == []
    assert rig.tones[-1] is Earcon.ERROR
    assert [event.where for event in rig.told(ErrorRaised)] == ["voice"]
    rig.voice.release()
    await rig.asks("What time is it?")
    assert rig.endings[-1] is EndReason.ANSWERED
    assert rig.said[-1].startswith("It is")


async def test_a_typed_turn_is_answered_in_text_and_without_a_sound(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("*Four.* [happy]")), is_living=False)
    pieces: list[str] = []

    report = await rig.control.call(
        "ask", {"text": "Two and two?"}, lambda event: pieces.append(event.get("text", "")) if event else None
    )

    assert (report["reply"], report["reason"]) == ("*Four.* [happy]", "answered")
    assert "".join(pieces) == "*Four.* [happy]"
    assert (rig.said, rig.box.speaker.is_speaking) == ([], False)
    assert [record.heard_text for record in await rig.history()] == ["*Four.* [happy]"]


async def test_a_typed_turn_may_be_spoken_too(make_rig: MakeRig) -> None:
    rig = await make_rig()

    report = await rig.types("what time is it", is_voiced=True)

    assert rig.said == ["It is three oh seven in the afternoon."]
    assert report["said"] == rig.said[0]


async def test_a_recording_is_answered_as_if_it_was_spoken(make_rig: MakeRig) -> None:
    rig = await make_rig()
    question = np.concatenate([silence(0.5).samples, speech(1.0), silence(1.0).samples])

    report = await rig.plays(question, "What time is it?")

    assert (report["heard"], report["said"]) == ("What time is it?", "It is three oh seven in the afternoon.")
    assert [fact.word for fact in rig.told(WakeDetected)] == ["recording"]
    assert rig.tones == []


async def test_a_recording_in_which_nobody_speaks_ends_as_such(make_rig: MakeRig) -> None:
    rig = await make_rig()

    report = await rig.plays(silence(31.0).samples, "never transcribed")

    assert (report["reason"], rig.said, rig.ears.heard) == ("nothing_heard", [], [])


async def test_of_two_turns_at_once_the_second_waits_for_the_first(make_rig: MakeRig) -> None:
    go_on = asyncio.Event()
    rig = await make_rig(model=FakeModelEndpoint([go_on, *says("The first.")], says("The second.")))
    await rig.hears(WAKE_WORD, "Think about it.")
    typed = asyncio.create_task(rig.control.call("ask", {"text": "And now this."}))
    await rig.runs(2.0)
    assert rig.model is not None
    assert len(rig.model.requests) == 1

    go_on.set()
    await rig.until(typed.done)

    assert rig.said == ["The first."]
    assert (await typed)["reply"] == "The second."
    assert [record.user_text for record in await rig.history()] == ["Think about it.", "And now this."]
    assert rig.endings == [EndReason.ANSWERED, EndReason.ANSWERED]


async def test_a_client_that_goes_away_takes_its_turn_with_it(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("A long answer that nobody waits for."), says("Here.")))
    asking = asyncio.create_task(rig.control.call("ask", {"text": "Talk.", "voice": True}))
    await rig.until(lambda: rig.box.speaker.now_saying)

    asking.cancel()
    await rig.rests()

    assert asking.cancelled()
    assert rig.endings == [EndReason.STOPPED]
    await rig.asks("Are you there?")
    assert rig.said[-1] == "Here."


async def test_a_client_that_goes_away_before_its_turn_leaves_nothing(make_rig: MakeRig) -> None:
    go_on = asyncio.Event()
    rig = await make_rig(model=FakeModelEndpoint([go_on, *says("The first.")]))
    await rig.hears(WAKE_WORD, "Think about it.")
    asking = asyncio.create_task(rig.control.call("ask", {"text": "Never mind."}))
    await rig.runs(1.0)

    asking.cancel()
    go_on.set()
    await rig.rests()

    assert rig.endings == [EndReason.ANSWERED]
    assert rig.model is not None
    assert len(rig.model.requests) == 1


#: The face's own thread stays out of the way: the test shows the poses itself.
_SLOW_FACE = {"face.poses_per_second": "1"}
