"""Markdown and HTML inside a line: emphasis, code, links, images, escapes, brackets, tags."""

from __future__ import annotations

import re
from typing import Protocol

from appliance.events import Emotion
from appliance.speak.audio_tags import emotion_of_bracket

#: A bracket or tag that is not closed within this many characters is none.
_LONGEST_BRACKET = 300
_LONGEST_LINK = 2_000
_LONGEST_HTML_TAG = 300

_BRACKET = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
#: The number of a note, a box to tick, a stage direction; no content.
_ASIDE = re.compile(r"\^?[\d\s,;–-]*|\^\w+|[xX✓]|[a-z]+(?: [a-z]+){0,3}")
_TARGET = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_HTML_WORDS = (
    "a b big blockquote br code dd del details div dl dt em font h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p"
    " pre q s small span strike strong sub summary sup table tbody td th thead tr u ul"
)
_HTML_NAMES = frozenset(_HTML_WORDS.split())
#: Tags between which words do not belong together.
_HTML_BREAKS = frozenset(("br", "hr", "li", "p", "td", "th", "tr"))
_HTML_TAG_START = re.compile(r"</?([a-z][a-z0-9]*)", re.IGNORECASE)
_ESCAPABLE = frozenset("\\`*_{}[]()#+-.!|~<>")


class TextSink(Protocol):
    """Takes plain text and the moods in it."""

    def push(self, character: str) -> None:
        """The next character of a line."""
        ...

    def set_emotion(self, emotion: Emotion) -> None:
        """An audio tag stood here."""
        ...

    def end_line(self) -> None:
        """The line is over."""
        ...


class InlineMarkup:
    """Takes lines character by character and gives a sink their text without markup.

    What may be the start of markup is held back until it is certain; a line end settles everything.
    """

    def __init__(self, sink: TextSink) -> None:
        self._sink = sink
        self._held = ""
        self._before = ""
        self._is_code = False

    @property
    def is_code(self) -> bool:
        """Whether the text is inside a code span."""
        return self._is_code or self._held.startswith("`")

    def push(self, character: str) -> None:
        """The next character of a line."""
        self._held += character
        self._settle(is_over=False)

    def end_line(self) -> None:
        """The line is over."""
        self._settle(is_over=True)
        self._sink.end_line()
        self._before, self._is_code = "", False

    def _settle(self, *, is_over: bool) -> None:
        while self._held and self._take(self._held[0], is_over):
            pass

    def _take(self, first: str, is_over: bool) -> bool:
        """Say or drop what stands at the front of what is held; False to wait for more."""
        if first == "`":
            return self._take_ticks(is_over)
        if self._is_code:
            return self._say(1)
        if first in "*_~":
            return self._take_emphasis(first, is_over)
        if first == "[":
            return self._take_bracket(is_over)
        if first == "<":
            return self._take_html(is_over)
        if first not in "!\\":
            return self._say(1)
        following = self._held[1:2]
        if not following and not is_over:
            return False
        if first == "!":
            # The mark of an image is dropped; its text is said like a link's.
            return self._drop(1) if following == "[" else self._say(1)
        return self._drop(1) and self._say(1) if following in _ESCAPABLE else self._say(1)

    def _say(self, count: int) -> bool:
        for character in self._held[:count]:
            self._sink.push(character)
            self._before = character
        return self._drop(count)

    def _drop(self, count: int) -> bool:
        self._held = self._held[count:]
        return True

    def _take_ticks(self, is_over: bool) -> bool:
        ticks = _run_length(self._held)
        if ticks == len(self._held) and not is_over:
            return False
        self._is_code = not self._is_code
        return self._drop(ticks)

    def _take_emphasis(self, mark: str, is_over: bool) -> bool:
        """Drop marks of emphasis; keep ``2 * 3``, ``max_retry`` and ``~5``."""
        run = _run_length(self._held)
        if run == len(self._held) and not is_over:
            return False
        before, after = self._before, self._held[run : run + 1]
        if mark == "*":
            is_text = (before.isdigit() and after.isdigit()) or (run == 1 and before == after == " ")
        elif mark == "_":
            is_text = before.isalnum() and after.isalnum()
        else:
            is_text = run == 1
        return self._say(run) if is_text else self._drop(run)

    def _take_bracket(self, is_over: bool) -> bool:
        """Say the text of a link or image, tell an audio tag, drop a note or an aside; any other bracket is text."""
        bracket = _BRACKET.match(self._held)
        if bracket is None:
            if not is_over and len(self._held) < _LONGEST_BRACKET:
                return False
            return self._drop(1)  # never closed, so no bracket: what follows it is text
        after = self._held[bracket.end() : bracket.end() + 1]
        if not after and not is_over:
            return False
        if after == "(":
            target = _TARGET.match(self._held, bracket.end())
            if target is not None:
                # What stood in the brackets is text that may have markup of its own.
                self._held = bracket[1] + self._held[target.end() :]
                return True
            if not is_over and len(self._held) < _LONGEST_LINK:
                return False
        emotion = emotion_of_bracket(bracket[1], self._before, after)
        if emotion is not None:
            self._sink.set_emotion(emotion)
        elif not _ASIDE.fullmatch(bracket[1]):
            self._held = f"({bracket[1]}){self._held[bracket.end() :]}"
            return self._say(1)
        return self._drop(bracket.end())

    def _take_html(self, is_over: bool) -> bool:
        """Drop HTML tags and comments; anything else that starts with ``<`` is text."""
        held = self._held
        if held.startswith("<!--"):
            end = held.find("-->")
            return self._drop(end + 3 if end > 0 else len(held)) if end > 0 or is_over else False
        could_grow = not is_over and len(held) < _LONGEST_HTML_TAG
        tag = _HTML_TAG_START.match(held)
        if tag is None:
            could_start = "<!--".startswith(held) or held == "</"
            return False if could_grow and could_start else self._say(1)
        name = tag[1].lower()
        if tag.end() < len(held) and name not in _HTML_NAMES:
            # <https://example.com> is a link, whose brackets say nothing.
            return self._drop(1) if held[tag.end()] == ":" else self._say(1)
        end = held.find(">")
        if end < 0:
            return False if could_grow else self._say(1)
        if name in _HTML_BREAKS:
            self._sink.push(" ")
        return self._drop(end + 1)


def _run_length(text: str) -> int:
    return len(text) - len(text.lstrip(text[0]))
