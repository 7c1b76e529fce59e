"""A reply begins to sound while its first sentence is still being written."""

from __future__ import annotations

import asyncio

import pytest

from appliance.clock import settle
from appliance.events import Emotion, EmotionChanged, ErrorRaised, PlaybackFinished, ReplySentenceSpoken
from appliance.ports import Priority
from appliance.speak.growing_text import GrowingText
from appliance.speak.line_voice import LOADING_SECONDS
from appliance.speak.reply import Reply
from appliance.speak.speech_text import SpeechText
from tests.speak.rig import Rig, committed_turn


def fast_rig(word_seconds: float = 0.06) -> Rig:
    rig = Rig(word_seconds=word_seconds)
    rig.speaker.is_written_fast = lambda: True
    return rig


def opened(rig: Rig) -> Reply:
    turn = committed_turn()
    return rig.speaker.open_reply(turn.turn_id, turn)


# ------------------------------------------------------------------------------------------ which words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("The museum ", ""),
        ("The museum opens", ""),
        ("The museum opens ", "The museum opens"),
        ("**The museum** opens [happily] at ", "The museum opens at"),
        ("Yes, the shop, I think, ", "Yes, the shop, I think"),
        ("I’m sure that it’s open ", "I'm sure that it's open"),
        # What may still be read otherwise waits; but what is far enough behind does not.
        ("My bill: $5 ", ""),
        ("The whole bill is $5 ", "The whole bill is"),
        ("The whole bill is $5 million and that is a lot ", "The whole bill is five million dollars and"),
        ("At the NASA centre it ", ""),
        ("We saw King Charles III and ", "We saw King Charles"),
        ("- one\n- two", ""),
        ("| a | b |\n|---|---|\n| the box is there | b |\n", ""),
        ("It is open. The", ""),
        ("<think>So the user wants to know", ""),
        ("```\nthe code is this and", ""),
    ],
)
def test_only_words_that_nothing_behind_them_changes_are_said_early(written: str, words: str) -> None:
    reader = SpeechText()
    reader.feed(written)
    found = reader.first_words()
    assert (found.text if found is not None else "") == words


@pytest.mark.parametrize(
    "reply",
    [
        "The museum opens at ten in the morning on most days.",
        "Your next appointment is with Dr. Smith at 3:30 p.m. on May 5, 2026, in room 12.",
        "It will be between 18 and 21.5 °C with 3/4 of the sky clear, and then it gets colder.",
        "You owe me about $5 million, or 4.7 million euros, for the house in St. Ives.",
        "My address on the net is https://example.org/a/b and my number there is 192.168.1.20 as ever.",
        "We flew with the U.S. Army in the year 1999 over Henry VIII and his 6 wives at 300 km/h.",
    ],
)
def test_the_words_said_early_are_those_of_the_sentence(reply: str) -> None:
    """However the model cuts it: each word that was told early stands in the sentence, in its place."""
    reader, early = SpeechText(), list[str]()
    for character in reply:
        assert not reader.feed(character)
        if (words := reader.first_words()) is not None:
            early.append(words.text)
    (sentence,) = reader.end()
    assert early
    assert [words for words in early if not sentence.text.startswith(words)] == []
    assert early == sorted(early, key=len)


# ---------------------------------------------------------------------------------------------- the reply


async def test_the_first_words_sound_before_the_sentence_is_written() -> None:
    rig = fast_rig()
    reply = opened(rig)
    for delta in ("The ", "museum ", "opens ", "at "):
        reply.feed(delta)
    await settle()
    assert rig.voice.begun == ["The museum opens at"]
    reply.feed("ten ")
    await rig.play(0.5)
    assert rig.mixer.has_sound() is False, "all that is written was said"
    assert rig.speaker.is_speaking
    reply.feed("today. It ")
    reply.feed("closes at noon.")
    end = asyncio.ensure_future(reply.end())
    await rig.play(2.0)
    assert (await end).heard_text == "The museum opens at ten today. It closes at noon."
    assert rig.heard[-2:] == ["The museum opens at ten today.", "It closes at noon."]
    assert [told.text for told in rig.told(ReplySentenceSpoken)] == rig.heard[-2:]


async def test_a_reply_that_is_written_slowly_waits_for_its_sentence() -> None:
    rig = Rig()
    reply = opened(rig)
    reply.feed("The museum opens at ten ")
    await rig.play(0.5)
    assert rig.voice.begun == rig.voice.asked == []


async def test_the_mood_shows_with_the_first_words() -> None:
    rig = fast_rig()
    reply = opened(rig)
    reply.feed("[sad] I am sorry to say that ")
    await rig.play(0.2)
    assert [told.emotion for told in rig.told(EmotionChanged)] == [Emotion.SAD]
    assert rig.told(ReplySentenceSpoken) == []


async def test_only_the_first_sentence_is_begun_early() -> None:
    rig = fast_rig()
    reply = opened(rig)
    reply.feed("The first one is here. And the second one is ")
    await rig.play(1.0)
    assert rig.voice.begun == []
    assert rig.heard == ["The first one is here."]


