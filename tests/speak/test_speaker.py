from __future__ import annotations

import asyncio

from appliance.adapters.fakes.commit_gate import FakeCommitGate
from appliance.clock import settle
from appliance.events import ErrorRaised, PlaybackFinished, PlaybackStarted
from appliance.ports import Priority
from appliance.speak.line_player import STALL_SECONDS
from appliance.speak.line_voice import LOADING_SECONDS
from appliance.speak.mixer import Lane
from tests.speak.rig import BLOCK_SECONDS, Rig, committed_turn


async def test_sentences_are_said_in_the_order_they_came() -> None:
    rig = Rig()
    rig.speaker.say("One two three.")
    playback = rig.speaker.say("Four five. Six seven.")
    assert await rig.play(1.0) == ["One two three.", "Four five.", "Six seven."]
    assert await playback.finished() == "Four five. Six seven."
    assert not rig.speaker.is_speaking


async def test_the_next_sentence_is_synthesised_while_the_first_sounds() -> None:
    rig = Rig()
    for text in ("One two three.", "Four five six.", "Seven eight nine."):
        rig.speaker.say(text)
    await rig.play(BLOCK_SECONDS)
    assert rig.voice.asked == ["One two three.", "Four five six."]
    await rig.play(0.2)
    assert rig.voice.asked == ["One two three.", "Four five six.", "Seven eight nine."]
    await rig.play(0.5)
    seconds = sum(rig.voice.seconds(text) for text in rig.voice.asked)
    sounding = rig.output.played.nonzero()[0]
    assert sounding[-1] - sounding[0] < (seconds + 3 * BLOCK_SECONDS) * 16_000


async def test_a_question_goes_before_replies_and_a_reply_before_notices_but_none_cuts_a_sentence() -> None:
    rig = Rig()
    rig.speaker.say("Sentence that sounds already.")
    await rig.play(0.1)
    rig.speaker.say("A notice.", Priority.NOTICE)
    rig.speaker.say("A reply.", Priority.REPLY)
    rig.speaker.say("May I run it?", Priority.APPROVAL)
    await rig.play(1.5)
    assert rig.heard == ["Sentence that sounds already.", "May I run it?", "A reply.", "A notice."]


async def test_an_alert_cuts_a_sentence_which_is_said_again_afterwards() -> None:
    rig = Rig()
    playback = rig.speaker.say("This is a rather long sentence. And one more.")
    await rig.play(0.2)
    rig.speaker.say("The soup is ready.", Priority.ALERT)
    await rig.play(2.0)
    assert rig.heard == [
        "This is a rather long sentence.",
        "The soup is ready.",
        "This is a rather long sentence.",
        "And one more.",
    ]
    assert await playback.finished() == "This is a rather long sentence. And one more."
    assert [event.lane for event in rig.told(PlaybackStarted)] == ["speech", "alert", "speech"]


async def test_an_alert_whose_sound_is_not_there_yet_cuts_nothing() -> None:
    rig = Rig()
    rig.speaker.say("One two three four.")
    await rig.play(0.1)
    rig.voice.block()
    rig.speaker.say("Wake up.", Priority.ALERT)
    assert (await rig.output.play(0.08)).all()
    rig.voice.release()
    await rig.play(1.0)
    assert rig.heard == ["One two three four.", "Wake up.", "One two three four."]


async def test_an_alert_the_voice_fails_on_cuts_nothing() -> None:
    rig = Rig()
    rig.voice.fail("Wake up.")
    rig.speaker.say("One two three four.")
    await rig.play(0.1)
    rig.speaker.say("Wake up.", Priority.ALERT)
    await rig.play(1.0)
    assert rig.heard == ["One two three four."]
    assert len(rig.told(ErrorRaised)) == 1


async def test_stop_silences_within_one_block_and_everybody_who_waits_goes_on() -> None:
    rig = Rig()
    sounding = rig.speaker.say("One two three four five six seven eight nine ten.")
    waiting = rig.speaker.say("Never heard.")
    await rig.play(0.34)
    rig.speaker.stop()
    last = await rig.output.play(BLOCK_SECONDS)
    assert not last[160:].any()
    assert not (await rig.output.play(1.0)).any()
    assert await sounding.finished() == "One two three four five"
    assert await waiting.finished() == ""
    assert not rig.speaker.is_speaking
    assert [event.heard_text for event in rig.told(PlaybackFinished)] == ["One two three four five"]


async def test_stop_ends_a_sentence_that_is_still_being_synthesised() -> None:
    rig = Rig()
    rig.voice.block()
    playback = rig.speaker.say("Hello there.")
    await settle()
    rig.speaker.stop()
    assert await playback.finished() == ""
    rig.voice.release()
    assert await rig.play(0.5) == []
    assert rig.events == []


