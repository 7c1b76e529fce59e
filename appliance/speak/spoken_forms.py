"""How a sentence sounds: symbols, numbers and names of machines in words.

English is done here in full; German and Spanish have their numbers, dates, units and addresses. In other languages
the voice's own front end reads numbers and signs; only what no voice can read (emoji, kaomoji, left-over markup) is
taken out.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache

from appliance.speak.rules import Rule, apply_rules

_ENTITY = re.compile(r"&#?\w{2,8};")
_TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " ", "\u2011": "-", "′": "'", "″": '"'})
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\ufe00-\ufe0f\u200d\u20e3\U000e0020-\U000e007f]+"
)
#: "8)" and "x)" close a bracket, and "x <3" is a comparison.
_EMOTICON = re.compile(
    r"(?<!\S)(?:[:;]['\-^]?[)(\]\[DPpOo/\\|3*]|[=8xX]['\-^][)(DPp]|=[)(]|[xX]D|\^_?\^|-_-|[oO]_[oO])(?=[\s.,!?]|$)"
    r"|(?<!\S)<3(?=\s*[.!,]|\s*$)"
)
_MARKUP = str.maketrans(dict.fromkeys("*`|[]{}\\^~#", " "))
_INSIDE_PARENTHESES = re.compile(r"(\()\s+|\s+(\))")
_SPACE_BEFORE_MARK = re.compile(r"\s+([.,;:!?…])(?=[\s.,;:!?…]|$)")
#: Several marks are one pause; the strongest stays.
_MARKS = re.compile(r"(?<=[ap]\.m)\.[,;:!?]|[.,;:!?…]{2,}")


def spoken_form(text: str, language: str = "en") -> str:
    """``text`` (one sentence, no markup) in the words that a voice should read; "" when nothing is left."""
    is_ended = text.rstrip()[-1:] in tuple(".!?…")
    text = _ENTITY.sub(lambda match: html.unescape(match.group()), text).translate(_TYPOGRAPHIC)
    text = " ".join(token for token in _EMOTICON.sub(" ", _EMOJI.sub(" ", text)).split() if not _is_kaomoji(token))
    if rules := rules_of(language):
        text = apply_rules(rules, text)
        text = "".join(" " if _is_unreadable(character) else character for character in text)
    text = _INSIDE_PARENTHESES.sub(r"\1\2", text.translate(_MARKUP))
    text = _SPACE_BEFORE_MARK.sub(r"\1", " ".join(text.split()))
    text = _MARKS.sub(_strongest, text).strip(" ,;")
    if not any(character.isalnum() for character in text):
        return ""
    # The full stop of an abbreviation at the end was that of the sentence too.
    return f"{text}." if is_ended and text[-1].isalnum() else text


@cache
def rules_of(language: str) -> tuple[Rule, ...]:
    """What is said in ``language``; nothing for one that is not known.

    The first call compiles its hundred patterns, and only those of this language.
    """
    if language == "en":
        from appliance.speak import spoken_en

        return spoken_en.RULES
    if language == "de":
        from appliance.speak import spoken_de

        return spoken_de.RULES
    if language == "es":
        from appliance.speak import spoken_es

        return spoken_es.RULES
    return ()


def _is_kaomoji(token: str) -> bool:
    """A face made of signs, such as ``¯\\_(ツ)_/¯``: hardly a letter, and signs that no text has."""
    if any(character.isdigit() for character in token):
        return False  # "21°/9°"
    letters = sum(character.isalnum() for character in token)
    strange = sum(ord(character) > 127 and unicodedata.category(character)[0] in "SL" for character in token)
    return len(token) - letters >= 4 > letters and strange >= 2


def _is_unreadable(character: str) -> bool:
    return character in "<>" or (ord(character) > 127 and unicodedata.category(character)[0] in "SC")


def _strongest(match: re.Match[str]) -> str:
    marks = match.group()
    if match.string[: match.start()].endswith(("a.m", "p.m")):
        return marks  # "p.m." is one word to a voice
    return next((mark for mark in "?!" if mark in marks), "…" if "…" in marks or "..." in marks else marks[0])
