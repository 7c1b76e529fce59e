"""How much two phrases sound alike, judged by their spelling.

A transcriber that has never met a made-up word writes real ones that sound like it: "okay nabu" comes back as
"okay, now blue". So spelling is turned into rough sounds, and the distance counts what a listener would mix up:
vowels little, consonants made in the same place of the mouth less than others. English rules; a word of another
language is judged by them too, both sides alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Spelling to sounds, in this order; capital letters are sounds that no letter stands for.
_SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"[^a-z ]", ""),
    (r"\bok\b", "okay"),
    (r"\bkn", "n"),
    (r"\bwr", "r"),
    (r"mb\b", "m"),
    (r"igh", "i"),
    (r"ough|augh", "o"),
    (r"tch|ch|dge|j|g(?=[ei])", "J"),
    (r"sh|[st]ion", "S"),
    (r"th", "T"),
    (r"ph", "f"),
    (r"ck|c(?=[^eiy]|$)|qu?", "k"),
    (r"x", "ks"),
    (r"c|z", "s"),
    (r"wh", "w"),
    # An e that only lengthens the vowel before it.
    (r"(?<=[aeiouy])([bdfgklmnprstvJST])e\b", r"\1"),
    (r"([b-df-hj-np-tv-zJST])\1", r"\1"),
    (r"oo|ou\b|ew|ue|u", "U"),
    (r"ow|[oa]+[uy]?", "A"),
    (r"[eiy]+[ae]?", "E"),
    (r"[AEU]+([AEU])", r"\1"),
)
_VOWELS = frozenset("AEU")
#: Heard badly, and left out first: breath, glides, and the r and l behind a vowel.
_FAINT = frozenset("hwrl")
#: Made in the same place of the mouth.
_FAMILIES = ("bpvfwm", "dtTn", "kgh", "sSJz", "lrwU", "mn")

_VOWEL_FOR_VOWEL, _SAME_FAMILY, _DIFFERENT = 0.25, 0.5, 1.0
_VOWEL_MORE_OR_LESS, _FAINT_MORE_OR_LESS, _CONSONANT_MORE_OR_LESS = 0.3, 0.4, 0.8


def sounds(text: str) -> str:
    """The rough sounds of ``text``, a character for each."""
    text = text.casefold()
    for pattern, sound in _SPELLINGS:
        text = re.sub(pattern, sound, text)
    return text.replace(" ", "")


def distance(phrase: str, heard: str) -> float:
    """How far ``phrase`` is from the stretch of ``heard`` that sounds most like it; 0 is the same sound.

    What was said before and behind that stretch costs nothing.
    """
    wanted, given = sounds(phrase), sounds(heard)
    row = [0.0] * (len(given) + 1)
    for sound in wanted:
        row = _next_row(row, sound, given)
    return min(row)


def _next_row(row: Sequence[float], sound: str, given: str) -> list[float]:
    """One more sound of the phrase: the least cost up to each place of ``given``."""
    left_out = _more_or_less(sound)
    new = [row[0] + left_out]
    for place, other in enumerate(given, start=1):
        new.append(
            min(
                row[place - 1] + _instead(sound, other),
                row[place] + left_out,
                new[-1] + _more_or_less(other),
            )
        )
    return new


def _instead(sound: str, other: str) -> float:
    if sound == other:
        return 0.0
    if sound in _VOWELS and other in _VOWELS:
        return _VOWEL_FOR_VOWEL
    is_near = any(sound in family and other in family for family in _FAMILIES)
    return _SAME_FAMILY if is_near else _DIFFERENT


def _more_or_less(sound: str) -> float:
    if sound in _VOWELS:
        return _VOWEL_MORE_OR_LESS
    return _FAINT_MORE_OR_LESS if sound in _FAINT else _CONSONANT_MORE_OR_LESS
