"""What a model writes, as sentences to speak: streaming, without markup, in spoken forms.

The text runs through stages, character by character, so that it never matters how it was cut into deltas:
reasoning -> blocks (lines) -> inline markup -> sentences; each finished sentence gets its spoken form.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from appliance.speak.blocks import BlockMarkup
from appliance.speak.inline import InlineMarkup
from appliance.speak.reasoning import ReasoningFilter
from appliance.speak.sentences import Sentence, SentenceSplitter
from appliance.speak.spoken_forms import rules_of, spoken_form

__all__ = ["Sentence", "SpeechText", "spoken_text"]

#: What no spoken form changes, whatever comes behind it: a word in letters that is no abbreviation in capitals.
_PLAIN_WORD = re.compile(r"[^\W\d_][^\W\dA-Z_]*(?:['’][^\W\dA-Z_]+)?,?")
#: The spoken form of other words ("$5" before "million") may change with so many that follow.
_WORDS_THAT_CHANGE_OTHERS = 4
#: Fewer last hardly as long as a voice looks ahead; it may want more.
_FEWEST_FIRST_WORDS = 3


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

    def first_words(self) -> Sentence | None:
        """The words at the start of the sentence that is being written which nothing can change that comes behind them.

        None while there are too few of them.
        """
        sentence = self._splitter.unfinished
        if sentence is None:
            return None
        words = sentence.text.split(" ")[:-1]  # the last one may still grow
        plain = list(itertools.takewhile(_PLAIN_WORD.fullmatch, words))
        if len(plain) < _FEWEST_FIRST_WORDS:
            return None
        said = self._spoken_words(plain)
        if len(plain) < len(words) - _WORDS_THAT_CHANGE_OTHERS:
            readings = self._spoken_words(words[:-_WORDS_THAT_CHANGE_OTHERS]), self._spoken_words(words)
            same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*readings, strict=False))
            said = max(said, [word for word, _ in same], key=len)
        return replace(sentence, text=" ".join(said)) if len(said) >= _FEWEST_FIRST_WORDS else None

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

    def _spoken_words(self, words: list[str]) -> list[str]:
        return spoken_form(" ".join(words), self._language).split()


def spoken_text(text: str, *, language: str = "en") -> str:
    """All that is heard of a whole text."""
    reader = SpeechText(language)
    return " ".join(sentence.text for sentence in (*reader.feed(text), *reader.end()))
