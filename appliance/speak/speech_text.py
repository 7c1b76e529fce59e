"""What a model writes, as sentences to speak: streaming, without markup, in spoken forms.

The text runs through stages, character by character, so that it never matters how it was cut into deltas:
reasoning -> blocks (lines) -> inline markup -> sentences; each finished sentence gets its spoken form.
"""

from __future__ import annotations

from dataclasses import replace

from appliance.speak.blocks import BlockMarkup
from appliance.speak.inline import InlineMarkup
from appliance.speak.reasoning import ReasoningFilter
from appliance.speak.sentences import Sentence, SentenceSplitter
from appliance.speak.spoken_forms import rules_of, spoken_form

__all__ = ["Sentence", "SpeechText", "spoken_text"]


class SpeechText:
    """One text at a time: ``feed`` its deltas, then ``end`` it; after that it takes the next."""

    def __init__(self, language: str = "en") -> None:
        self._language = language
        rules_of(language)  # compiled now, not when the first sentence is ready
        self._splitter = SentenceSplitter(language)
        self._inline = InlineMarkup(self._splitter)
        self._blocks = BlockMarkup(self._inline, language)
        self._reasoning = ReasoningFilter(self._blocks.push, lambda: self._blocks.is_code or self._inline.is_code)

    def feed(self, delta: str) -> list[Sentence]:
        """The sentences that are certain now."""
        for character in delta:
            self._reasoning.push(character)
        return self._spoken()

    def end(self) -> list[Sentence]:
        """The text is over; what is left of it."""
        self._reasoning.end()
        self._blocks.end()
        sentences = self._spoken()
        self._splitter.forget_emotion()
        return sentences

    def _spoken(self) -> list[Sentence]:
        spoken = (replace(one, text=spoken_form(one.text, self._language)) for one in self._splitter.take())
        return [one for one in spoken if one.text]


def spoken_text(text: str, *, language: str = "en") -> str:
    """All that is heard of a whole text."""
    reader = SpeechText(language)
    return " ".join(sentence.text for sentence in (*reader.feed(text), *reader.end()))
