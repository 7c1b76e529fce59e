"""How a sentence sounds: symbols, numbers and names of machines in words.

English is done here in full. In other languages the voice's own front end reads numbers and signs; only what
no voice can read (emoji, kaomoji, left-over markup) is taken out.
"""

from __future__ import annotations

import html
import re
import unicodedata

from appliance.speak import spoken_machine, spoken_numbers, spoken_times, spoken_words
from appliance.speak.rules import apply_rules

_ENTITY = re.compile(r"&#?\w{2,8};")
_TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " ", "\u2011": "-"})
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\ufe00-\ufe0f\u200d\u20e3\U000e0020-\U000e007f]+"
)
_EMOTICON = re.compile(r"(?<!\S)(?:[:;=8xX]['\-^]?[)(\]\[DPpOo/\\|3*]|<3|\^_?\^|-_-|[oO]_[oO])(?=[\s.,!?]|$)")
_MARKUP = str.maketrans(dict.fromkeys("*`|[]{}\\^~#", " "))
_SPACE_BEFORE_MARK = re.compile(r"\s+([.,;:!?…])(?=[\s.,;:!?…]|$)")
#: Several marks are one pause; the strongest stays.
_MARKS = re.compile(r"[.,;:!?…]{2,}")


def spoken_form(text: str, language: str = "en") -> str:
    """``text`` (one sentence, no markup) in the words that a voice should read; "" when nothing is left."""
    text = _ENTITY.sub(lambda match: html.unescape(match.group()), text).translate(_TYPOGRAPHIC)
    text = " ".join(token for token in _EMOTICON.sub(" ", _EMOJI.sub(" ", text)).split() if not _is_kaomoji(token))
    if language == "en":
        for rules in (spoken_machine.RULES, spoken_times.RULES, spoken_numbers.RULES, spoken_words.RULES):
            text = apply_rules(rules, text)
        text = "".join(" " if _is_unreadable(character) else character for character in text)
    text = text.translate(_MARKUP)
    text = _SPACE_BEFORE_MARK.sub(r"\1", " ".join(text.split()))
    text = _MARKS.sub(_strongest, text).strip(" ,;")
    return text if any(character.isalnum() for character in text) else ""


def _is_kaomoji(token: str) -> bool:
    """A face made of signs, such as ``¯\\_(ツ)_/¯``: hardly a letter, and signs that no text has."""
    letters = sum(character.isalnum() for character in token)
    strange = sum(ord(character) > 127 and unicodedata.category(character)[0] in "SL" for character in token)
    return len(token) - letters >= 4 > letters and strange >= 2


def _is_unreadable(character: str) -> bool:
    return character in "<>" or (ord(character) > 127 and unicodedata.category(character)[0] in "SC")


def _strongest(match: re.Match[str]) -> str:
    marks = match.group()
    return next((mark for mark in "?!" if mark in marks), "…" if "…" in marks or "..." in marks else marks[0])
