from __future__ import annotations

import asyncio

import pytest

from appliance.clock import settle
from appliance.events import Emotion, EmotionChanged, Event, PlaybackStarted, ReplySentenceSpoken
from appliance.speak.line import heard_words
from appliance.speak.reply import HeardReply
from appliance.turn import Turn
from tests.speak.rig import BLOCK_SECONDS, Rig, committed_turn


async def test_the_first_sentence_sounds_while_the_model_still_writes() -> None:
    rig = Rig()
    turn = committed_turn()
    reply = rig.speaker.open_reply(turn.turn_id, turn)
    for delta in ("It is ", "five o'", "clock. ", "And the sun"):
        reply.feed(delta)
    assert await rig.play(0.5) == ["It is five o'clock."]
    reply.feed(" shines.")
    end = asyncio.ensure_future(reply.end())
    assert await rig.play(0.5) == ["And the sun shines."]
    assert await end == HeardReply("It is five o'clock. And the sun shines.", 2, ())


async def test_a_sentence_is_told_and_sets_the_face_when_it_begins_to_sound() -> None:
    rig = Rig()
    turn = committed_turn()
    reply = rig.speaker.open_reply(turn.turn_id, turn)
    reply.feed("[happily] It is warm today. Take a hat.")
    reply.flush_text()
    await settle()
    assert rig.events == []
    await rig.play(1.0)

    def shown(event: Event) -> object:
        match event:
            case ReplySentenceSpoken(text=text):
                return text
            case EmotionChanged(emotion=emotion, source=source):
                return emotion, source
        return type(event).__name__

    assert [shown(event) for event in rig.events] == [
        "PlaybackStarted",
        "It is warm today.",
        (Emotion.HAPPY, "reply"),
        "PlaybackFinished",
        "PlaybackStarted",
        "Take a hat.",
        "PlaybackFinished",
    ]
    assert {event.turn_id for event in rig.events} == {"turn-1"}


async def test_text_before_a_tool_call_is_said_before_what_comes_next() -> None:
    rig = Rig()
    turn = committed_turn()
    reply = rig.speaker.open_reply(turn.turn_id, turn)
    reply.feed("Let me look.")
    reply.flush_text()
    rig.speaker.say("Reading the page.", turn_id=turn.turn_id, gate=turn)
    reply.feed("It says hello.")
    end = asyncio.ensure_future(reply.end())
    assert await rig.play(1.0) == ["Let me look.", "Reading the page.", "It says hello."]
    assert (await end).heard_text == "Let me look. It says hello."


async def test_a_long_reply_stops_after_its_longest_and_keeps_the_rest() -> None:
    rig = Rig()
    turn = committed_turn()
    reply = rig.speaker.open_reply(turn.turn_id, turn, 2, go_on="Shall I go on?")
    reply.feed("Apples are red. Pears are green. Plums are blue. Limes are sour.")
    end = asyncio.ensure_future(reply.end())
    assert await rig.play(2.0) == ["Apples are red.", "Pears are green.", "Shall I go on?"]
    heard = await end
    assert heard.remainder == ("Plums are blue.", "Limes are sour.")
    assert heard.heard_text == "Apples are red. Pears are green. Shall I go on?"


async def test_a_reply_of_exactly_the_longest_is_not_asked_about() -> None:
    rig = Rig()
    turn = committed_turn()
    reply = rig.speaker.open_reply(turn.turn_id, turn, 2, go_on="Shall I go on?")
    reply.feed("Apples are red. Pears are green.")
    end = asyncio.ensure_future(reply.end())
    assert await rig.play(2.0) == ["Apples are red.", "Pears are green."]
    assert (await end).remainder == ()


async def test_what_was_heard_of_a_cut_reply_is_whole_sentences_and_the_words_that_sounded() -> None:
    rig = Rig()
    turn = committed_turn()
    reply = rig.speaker.open_reply(turn.turn_id, turn)
    reply.feed("Apples are red. Pears are nearly always quite green. Plums are blue.")
    end = asyncio.ensure_future(reply.end())
    while len(rig.told(PlaybackStarted)) < 2:
        await rig.play(BLOCK_SECONDS)
    await rig.play(0.5 * rig.voice.seconds("Pears are nearly always quite green.") - BLOCK_SECONDS)
    rig.speaker.stop()
    heard = await end
    assert heard.heard_text == "Apples are red. Pears are nearly"
    assert heard.spoken_sentences == 2
    assert reply.so_far() == heard


async def test_a_dropped_turn_says_nothing_of_its_reply_and_does_not_wait() -> None:
    rig = Rig()
    turn = Turn("voice")
    reply = rig.speaker.open_reply(turn.turn_id, turn)
    reply.feed("The answer to half a question.")
    reply.flush_text()
    await rig.play(0.1)
    assert rig.voice.asked == ["The answer to half a question."]
    turn.drop()
    assert await reply.end() == HeardReply("", 0, ())
    await rig.play(0.5)
    assert not rig.output.played.any()
    assert rig.events == []


async def test_a_reply_nobody_could_voice_ends_unheard() -> None:
    rig = Rig()
    turn = committed_turn()
    rig.voice.fail()
    reply = rig.speaker.open_reply(turn.turn_id, turn)
    reply.feed("One two. Three four.")
    assert await reply.end() == HeardReply("", 0, ())


async def test_an_empty_reply_ends_at_once() -> None:
    rig = Rig()
    turn = committed_turn()
    assert await rig.speaker.open_reply(turn.turn_id, turn).end() == HeardReply("", 0, ())


@pytest.mark.parametrize(
    ("share", "heard"),
    [(0.0, ""), (0.2, ""), (0.3, "one"), (0.5, "one"), (0.7, "one two"), (0.99, "one two"), (1.0, "one two three")],
)
def test_words_count_as_heard_when_they_are_whole(share: float, heard: str) -> None:
    assert heard_words("one two three", share) == heard
