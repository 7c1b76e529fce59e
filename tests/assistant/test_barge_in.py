"""People talk over the box."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.events import EndReason, WakeDetected
from appliance.listen.earcons import Earcon
from appliance.listen.echo_meter import EchoFigure
from appliance.speak.line_player import STALL_SECONDS
from appliance.tools.tool import Risk, VoiceLines
from tests.assistant.disk import FakeDisk
from tests.assistant.open_speaker import OpenSpeakerRig
from tests.assistant.rig import RATE_HZ, WAKE_WORD

#: Three sentences of 40 words, 2.4 s each.
STORY = " ".join(f"{number} {'and on it goes ' * 9}to the end of it." for number in ("One", "Two", "Three"))
FULL = {"listen.duplex": "full", "listen.earcons": "false"}

MakeRig = Callable[..., Coroutine[Any, Any, OpenSpeakerRig]]


@pytest.fixture
async def make_open(tmp_path: Path, matcher: HassilMatcher, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeRig]:
    monkeypatch.setenv("TZ", "UTC")
    rigs: list[OpenSpeakerRig] = []

    async def make(*answers: Any, **parts: Any) -> OpenSpeakerRig:
        for earlier in rigs:
            await earlier.close()
        model = FakeModelEndpoint(*(answers or (says(STORY),)))
        rig = OpenSpeakerRig(tmp_path, matcher, model=model, **{"settings": FULL, **parts})
        rigs.append(rig)
        await rig.start()
        return rig

    yield make
    for rig in rigs:
        await rig.close()
    for rig in rigs:
        rig.disk.unplug()


async def the_story_begins(rig: OpenSpeakerRig) -> None:
    await rig.hears(WAKE_WORD, "Tell me a story.")
    await rig.until(lambda: rig.box.speaker.now_saying)
    await rig.runs(0.6)


async def test_somebody_who_talks_over_the_box_is_answered_and_the_story_is_over(make_open: MakeRig) -> None:
    rig = await make_open(says(STORY), says("Half past two."))
    await the_story_begins(rig)
    await rig.hears("What time is it in Lisbon?")
    await rig.rests()
    assert rig.endings == [EndReason.BARGED_IN, EndReason.ANSWERED]
    assert rig.said[-1] == "Half past two."
    assert [fact.word for fact in rig.told(WakeDetected)] == [WAKE_WORD, "barge-in"]


async def test_the_voice_falls_silent_while_the_person_still_speaks(make_open: MakeRig) -> None:
    rig = await make_open()
    await the_story_begins(rig)
    rig.speaks(1.5)
    await rig.runs(0.3)
    before = len(rig.sound)
    await rig.runs(0.8)
    assert not rig.sound[before:].any()
    assert rig.endings == [], "nothing is thrown away before it is known what was meant"


async def test_stop_ends_everything_and_says_no_more(make_open: MakeRig) -> None:
    rig = await make_open(settings={"listen.duplex": "full"})
    await the_story_begins(rig)
    await rig.hears("Stop.")
    await rig.rests()
    assert rig.endings == [EndReason.STOPPED]
    assert rig.last_tone is Earcon.CLOSED


async def test_stop_is_obeyed_before_the_silence_behind_it_is_over(make_open: MakeRig) -> None:
    rig = await make_open()
    await the_story_begins(rig)
    rig.ears.will_hear("Stop.")
    rig.speaks(0.5)
    took = await rig.until(lambda: rig.endings)
    assert took < 0.5 + 0.35


@pytest.mark.parametrize("sound", ["", "Mm-hmm.", "Uh-huh.", "Yeah.", "Okay.", "Thank you for watching!"])
async def test_a_false_interruption_resumes_and_no_word_is_lost_or_said_twice(make_open: MakeRig, sound: str) -> None:
    rig = await make_open()
    await rig.asks("Tell me a story.")
    undisturbed = np.count_nonzero(rig.sound)
    rig.forgets()
    assert rig.model is not None
    rig.model.answers.append(says(STORY))
    await the_story_begins(rig)
    await rig.hears(sound) if sound else await rig.hears_noise()
    await rig.rests()
    assert rig.endings == [EndReason.ANSWERED]
    assert " ".join(rig.said) == STORY
    assert abs(np.count_nonzero(rig.sound) - undisturbed) < 0.3 * RATE_HZ


async def test_a_voice_that_halts_for_nothing_again_and_again_halts_no_more_in_that_turn(make_open: MakeRig) -> None:
    rig = await make_open()
    await the_story_begins(rig)
    for _ in range(3):
        await rig.hears("Mm-hmm.")
        await rig.runs(0.5)
    rig.speaks(1.0)
    await rig.runs(0.4)
    before = len(rig.sound)
    await rig.runs(0.5)
    assert rig.sound[before:].any(), "it goes on"


@pytest.mark.parametrize(
    ("heard", "ending"),
    [
        ("and on it goes to the end", EndReason.ANSWERED),
        ("something in another room", EndReason.ANSWERED),
        ("Stop!", EndReason.STOPPED),
    ],
)
async def test_what_may_be_our_own_echo_can_only_stop_the_box(
    make_open: MakeRig, heard: str, ending: EndReason
) -> None:
    rig = await make_open()
    # Our echo may be nearly as loud as that person.
    rig.duplex_card.meter.remember(EchoFigure(loss_decibels=-17.0, left_decibels=-17.0))
    await the_story_begins(rig)
    await rig.hears(heard)
    await rig.rests()
    assert rig.endings == [ending]


async def test_a_hold_is_not_taken_for_a_stuck_speaker(make_open: MakeRig) -> None:
    rig = await make_open()
    await the_story_begins(rig)
    rig.ears.block()
    rig.ears.will_hear("mhm")
    await rig.hears_noise()
    await rig.runs(STALL_SECONDS * 2)
    rig.ears.release()
    await rig.rests()
    assert rig.endings == [EndReason.ANSWERED]
    assert " ".join(rig.said) == STORY


async def test_a_transcriber_that_hangs_gives_the_voice_back(make_open: MakeRig) -> None:
    rig = await make_open()
    await the_story_begins(rig)
    rig.ears.block()
    await rig.hears_noise()
    await rig.rests()
    assert " ".join(rig.said) == STORY
    rig.ears.release()


async def test_history_holds_only_what_was_heard(make_open: MakeRig) -> None:
    rig = await make_open(says(STORY), says("Half past two."))
    await the_story_begins(rig)
    await rig.hears("What time is it in Lisbon?")
    await rig.rests()
    story, _ = await rig.history()
    assert story.heard_text and STORY.startswith(story.heard_text)
    assert len(story.heard_text) < len(STORY) / 2


async def test_it_can_be_talked_over_while_a_tool_runs(make_open: MakeRig) -> None:
    rig = await make_open(calls(("shutters", {})), says("Done."))
    lines = VoiceLines("I go to the shutters now and that takes quite a while as you know.", ("Still.",), "Closed.")
    rig.adds(FakeTool("shutters", clock=rig.clock, seconds=60.0, risk=Risk.WRITE, voice_lines=lines))
    await rig.hears(WAKE_WORD, "Close the shutters.")
    await rig.until(lambda: rig.box.speaker.now_saying)
    await rig.runs(0.2)
    await rig.hears("Stop.")
    await rig.rests()
    assert rig.endings == [EndReason.STOPPED]


async def test_a_sound_that_ends_with_our_own_echo_is_no_sentence(make_open: MakeRig) -> None:
    rig = await make_open()
    await the_story_begins(rig)
    rig.ears.will_hear("empty")
    await rig.hears_noise(0.5)
    await rig.rests()
    assert rig.endings == [EndReason.ANSWERED]


async def test_yes_to_a_question_that_still_sounds_is_an_answer(make_open: MakeRig) -> None:
    question = f"Shall I {'really and truly ' * 10}do that for you?"
    rig = await make_open(says(question), says("It is done."))
    await rig.hears(WAKE_WORD, "Do it.")
    await rig.until(lambda: rig.box.speaker.now_saying)
    await rig.runs(0.6)
    await rig.hears("Yes.")
    await rig.rests()
    assert rig.said[-1] == "It is done."


async def test_the_button_during_a_hold_is_what_counts(make_open: MakeRig) -> None:
    rig = await make_open(has_button=True)
    await the_story_begins(rig)
    rig.ears.will_hear("and what about the weather")
    rig.speaks(1.0)
    await rig.runs(0.4)
    await rig.presses()
    await rig.runs(2.0)
    await rig.rests()
    assert rig.endings == [EndReason.STOPPED]


async def test_the_wake_word_still_interrupts(make_open: MakeRig) -> None:
    rig = await make_open(says(STORY), says("Half past two."))
    await the_story_begins(rig)
    await rig.hears(WAKE_WORD, "What time is it in Lisbon?")
    await rig.rests()
    assert rig.said[-1] == "Half past two."
    assert [fact.word for fact in rig.told(WakeDetected)] == [WAKE_WORD, WAKE_WORD]


async def test_in_half_duplex_only_the_wake_word_interrupts(make_open: MakeRig) -> None:
    rig = await make_open(settings={"listen.duplex": "half"})
    await the_story_begins(rig)
    await rig.hears_noise(1.0)
    await rig.rests()
    assert rig.endings == [EndReason.ANSWERED]
    assert rig.ears.heard[1:] == [], "nobody listened"


async def test_a_loud_echo_that_stays_never_interrupts_the_box(make_open: MakeRig) -> None:
    rig = await make_open(settings={}, echo_gain=2.0)
    for _ in range(2):
        assert rig.model is not None
        rig.model.answers.append(says(STORY))
        await rig.asks("Tell me a story.")
    assert rig.endings == [EndReason.ANSWERED] * 2
    assert rig.box.status()["talking over it"].startswith("half")


async def test_where_no_echo_is_left_it_finds_out_by_itself_that_it_may_be_talked_over(make_open: MakeRig) -> None:
    rig = await make_open(settings={})
    assert rig.box.status()["talking over it"] == "half; the echo was not measured yet"
    await rig.asks("Tell me a story.")
    assert rig.box.status()["talking over it"].startswith("full")


async def test_what_was_measured_is_known_after_a_restart(make_open: MakeRig) -> None:
    disk = FakeDisk()
    rig = await make_open(settings={}, disk=disk)
    await rig.asks("Tell me a story.")
    await rig.runs(3.0)
    again = await make_open(settings={}, disk=disk, clock=rig.clock)
    await again.runs(0.5)
    assert again.box.status()["talking over it"].startswith("guarded"), "guarded until the canceller knows the room"


async def test_an_alarm_that_rings_has_its_own_rules(make_open: MakeRig) -> None:
    rig = await make_open()
    await rig.sets_timer(1.0)
    await rig.until(lambda: rig.box.ringer.ringing)
    await rig.runs(0.3)
    assert not (rig.box.ear.is_overhearing)
