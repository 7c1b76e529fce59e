"""Audio tags: words in brackets with which a reply sets the face; they are never read aloud."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from appliance.events import Emotion

#: The 19 tags of the tool-module contract, then the 14 moods, each a tag for itself.
EMOTION_OF_TAG: Mapping[str, Emotion] = {
    "happily": Emotion.HAPPY,
    "excited": Emotion.EXCITED,
    "curious": Emotion.CONFUSED,
    "warmly": Emotion.AFFECTIONATE,
    "sad": Emotion.SAD,
    "nervous": Emotion.SCARED,
    "tired": Emotion.SLEEPY,
    "sarcastic": Emotion.NEUTRAL,
    "awe": Emotion.SURPRISED,
    "mischievously": Emotion.HAPPY,
    "laughs": Emotion.HAPPY,
    "laughs softly": Emotion.HAPPY,
    "giggles": Emotion.HAPPY,
    "sighs": Emotion.SAD,
    "gasps": Emotion.SURPRISED,
    "whispers": Emotion.NEUTRAL,
    "pause": Emotion.NEUTRAL,
    "rushed": Emotion.NEUTRAL,
    "drawn out": Emotion.NEUTRAL,
    **{str(emotion): emotion for emotion in Emotion},
}

_LOG = logging.getLogger(__name__)

_LONGEST_CONTENT = 41
_TWO_WORDS_FIRST = sorted(EMOTION_OF_TAG, key=lambda tag: -len(tag.split()))
_TAG = re.compile(rf"(?:{'|'.join(tag.replace(' ', ' +') for tag in _TWO_WORDS_FIRST)})\b", re.IGNORECASE)
_SEPARATOR = re.compile(r"[,\s]+")
#: What a model writes for a mood that there is not: one word in small letters, where a line begins.
_UNKNOWN_MOOD = re.compile(r" *[^\W\d_]{3,20} *")
_UNKNOWN_TOLD: set[str] = set()


def emotion_of_bracket(content: str, before: str = "", after: str = "") -> Emotion | None:
    """The mood of ``[content]``, of its first tag when it holds several; None when it is no audio tag.

    ``before`` and ``after`` are the characters that touch the brackets: ``list[sad]`` and ``[sad](url)`` are
    no tags. A mood that there is not, where a line begins, is neutral: the face before it would be an accident.
    """
    touches_word = before.isalnum() or before in ("_", "]", ")")
    if touches_word or after == "(" or len(content) > _LONGEST_CONTENT:
        return None
    rest = content.strip()
    first: Emotion | None = None
    while rest:
        match = _TAG.match(rest)
        if match is None:
            return _unknown_mood(content) if not before and after in ("", " ") else None
        first = first or EMOTION_OF_TAG[" ".join(match.group().lower().split())]
        rest = _SEPARATOR.sub("", rest[match.end() :], count=1) if match.end() < len(rest) else ""
    return first


def _unknown_mood(content: str) -> Emotion | None:
    if not _UNKNOWN_MOOD.fullmatch(content) or not content.islower():
        return None
    if content not in _UNKNOWN_TOLD:
        _UNKNOWN_TOLD.add(content)
        # Without the word: it is part of a reply, and replies are in no log.
        _LOG.warning("a reply began with a mood that there is not, so the face is neutral; the turn's record has it")
    return Emotion.NEUTRAL
