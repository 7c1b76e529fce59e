"""Reads texts aloud as a reply would, for the tests."""

from __future__ import annotations

from appliance.speak.speech_text import Sentence, SpeechText


def speak(*deltas: str, language: str = "en") -> list[Sentence]:
    """The sentences of a text that comes in ``deltas``."""
    text = SpeechText(language)
    sentences = [sentence for delta in deltas for sentence in text.feed(delta)]
    return sentences + text.end()


def said(*deltas: str, language: str = "en") -> list[str]:
    """The same without moods."""
    return [sentence.text for sentence in speak(*deltas, language=language)]
