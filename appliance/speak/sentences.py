"""Cuts running text into sentences, as early as it is certain that one has ended."""

from __future__ import annotations

import re
from dataclasses import dataclass

from appliance.events import Emotion
from appliance.speak.rules import word_list

#: Longer stretches are cut at a comma or space: a voice needs breath, and the first sound must not wait.
LONGEST_SENTENCE = 300
_SHORTEST_PIECE = 60

_TERMINATOR = re.compile(r"[.!?…][\"'”’“‘»«)]*$")
_OPENERS = "(\"'“‘[„‚«»¿¡"
_CLOSERS = "\"'”’“‘»«)]}*"
_MARKS = ".!?…:;,。！？"
_WIDE_TERMINATORS = frozenset("。！？")
_LAST_WORD = re.compile(r"(\S+?)\.$")
_MEASURE = re.compile(r"\d\s?\w\. $")
_PAUSE = re.compile(r"[,;:—–]\s")

_ENGLISH = (
    "dr mr mrs ms prof st mt gen col capt lt sgt rev hon gov sen rep vs approx cf al e.g i.e viz dept ph.d"
    " jan feb mar apr jun jul aug sep sept oct nov dec"
)
_GERMAN = (
    "dr prof hr fr st str tel bzw ca evtl ggf inkl exkl mind vgl z.b d.h u.a v.chr n.chr mio mrd tsd pck stk abb"
    " jan feb mär apr jun jul aug sep sept okt nov dez"
)
_SPANISH = "dr dra sr sra srta ud uds núm pág págs prof av avda tel aprox ee p.ej cda cdas cdta cdtas dña"
#: A full stop behind these is part of the word, whatever follows.
_NEVER_LAST = {
    language: frozenset(word_list(text)) for language, text in (("en", _ENGLISH), ("de", _GERMAN), ("es", _SPANISH))
}
#: A full stop behind these is part of the word when a number follows.
_BEFORE_NUMBERS = frozenset(
    word_list(
        "no nos nr p pp fig figs vol est art ch sec vers eq op apt bldg ste ext fl rm ca c d b abs s max min máx mín"
    )
)
#: The same for short days, which in small letters are other words.
_DAYS = frozenset(word_list("Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Mo Di Mi Do Sa So"))
#: In a language without a list of its own.
_ANYWHERE = frozenset(word_list(f"{_ENGLISH} {_GERMAN} {_SPANISH}"))
_ROMAN_NUMERAL = re.compile(r"[IVX]{2,}")
_MERIDIEM = frozenset(("a.m", "p.m"))


@dataclass(frozen=True)
class Sentence:
    """One sentence to speak; ``emotion`` is the mood of the audio tag in or before it, None for no change."""

    text: str
    emotion: Emotion | None = None


class SentenceSplitter:
    """Takes plain text character by character; finished sentences wait in ``take``."""

    def __init__(self, language: str = "en") -> None:
        self._language = language
        self._never_last = _NEVER_LAST.get(language, _ANYWHERE)
        self._text = ""
        self._emotion: Emotion | None = None
        self._may_be_over = False
        self._finished: list[Sentence] = []

    def push(self, character: str) -> None:
        """The next character."""
        if character.isspace():
            self._push_space()
            return
        if self._may_be_over and self._is_end(character):
            self._finish()
        self._may_be_over = False
        self._text += character
        if character in _WIDE_TERMINATORS:
            self._finish()
        elif len(self._text) >= LONGEST_SENTENCE:
            self._cut()

    def set_emotion(self, emotion: Emotion) -> None:
        """An audio tag stood here: it belongs to the sentence that goes on or starts; the first one counts."""
        if self._may_be_over:
            self._finish()
        self._emotion = self._emotion or emotion

    def end_line(self) -> None:
        """A line end ends a sentence."""
        self._finish()

    def take(self) -> list[Sentence]:
        """The sentences that were finished since the last call."""
        finished, self._finished = self._finished, []
        return finished

    @property
    def unfinished(self) -> Sentence | None:
        """What there is of the sentence that is being written; None when nothing is, or it may be over."""
        return Sentence(self._text, self._emotion) if self._text and not self._may_be_over else None

    def forget_emotion(self) -> None:
        """The text is over: a tag without a sentence behind it belongs to nothing."""
        self._emotion = None

    def _push_space(self) -> None:
        if self._text and not self._text.endswith(" "):
            self._may_be_over = _TERMINATOR.search(self._text) is not None
            self._text += " "

    def _is_end(self, following: str) -> bool:
        """Whether the text, which ends in a terminator and a space, is over when ``following`` comes next."""
        text = self._text.rstrip()
        if following.islower():
            # "at 5 p.m. sharp", "“Really?” he asked", "well ... maybe"
            return text.endswith(("!", "?"))
        word = _LAST_WORD.search(text)
        if word is None:
            return True
        # Of "Mo.-Fr." and "Jan./Feb." the last counts.
        as_written = re.split("[-–/]", word[1].lstrip(_OPENERS))[-1]
        return not self._belongs_to_word(as_written.lower(), as_written, following)

    def _belongs_to_word(self, word: str, as_written: str, following: str) -> bool:
        """Whether the full stop behind ``word`` is part of it."""
        if word in self._never_last or (following.isdigit() and (word in _BEFORE_NUMBERS or as_written in _DAYS)):
            return True
        if self._language == "de" and (word.endswith("str") or _ROMAN_NUMERAL.fullmatch(as_written)):
            return True  # "Goethestr. 5", "im II. Weltkrieg"
        if len(word) == 1 and word.isalpha():
            # Initials, as in "P. J. Carter"; not "so do I." and "60 W."
            is_initial = as_written.isupper() and as_written != "I" and not _MEASURE.search(self._text)
            # German writes "z. B.", Spanish "a. C."
            return is_initial or self._language == "de" or (self._language == "es" and word in ("a", "d"))
        if word.isdigit() and len(word) <= 2:
            # A number alone counts items; in German it is an ordinal ("am 1. Mai").
            return self._language == "de" or self._text.strip() == f"{as_written}."
        # "U.S. Army", but "at 5 p.m. Then"
        return re.fullmatch(r"(?:[^\W\d]\.)+[^\W\d]", word) is not None and word not in _MERIDIEM

    def _cut(self) -> None:
        pauses = [match.end() for match in _PAUSE.finditer(self._text) if match.end() >= _SHORTEST_PIECE]
        place = pauses[-1] if pauses else self._text.rfind(" ") + 1
        if place < _SHORTEST_PIECE:
            place = len(self._text)
        rest = self._text[place:]
        self._text = self._text[:place]
        self._finish(is_cut=True)
        self._text = rest

    def _finish(self, *, is_cut: bool = False) -> None:
        text, self._text, self._may_be_over = self._text.strip(), "", False
        if not any(character.isalnum() for character in text):
            return  # its mood goes to the next sentence
        if not is_cut and text.rstrip(_CLOSERS)[-1] not in _MARKS:
            text += "."  # a voice lets its tone fall only at a full stop
        self._finished.append(Sentence(text, self._emotion))
        self._emotion = None
