"""Whether something was said, as a person judges it: by its sound, not by where a transcript puts its spaces."""

from __future__ import annotations

from difflib import SequenceMatcher

#: A transcript may get this share of a phrase's letters wrong ("back up", "to day", "all right").
_LIKENESS = 0.8


def place_of(phrase: str, said: str) -> float:
    """How far into ``said`` the phrase begins, 0 to 1; -1 when it was not said."""
    wanted, heard = _letters(phrase), _letters(said)
    exact = heard.find(wanted)
    if exact >= 0:
        return exact / len(heard)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best, place = 0.0, -1
    for start in range(max(1, len(heard) - len(wanted) + 1)):
        matcher.set_seq1(heard[start : start + len(wanted)])
        if matcher.quick_ratio() > max(best, _LIKENESS) and (likeness := matcher.ratio()) > max(best, _LIKENESS):
            best, place = likeness, start
    return place / len(heard) if place >= 0 else -1.0


def was_said(said: str, *phrases: str) -> bool:
    """Whether all of them were said, in this order."""
    places = [place_of(phrase, said) for phrase in phrases]
    return min(places) >= 0 and places == sorted(places)


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
