"""Which tool a sentence asks for, without a model.

What was heard goes through the pre-pass; the lengths, moments and percentages in it are found first and given to
the matcher as the lists of this one sentence, so that the templates only hold the words around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from appliance.ports import Json
from appliance.ports_think import SentenceMatch, SentenceMatcher
from appliance.think.pre_pass import WAKE_PHRASES, pre_pass, readings
from appliance.think.spoken_duration import parse_duration
from appliance.think.spoken_time import parse_when
from appliance.think.time_zones import places

#: An utterance longer than this is no command: it is not worth the work (whisper hears 30 s of television).
_LONGEST_WORDS = 40
_LONGEST_SPAN_WORDS = 12
_LONGEST_NAME_WORDS = 3
_LONGEST_TAIL_WORDS = 8
#: Words that show that a free name took in something that is no name.
_NO_NAME = frozenset(
    (
        *("timer", "timers", "alarm", "alarms", "reminder", "reminders", "time"),
        *("minute", "minutes", "second", "seconds", "hour", "hours", "all", "every", "one", "1"),
        *("and", "or", "what", "is", "that", "which", "how", "when", "if", "not", "to", "for", "from", "at", "in"),
        *("a", "an", "the", "my", "set", "start", "cancel", "stop"),
    )
)
#: What the next words may be, when a tool answers with a question.
ASKABLE = ("seconds", "when", "name", "text")
#: The lists that stand for something else in every sentence.
SENTENCE_LISTS = ("duration", "when", "percent", "tail")
#: Names of intents that answer a question of the box begin with it.
_ANSWER = "answer_"
_ARTICLES = re.compile(r"^(?:(?:the|my|a|an|another|our|your|new) )+")


@dataclass(frozen=True)
class Match:
    """What a sentence asks for: a call of ``tool``, or (``tool`` is "") only the catalogue sentence ``say_key``.

    ``is_control`` sentences (stop, cancel, volume, mute, forget) never wait for a model. ``ask`` names, in order, what
    the next words may be when the tool answers with a question: seconds, when, name or text. ``is_remembered`` is
    False for talk about the conversation itself.
    """

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    say_key: str = ""
    is_control: bool = False
    ask: tuple[str, ...] = ()
    is_remembered: bool = True


class Sentences:
    """The sentences of one language. ``match`` may be called from any thread."""

    def __init__(self, matcher: SentenceMatcher, wake_phrases: Sequence[str] = WAKE_PHRASES) -> None:
        self._matcher = matcher
        self._wake_phrases = tuple(wake_phrases)

    def load(self) -> None:
        """Parse the templates now; slow. Raises ``ConfigError``."""
        self._matcher.load()

    def clean(self, text: str) -> str:
        """``text`` after the pre-pass."""
        return pre_pass(text, self._wake_phrases)

    def match(self, text: str) -> Match | None:
        """What ``text`` asks for; None when it is none of our sentences."""
        return self._best(
            text, lambda found: found.metadata.get("alert") != "only" and not _is_answer(found), _free_letters
        )

    def match_alert(self, text: str) -> Match | None:
        """What ``text`` asks for while something rings: only sentences that have to do with the ringing."""
        return self._best(
            text,
            lambda found: bool(found.metadata.get("alert")) and not found.owner,
            # "Stop the timer" means the one that rings.
            lambda found: (_free_letters(found), found.metadata.get("alert") != "only"),
        )

    def match_answer(self, text: str) -> str:
        """What ``text`` answers to a question that waits for the button: no, stop, yes; "" when it is no answer."""
        match = self._best(text, _is_answer, _free_letters)
        return match.tool.removeprefix(_ANSWER) if match is not None else ""

    def _best(
        self, text: str, accept: Callable[[SentenceMatch], bool], rank: Callable[[SentenceMatch], Any]
    ) -> Match | None:
        for reading in readings(text, self._wake_phrases):
            words = reading.split()
            if not words or len(words) > _LONGEST_WORDS:
                continue
            found = [match for match in self._matcher.match(reading, _lists(words)) if accept(match)]
            found = [match for match in found if _has_names(match)]
            if found:
                # The one that leaves the fewest words to free text understands the most; no plugin takes ours away.
                return _as_match(min(found, key=lambda match: (bool(match.owner), rank(match))))
        return None


def fixed_lists() -> dict[str, dict[str, Json]]:
    """The lists that are the same for every sentence; the matcher is made with them."""
    return {"place": {place: place for place in places()}}


def parse_percent(text: str) -> int | None:
    """``50 percent``, ``50``; a bare number up to 10 is a step of ten, as on a dial."""
    found = re.fullmatch(r"(\d{1,3})( percent)?", text)
    if found is None:
        return None
    number = int(found[1])
    return number * 10 if number <= 10 and not found[2] else number


def _lists(words: list[str]) -> dict[str, dict[str, Json]]:
    """What the lists stand for in this sentence."""
    return {
        "duration": dict(_spans(words, parse_duration)),
        "when": {text: when.arguments for text, when in _spans(words, parse_when)},
        "percent": dict(_spans(words, parse_percent)),
        "tail": {text: text for size in range(1, _LONGEST_TAIL_WORDS + 1) if (text := " ".join(words[-size:]))},
    }


def _spans(words: list[str], parse: Callable[[str], Json]) -> Iterator[tuple[str, Json]]:
    """Every run of words that ``parse`` reads as a whole."""
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST_SPAN_WORDS) + 1):
            text = " ".join(words[start:end])
            value = parse(text)
            if value is not None:
                yield text, value


def _has_names(match: SentenceMatch) -> bool:
    """Whether the name, if there is one, can be a name; a reminder goes by its whole text."""
    name = match.slots.get("name")
    if name is None or match.owner or match.slots.get("kind") == "reminder":
        return True
    words = _ARTICLES.sub("", str(name)).split()
    return 1 <= len(words) <= _LONGEST_NAME_WORDS and _NO_NAME.isdisjoint(words)


def _is_answer(found: SentenceMatch) -> bool:
    return found.intent.startswith(_ANSWER) and not found.owner


def _free_letters(match: SentenceMatch) -> int:
    return sum(len(str(match.slots[name])) for name in match.wildcards)


def _as_match(found: SentenceMatch) -> Match:
    is_said = found.intent.startswith("say_") and not found.owner
    ask = found.metadata.get("ask", ())
    return Match(
        tool="" if is_said else found.intent,
        arguments=_arguments(found),
        say_key=f"offline.{found.intent}" if is_said else "",
        # What a plugin does can wait for a model.
        is_control=bool(found.metadata.get("control")) and not found.owner,
        ask=tuple(slot for slot in ask if slot in ASKABLE) if isinstance(ask, list | tuple) else (),
        is_remembered=not found.metadata.get("forget"),
    )


def _arguments(found: SentenceMatch) -> dict[str, Json]:
    arguments: dict[str, Json] = {}
    for name, value in found.slots.items():
        if name == "when" and isinstance(value, Mapping):
            arguments |= value
        elif name == "name" and isinstance(value, str):
            arguments[name] = _ARTICLES.sub("", value)
        elif name not in ("any", "after"):
            arguments[name] = value
    return arguments
