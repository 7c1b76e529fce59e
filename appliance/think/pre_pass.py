"""What was heard, brought to one spelling before it is matched: pure text in, pure text out.

Whisper writes the same words in many ways ("5-minute timer", "3.30 p.m.", "seven thirty", "Okay, Naboo."), and
people add words that mean nothing. Matching stays small because all of that ends here. The result is lower case,
without punctuation, numbers in digits, ``am`` and ``pm`` as words, contractions written out.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence

from appliance.think.misheard import mended
from appliance.think.spoken_numbers import to_digits, to_words

WAKE_PHRASES = ("okay nabu", "hey jarvis", "hey mycroft", "alexa")

#: Likeness of the first words to a wake phrase, 0 to 1, from which they are taken for it. "ok nab you" has 0.75.
_WAKE_LIKENESS = 0.74


def pre_pass(text: str, wake_phrases: Sequence[str] = WAKE_PHRASES) -> str:
    """``text`` in canonical words; "" when nothing but a wake phrase and fillers was said."""
    return readings(text, wake_phrases)[0]


def readings(text: str, wake_phrases: Sequence[str] = WAKE_PHRASES) -> tuple[str, ...]:
    """``text`` in canonical words, likeliest first.

    Behind the first come readings without the words that a misheard wake phrase left in front ("okay now, boot,
    stop"): to be tried when the first means nothing.
    """
    words = _words(text)
    if len(words) > 1 and words[0] in _NOISE and _begins_with_wake_phrase(words[1:], wake_phrases):
        words = words[1:]
    taken = _wake_phrase_length(words, wake_phrases)
    start, most = (taken, 1) if taken else (2, 2) if _begins_with_wake_phrase(words, wake_phrases) else (0, 0)
    if len(words) > start and words[start] in _NOISE:
        most = max(most, 1)
    found = [words[taken:]]
    for dropped in range(most + 1):
        if _TURNING.isdisjoint(words[: start + dropped]) and len(words) > start + dropped:
            found.append(words[start + dropped :])
    return tuple(dict.fromkeys(_canonical(reading) for reading in found))


def plain_words(text: str, wake_phrases: Sequence[str] = WAKE_PHRASES) -> str:
    """``text`` in one spelling, without fillers and a wake phrase in front; nothing that was meant is taken away."""
    words = _words(text)
    return " ".join(to_digits(words[_wake_phrase_length(words, wake_phrases) :]))


def _words(text: str) -> list[str]:
    """The words of ``text`` in one spelling, without fillers."""
    spelled = _spell(text)
    for pattern, replacement in _REWRITES:
        spelled = pattern.sub(replacement, spelled)
    return [word for word in spelled.split() if word not in _FILLERS]


def _canonical(words: list[str]) -> str:
    spelled = " ".join(to_digits(_without_repeats(list(words))))
    spelled = _MORE.sub(r"\1 \2 more", spelled)
    return mended(_POLITE_END.sub("", _POLITE_START.sub("", spelled)))


def _spell(text: str) -> str:
    """Lower case, plain characters, no annotations such as ``[BLANK_AUDIO]`` or ``(music)``."""
    # NFKC makes "11⁄2" of "1½": the blank must come first.
    plain = unicodedata.normalize("NFKC", text.replace("½", " ½")).lower()
    return _ANNOTATION.sub(" ", plain.replace("’", "'").replace("⁄", "/"))


def _wake_phrase_length(words: list[str], phrases: Sequence[str]) -> int:
    """How many leading words are wake phrases, also misheard ones, also several."""
    length = 0
    while True:
        taken = _wake_words(words[length:], phrases)
        if not taken:
            return length
        length += taken


def _begins_with_wake_phrase(words: list[str], phrases: Sequence[str]) -> bool:
    """Also by half: ``okay now`` for "okay nabu" has the first word, and the first letter of the second."""
    heads = [phrase.split()[:2] for phrase in phrases if " " in phrase]
    is_half = len(words) > 1 and any(words[0] == first and words[1][0] == second[0] for first, second in heads)
    return is_half or _wake_words(words, phrases) > 0


def _wake_words(words: list[str], phrases: Sequence[str]) -> int:
    """How many leading words sound like a wake phrase."""
    best, taken = _WAKE_LIKENESS, 0
    for phrase in phrases:
        wanted = phrase.replace(" ", "")
        for count in range(1, min(len(words), len(phrase.split()) + 2) + 1):
            said = "".join(words[:count])
            if abs(len(said) - len(wanted)) > 3:
                continue
            likeness = difflib.SequenceMatcher(None, said, wanted, autojunk=False).ratio()
            if likeness > best:
                best, taken = likeness, count
    return taken


def _without_repeats(words: list[str]) -> list[str]:
    """``what what time``, ``set a set a timer``: what was said twice in a row counts once; numbers stay."""
    for size in (3, 2, 1):
        index = size
        while index + size <= len(words):
            run = words[index : index + size]
            if run == words[index - size : index] and words[index] not in _NUMBERS:
                del words[index : index + size]
            else:
                index += 1
    return words


_ANNOTATION = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪")
_FILLERS = frozenset(("um", "uh", "uhm", "umm", "er", "erm", "hmm", "hm", "mm", "ah"))
#: Words that whisper makes of a breath or of the end of a wake phrase.
_NOISE = frozenset(("that", "the", "but", "we", "it", "got", "and", "oh", "you", "boo"))
#: Words that turn a sentence around; a reading never leaves them out.
_TURNING = frozenset(("not", "never", "no", "without", "what", "who", "whose", "why", "how", "where", "which"))
_NUMBERS = frozenset(str(number) for number in range(100)) | frozenset(to_words(number) for number in range(100))


def _rewrite(pattern: str, replacement: str) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern), replacement


_REWRITES = (
    _rewrite(r"(?<![a-z])([ap])\.? ?m\b\.?", r"\1m"),
    _rewrite(r"(?<=\d)(?=[ap]m\b)", " "),
    _rewrite(r"\bo'? ?clock\b", "o'clock"),
    _rewrite(r"%|\bper cent\b", " percent"),
    _rewrite(r"&", " and "),
    _rewrite(r"(?<=\d),(?=\d{3}\b)", ""),
    # Hyphens and dashes join what people say as separate words.
    _rewrite(r"[-‐-―_]", " "),
    # Punctuation, but not inside a number (3:30, 1.5, 1/2) or a word (o'clock).
    _rewrite(r"(?<!\d)[.:/]|[.:/](?!\d)|[^\w\s.:/']|(?<!\w)'|'(?!\w)", " "),
    _rewrite(r"\b(what|who|how|where|when|that|there|here)'?s\b|\b(it|he|she)'s\b", r"\1\2 is"),
    _rewrite(r"\b(\w+)'re\b", r"\1 are"),
    _rewrite(r"\b(\w+)'ll\b", r"\1 will"),
    _rewrite(r"\b(\w+)'ve\b", r"\1 have"),
    _rewrite(r"\bi'd\b", "i would"),
    _rewrite(r"\bi'm\b", "i am"),
    _rewrite(r"\blet's\b", "let us"),
    _rewrite(r"\b(?:can't|cannot)\b", "can not"),
    _rewrite(r"\bwon't\b", "will not"),
    _rewrite(r"\b(\w+)n't\b", r"\1 not"),
    _rewrite(r"\bok\b", "okay"),
)

#: "5 more minutes" holds a length only when it is in one piece.
_MORE = re.compile(r"\b(\d+|an?) (?:more|extra|additional) ((?:second|minute|hour)s?)\b")
_POLITE_START = re.compile(
    r"^(?:(?:(?:hey|hi)(?! there$)|okay|so|well|and|now|please|actually|alright|all right|right|just|maybe|quickly|"
    r"go ahead and|"
    r"(?:can|could|would|will) you(?: please)?|would you mind|do you know|let us|(?:can|could) i (?:have|get)|"
    r"i (?:want|need|would like) you to|i (?:want|need|would like) to|i (?:want|need|would like)) )+(?=\w)"
)
_POLITE_END = re.compile(r"(?: (?:please|thanks|thank you|for me|would you|will you|right now|now))+$")
