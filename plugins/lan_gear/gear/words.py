"""The sentences: how a look and a find are told."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plugins.lan_gear.gear.find import bare
from plugins.lan_gear.gear.memory import News
from plugins.lan_gear.gear.plain import plain
from plugins.lan_gear.gear.rules import shipped_rules
from plugins.lan_gear.gear.thing import UNKNOWN, Thing

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
#: More are not listened to.
_MOST_NAMED = 4
_SURE, _LIKELY = 0.85, 0.6
_MOST_REASONS = 5


def told(things: Sequence[Thing], news: News, now: float) -> str:
    """What is on the network, short enough to be spoken."""
    if not things:
        return "I see nothing on the network but myself."
    if news.new:
        return f"I see {_count(len(things))}. {told_new(things, news, now)}"
    tally = Counter(thing.kind for thing in things)
    kind_order = [*shipped_rules().kinds]
    parts = [_number_of(kind, tally[kind]) for kind in sorted(tally, key=kind_order.index)]
    nothing = "" if news.since is None else f" Nothing is new since {_since(news, now)}."
    return f"I see {_count(len(things))}: {_listed(parts)}.{nothing}"


def told_new(things: Sequence[Thing], news: News, now: float) -> str:
    """Only what is new."""
    if news.since is None:
        return f"This is my first look: I see {_count(len(things))}. From now on I can tell what is new."
    since = _since(news, now)
    if not news.new:
        return f"Nothing is new since {since}."
    named = [introduced(thing) for thing in news.new[:_MOST_NAMED]]
    more = len(news.new) - len(named)
    return f"New since {since}: {_listed([*named, *([f'{_number(more)} more'] if more else [])])}."


def told_found(what: str, found: Sequence[Thing], past: Sequence[Mapping[str, Any]], now: float) -> str:
    """Where a thing is, or was."""
    if len(found) == 1:
        return f"I see {introduced(found[0])} at {found[0].address}."
    if found:
        named = [f"{introduced(thing)} at {thing.address}" for thing in found[:_MOST_NAMED]]
        more = len(found) - len(named)
        return f"I see {_number(len(found))}: {_listed([*named, *([f'{_number(more)} more'] if more else [])])}."
    if past:
        name = past[0]["name"] or "it"
        when = day_words(past[0]["last_seen"], now, "earlier today")
        return f"I do not see it now. I last saw {name} {when}, at {past[0]['address']}."
    return f"I see no {plain(bare(what)) or 'such thing'} on the network."


def introduced(thing: Thing) -> str:
    """ "a printer called Brother HL", "something without a name"."""
    one = "something" if thing.kind == UNKNOWN else shipped_rules().kinds[thing.kind]["one"]
    return f"{one} called {thing.name}" if thing.name else f"{one} without a name"


def lines(things: Iterable[Thing], new: Sequence[Thing]) -> str:
    """Every thing with its reasons, for a model or a reader."""
    return "\n".join(_line(thing, thing in new) for thing in things)


def day_words(then: float, now: float, today: str) -> str:
    """``today``, "yesterday", "Tuesday", "3 May"."""
    before, after = datetime.datetime.fromtimestamp(then), datetime.datetime.fromtimestamp(now)
    days = (after.date() - before.date()).days
    if days < 2:
        return "yesterday" if days == 1 else today
    return f"{before:%A}" if days < 7 else f"{before.day} {before:%B}"


def _since(news: News, now: float) -> str:
    # A look of today can only be the very first one: news go back a day.
    return day_words(news.since or now, now, "my first look today")


def _line(thing: Thing, is_new: bool) -> str:
    sure = "sure" if thing.confidence >= _SURE else "likely" if thing.confidence >= _LIKELY else "a guess"
    kind = shipped_rules().kinds[thing.kind]["one"] + ("" if thing.kind == UNKNOWN else f" ({sure})")
    also = "".join(f", also {shipped_rules().kinds[other]['one']}" for other in thing.also)
    reasons = "; ".join(dict.fromkeys(f"{item.source}: {item.says}" for item in thing.evidence[:_MOST_REASONS]))
    new = " NEW." if is_new else ""
    because = f" [{reasons}]" if reasons else ""
    return f"- {thing.name or 'without a name'}: {kind}{also}, at {thing.address}, {thing.lane}.{new}{because}"


def _number_of(kind: str, count: int) -> str:
    words = shipped_rules().kinds[kind]
    return str(words["one"]) if count == 1 else f"{_number(count)} {words['many']}"


def _count(count: int) -> str:
    return "one thing" if count == 1 else f"{_number(count)} things"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
