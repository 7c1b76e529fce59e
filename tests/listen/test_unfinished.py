from __future__ import annotations

import pytest

from appliance.bench.speech_clips import SENTENCES
from appliance.listen.unfinished import is_unfinished


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Set a timer for"),
        ("en", "set a timer for."),
        ("en", "Play some music and..."),
        ("en", "How is the..."),
        ("en", "Add milk,"),
        ("en", "cause the f-"),
        ("en", "What is on my"),
        ("de", "Stell einen Wecker für"),
        ("de", "Spiel Musik im"),
        ("es", "Pon una alarma para"),
        ("es", "Enciende la"),
    ],
)
def test_a_text_that_breaks_off_is_unfinished(language: str, text: str) -> None:
    assert is_unfinished(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Turn it on."),
        ("en", "Turn the heating down"),
        ("en", "two nine three four zero"),
        ("en", ""),
        ("de", "Mach das Licht an."),
        ("de", "Wie spät ist es?"),
        ("es", "Apágalo."),
        ("nl", "zet een wekker voor de"),
    ],
)
def test_a_whole_text_is_not_and_other_languages_are_not_judged(language: str, text: str) -> None:
    assert not is_unfinished(text, language)


def test_no_sentence_of_the_benchmark_is_unfinished() -> None:
    assert [text for text in SENTENCES if is_unfinished(text, "en")] == []