async def test_after_a_stop_the_box_speaks_again() -> None:
    rig = Rig()
    rig.speaker.say("One two three four.")
    await rig.play(0.1)
    rig.speaker.stop()
    rig.speaker.say("Okay.")
    await rig.play(0.5)
    assert rig.heard[-1] == "Okay."


async def test_stop_keeps_an_alert_that_nobody_has_heard_yet() -> None:
    rig = Rig()
    rig.speaker.say("One two three four.")
    await rig.play(0.1)
    rig.speaker.say("The soup is ready.", Priority.ALERT)
    rig.speaker.stop()
    assert await rig.play(1.0) == ["The soup is ready."]
    rig.speaker.say("The tea is ready too.", Priority.ALERT)
    await rig.play(0.1)
    rig.speaker.stop()
    await rig.play(BLOCK_SECONDS)
    assert not (await rig.output.play(1.0)).any()


async def test_what_the_mixer_flushed_is_not_said_later() -> None:
    rig = Rig()
    playbacks = [rig.speaker.say("One two three four."), rig.speaker.say("Five six.")]
    await rig.play(0.1)
    rig.mixer.flush(Lane.SPEECH)
    await rig.play(BLOCK_SECONDS)
    assert not (await rig.output.play(1.0)).any()
    assert [await playback.finished() for playback in playbacks] == ["One", ""]


async def test_a_stop_right_behind_the_first_block_still_tells_its_start_and_end() -> None:
    rig = Rig()
    rig.speaker.say("One two three four.")
    while not rig.mixer.has_sound():
        await settle(1)
    rig.mixer.render(1600)
    rig.speaker.stop()
    await settle()
    assert [type(event) for event in rig.events] == [PlaybackStarted, PlaybackFinished]


async def test_of_a_sentence_said_twice_the_longer_part_was_heard() -> None:
    rig = Rig()
    playback = rig.speaker.say("One two three four five six.")
    await rig.play(0.3)
    heard = playback.named_so_far
    assert heard == "One two three four"
    rig.speaker.say("Ding.", Priority.ALERT)
    while len(rig.heard) < 3:
        await rig.play(BLOCK_SECONDS)
    rig.speaker.stop()
    assert (await playback.finished()).startswith(heard)


async def test_of_a_sentence_cut_while_it_was_still_being_made_only_a_part_was_heard() -> None:
    rig = Rig()
    rig.voice.block(after_words=2)
    playback = rig.speaker.say("One two three four five six.")
    await rig.play(0.5)
    rig.speaker.stop()
    assert await playback.finished() in ("", "One")


async def test_named_so_far_grows_word_by_word() -> None:
    rig = Rig()
    playback = rig.speaker.say("One two three. Four five six.")
    assert playback.named_so_far == ""
    seen: list[str] = []
    for _ in range(20):
        await rig.play(BLOCK_SECONDS)
        if not seen or seen[-1] != playback.named_so_far:
            seen.append(playback.named_so_far)
    assert seen[0] == ""
    assert "One two" in seen
    assert "One two three. Four" in seen
    assert seen[-1] == "One two three. Four five six."
    assert seen == sorted(seen, key=len)


async def test_nothing_of_an_uncommitted_turn_sounds_and_others_need_not_wait_for_it() -> None:
    rig = Rig()
    gate = FakeCommitGate()
    rig.speaker.say("Maybe.", turn_id="turn-1", gate=gate)
    rig.speaker.say("Certainly.")
    assert await rig.play(0.5) == ["Certainly."]
    gate.commit()
    assert await rig.play(0.5) == ["Maybe."]


async def test_a_dropped_turn_leaves_no_sample() -> None:
    rig = Rig()
    gate = FakeCommitGate()
    playback = rig.speaker.say("Half a sentence.", turn_id="turn-1", gate=gate)
    await rig.play(0.2)
    gate.drop()
    assert await playback.finished() == ""
    await rig.play(1.0)
    assert not rig.output.played.any()
    assert rig.events == []


async def test_a_voice_that_fails_costs_one_sentence_and_is_reported() -> None:
    rig = Rig()
    rig.voice.fail("Two.")
    playbacks = [rig.speaker.say(text, turn_id="turn-1") for text in ("One.", "Two.", "Three.")]
    await rig.play(1.0)
    assert rig.heard == ["One.", "Three."]
    assert [await playback.finished() for playback in playbacks] == ["One.", "", "Three."]
    errors = rig.told(ErrorRaised)
    assert [(error.turn_id, error.where) for error in errors] == [("turn-1", "voice")]


async def test_a_voice_that_never_answers_is_given_up() -> None:
    rig = Rig()
    rig.voice.block()
    playback = rig.speaker.say("Hello there.")
    done = asyncio.ensure_future(playback.finished())
    await rig.clock.advance(LOADING_SECONDS - 1.0)
    assert not done.done()
    await rig.clock.advance(1.0)
    assert await done == ""
    assert [error.where for error in rig.told(ErrorRaised)] == ["voice"]


