"""What counts as an answer to the question for the button: whole utterances only, however they are written down."""

from __future__ import annotations

import pytest

from tests.think.offline_sentences import sentences


@pytest.mark.parametrize(
    "heard",
    [
        *("No.", "no", "No!", "Nope.", "Nah.", "No, no.", "No, no, no!", "Oh no.", "No, thanks.", "No, thank you."),
        *("Don't.", "Please don't.", "Don't do it.", "Don't do that, please.", "Do not do that.", "No, don't."),
        *("Cancel.", "Cancel that.", "Never mind.", "Nevermind", "Leave it.", "Leave it alone.", "No, leave it."),
        *("Okay, Nabu. No.", "Not now.", "Absolutely not.", "You may not.", "Um, no.", "Yes, no, wait.", "Forget it."),
    ],
)
def test_a_no(heard: str) -> None:
    assert sentences().match_answer(heard) == "no"


@pytest.mark.parametrize(
    "heard",
    [
        *("Stop.", "Stop!", "Stop it.", "No, stop.", "Stop, stop, stop.", "Okay Nabu, stop.", "Please stop.", "Abort."),
        *("Cancel everything.", "Stop everything.", "Be quiet.", "Wait, stop.", "That's enough."),
    ],
)
def test_a_stop(heard: str) -> None:
    assert sentences().match_answer(heard) == "stop"


@pytest.mark.parametrize(
    "heard",
    [
        *("Yes.", "Yeah.", "Yes, yes.", "Yes please.", "Okay.", "OK", "Okay, do it.", "Yes, do it.", "Do it.", "Sure."),
        *("Sure, go ahead.", "I pressed it.", "I press the button.", "I've pressed the button.", "Confirmed."),
        *("I already pressed it.", "Approve it.", "Yes, I allow it.", "Okay Nabu, yes."),
    ],
)
def test_a_yes(heard: str) -> None:
    assert sentences().match_answer(heard) == "yes"


@pytest.mark.parametrize(
    "heard",
    [
        *("And then she said no to him.", "I don't know.", "You know.", "No idea.", "No problem.", "No one knows."),
        *("She stopped by yesterday.", "Don't you think so?", "What time is it?", "Thank you.", "You", "Now.", ""),
        *(
            "Yes, I saw him there.",
            "No, I want to watch it.",
            "Okay Nabu.",
            "[BLANK_AUDIO]",
            "(music)",
            "Stop the car!",
        ),
        # Its own words, whole or in pieces.
        *("May I use the tool, run backup?", "Press my button for yes.", "For no, hold it, or just say so."),
        *("Just say so.", "Say so.", "So.", "Hold it, or just say so.", "Hold it for no.", "For no.", "For yes."),
        *("I need the button for that.", "Button for that.", "For that."),
    ],
)
def test_none_of_them(heard: str) -> None:
    assert sentences().match_answer(heard) == ""


@pytest.mark.parametrize("heard", ["Nope.", "Please don't.", "I pressed it.", "Confirmed.", "No, stop."])
def test_they_count_nowhere_else(heard: str) -> None:
    match = sentences().match(heard)
    assert match is None or not match.tool.startswith("answer_")
    alert = sentences().match_alert(heard)
    assert alert is None or not alert.tool.startswith("answer_")