async def test_a_stop_in_mid_sentence_ends_it_whatever_is_still_written() -> None:
    rig = fast_rig(word_seconds=0.3)
    reply = opened(rig)
    reply.feed("The museum opens at ten ")
    await rig.play(0.8)
    rig.speaker.stop()
    reply.feed("in the morning. And more.")
    heard = await reply.end()
    await rig.play(0.5)
    assert heard.heard_text == "The museum"
    assert rig.told(PlaybackFinished)[0].heard_text == "The museum"
    assert not rig.speaker.is_speaking


async def test_a_model_that_breaks_off_ends_the_sentence_with_what_there_is() -> None:
    rig = fast_rig()
    reply = opened(rig)
    reply.feed("The museum opens at ten ")
    reply.flush_text()
    reply.feed("The model does not answer.")
    end = asyncio.ensure_future(reply.end())
    await rig.play(2.0)
    assert (await end).heard_text == "The museum opens at ten. The model does not answer."


async def test_a_model_that_pauses_in_mid_sentence_is_no_fault_of_the_voice() -> None:
    rig = fast_rig()
    reply = opened(rig)
    reply.feed("The museum opens at ten ")
    await rig.play(2 * LOADING_SECONDS)
    reply.feed("today.")
    end = asyncio.ensure_future(reply.end())
    await rig.play(1.0)
    assert (await end).heard_text == "The museum opens at ten today."
    assert rig.told(ErrorRaised) == []
    assert rig.voice.times_started_over == 0


async def test_a_voice_that_hangs_in_the_first_words_is_given_up() -> None:
    rig = fast_rig()
    rig.voice.block()
    reply = opened(rig)
    reply.feed("The museum opens at ten ")
    reply.feed("today.")
    end = asyncio.ensure_future(reply.end())
    await rig.play(LOADING_SECONDS + 1.0)
    assert (await end).heard_text == ""
    assert [told.where for told in rig.told(ErrorRaised)] == ["voice"]


async def test_an_alert_in_mid_sentence_is_said_and_the_sentence_again() -> None:
    rig = fast_rig()
    reply = opened(rig)
    reply.feed("The museum opens at ten ")
    await rig.play(0.14)
    rig.speaker.say("The tea is ready.", Priority.ALERT)
    reply.feed("today.")
    end = asyncio.ensure_future(reply.end())
    await rig.play(2.0)
    assert rig.heard[-2:] == ["The tea is ready.", "The museum opens at ten today."]
    assert (await end).heard_text == "The museum opens at ten today."


# -------------------------------------------------------------------------------------------- made ahead


@pytest.mark.parametrize("known", ["The museum opens at", "The museum opens at ten in", "whole"])
async def test_first_words_that_a_draft_made_are_taken_over(known: str) -> None:
    rig = fast_rig()
    sentence = "The museum opens at ten in the morning."
    rig.speaker.prepare_first_words("The museum opens at")
    await settle()
    if known == "whole":
        rig.speaker.prepare_first(sentence)
    else:
        rig.speaker.prepare_first_words(known)
    await settle()
    assert not rig.mixer.has_sound()
    reply = opened(rig)
    for word in sentence.split():
        reply.feed(f"{word} ")
    end = asyncio.ensure_future(reply.end())
    await rig.play(2.0)
    assert (await end).heard_text == sentence
    assert (rig.voice.begun, rig.voice.asked) == (["The museum opens at"], [])


async def test_first_words_that_are_not_said_are_dropped() -> None:
    rig = fast_rig()
    rig.speaker.prepare_first_words("The museum opens at")
    await settle()
    rig.speaker.say("Something else entirely.")
    assert await rig.play(1.0) == ["Something else entirely."]
    reply = opened(rig)
    reply.feed("The museum opens at ten today.")
    reply.flush_text()
    await rig.play(1.0)
    assert rig.heard[-1] == "The museum opens at ten today."


# ---------------------------------------------------------------------------------------------- the text


async def test_a_word_that_turns_out_otherwise_was_said_as_it_was() -> None:
    rig = Rig()
    text = GrowingText("The bill is five", rig.clock)
    assert text.end("The bill is 5 dollars today.") == "The bill is five dollars today."
    assert text.end("Something else.") == "The bill is five dollars today."


async def test_what_is_waited_for_is_more_than_is_known() -> None:
    rig = Rig()
    text = GrowingText("The bill", rig.clock)
    waiting = asyncio.ensure_future(text.more("The bill", 0.0))
    await settle()
    assert not waiting.done() and text.is_waited_for
    text.grow("The bill is")
    await settle()
    assert waiting.done() and not text.is_waited_for


async def test_while_there_is_time_only_the_end_is_waited_for() -> None:
    rig = Rig()
    text = GrowingText("The bill", rig.clock)
    waiting = asyncio.ensure_future(text.more("The bill", 1.0))
    await settle()
    text.grow("The bill is")
    await settle()
    assert not waiting.done()
    await rig.clock.advance(1.0)
    assert waiting.done()