async def test_a_speaker_that_takes_no_sound_does_not_hang_the_turn() -> None:
    rig = Rig()
    playbacks = [rig.speaker.say("One two."), rig.speaker.say("Three four.")]
    await rig.clock.advance(STALL_SECONDS)
    assert [await playback.finished() for playback in playbacks] == ["", ""]
    assert [error.where for error in rig.told(ErrorRaised)] == ["speaker"]
    rig.speaker.say("Back again.")
    assert await rig.play(0.5) == ["Back again."]


async def test_a_long_sentence_is_no_stall() -> None:
    rig = Rig(word_seconds=1.0)
    words = " ".join(["word"] * 15) + "."
    playback = rig.speaker.say(words)
    await rig.play(rig.voice.seconds(words) + 0.1)
    assert await playback.finished() == words
    assert rig.told(ErrorRaised) == []


async def test_start_and_end_of_each_sentence_are_told_with_their_turn() -> None:
    rig = Rig()
    rig.speaker.say("One two.", turn_id="turn-7")
    await rig.play(0.5)
    started, finished = rig.events
    assert isinstance(started, PlaybackStarted)
    assert isinstance(finished, PlaybackFinished)
    assert (started.turn_id, started.lane) == ("turn-7", "speech")
    assert (finished.turn_id, finished.heard_text) == ("turn-7", "One two.")
    assert 0.08 <= finished.at_seconds - started.at_seconds <= 0.16


async def test_text_with_nothing_to_say_is_finished_at_once() -> None:
    rig = Rig()
    assert await rig.speaker.say("").finished() == ""
    assert not rig.speaker.is_speaking


async def test_a_held_line_waits_and_keeps_the_order_behind_it() -> None:
    rig = Rig()
    is_listening = True
    rig.speaker.say("First.", hold=lambda: is_listening)
    rig.speaker.say("Second.")
    assert await rig.play(1.0) == []
    is_listening = False
    assert await rig.play(1.0) == ["First.", "Second."]


async def test_the_pace_can_be_changed_within_limits() -> None:
    rig = Rig()
    rig.speaker.speed = 2.0
    rig.speaker.say("One two three four.")
    await rig.play(1.0)
    assert len(rig.output.played.nonzero()[0]) == 0.12 * 16_000
    rig.speaker.speed = 9.0
    assert rig.speaker.speed == 2.0


async def test_a_notice_is_said_once_when_nothing_else_goes_on() -> None:
    rig = Rig()
    rig.is_busy = True
    rig.speaker.notice("mic", "I cannot hear you.")
    rig.speaker.notice("mic", "I cannot hear you.")
    assert await rig.play(3.0) == []
    rig.is_busy = False
    assert await rig.play(5.0) == ["I cannot hear you."]
    rig.speaker.notice("mic", "I cannot hear you.")
    assert await rig.play(5.0) == []


async def test_a_notice_waits_for_the_end_of_quiet_hours() -> None:
    rig = Rig()
    rig.is_quiet = True
    rig.speaker.notice("net", "The network is gone.")
    rig.speaker.notice("disk", "The disk is full.")
    assert await rig.play(3.0) == []
    rig.is_quiet = False
    assert await rig.play(5.0) == ["The network is gone.", "The disk is full."]


async def test_a_notice_that_a_turn_pushed_aside_comes_back() -> None:
    rig = Rig()
    rig.voice.block()
    rig.speaker.notice("net", "The network is gone.")
    await settle()
    rig.speaker.stop()
    rig.voice.release()
    assert await rig.play(3.0) == ["The network is gone."]


async def test_closing_ends_everything() -> None:
    rig = Rig()
    playbacks = [
        rig.speaker.say("One two three four five."),
        rig.speaker.say("Maybe.", gate=FakeCommitGate()),
        rig.speaker.say("Alert.", Priority.ALERT),
    ]
    rig.speaker.notice("net", "The network is gone.")
    await rig.play(BLOCK_SECONDS)
    before = asyncio.all_tasks()
    await rig.speaker.close()
    await settle()
    assert [playback.is_over for playback in playbacks] == [True] * 3
    assert asyncio.all_tasks() == {asyncio.current_task()} < before


async def test_a_reply_after_the_stop_of_its_turn_stays_silent() -> None:
    rig = Rig()
    turn = committed_turn()
    reply = rig.speaker.open_reply(turn.turn_id, turn)
    reply.feed("One two three. Four")
    await rig.play(0.1)
    rig.speaker.stop()
    reply.feed(" five six. Seven")
    await settle()
    assert rig.voice.asked == ["One two three."]
    await rig.play(BLOCK_SECONDS)
    assert not (await rig.output.play(1.0)).any()
    assert (await reply.end()).heard_text == "One"
