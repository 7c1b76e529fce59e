"""What a model gets of the turns before: as much as the budget allows, whole turns, and only what was heard."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence

from appliance.ports_think import ModelRequest
from appliance.store.shapes import TurnRecord
from appliance.think.items import (
    Item,
    assistant_message,
    handles_in,
    has_pictures,
    sent_back,
    user_message,
    without_data,
)
from appliance.think.token_budget import TokenBudget, characters

#: How much of a full window stays when it moves.
_KEPT = 0.6
#: Replies whose spoken form is remembered.
_MOST_SPOKEN = 256
#: Thoughts that a model wrote into its text; worthless later, and long.
_THOUGHTS = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"\[[^\]]*\]")
#: Stands where the person stopped the box before a word was heard: some models need an answer to each question.
_NOTHING_HEARD = "…"


class Conversation:
    """Builds the items of earlier turns. The pictures of the last ``image_memory_turns`` are in them, by handle.

    The turns are a window on the conversation that grows until it is full and then gives up its oldest part at once:
    so for many turns a request begins with what the one before ended with, and servers that keep what they computed
    need not read it again. Pictures do not count as text: their number is limited by the turns alone.
    """

    def __init__(
        self,
        *,
        history_tokens: int = 3000,
        history_turns: int = 20,
        image_memory_turns: int = 3,
        spoken: Callable[[str], str] = str,
    ) -> None:
        """``spoken`` gives what is heard of a text that is said whole: "It is 5 °C" has other letters then."""
        self._budget = TokenBudget()
        # Each reply is compared in every later request.
        self._spoken_letters = functools.lru_cache(_MOST_SPOKEN)(lambda text: _letters(spoken(text)))
        self._history_tokens = history_tokens
        self._history_turns = history_turns
        self._image_memory_turns = image_memory_turns
        #: Id of the oldest turn in the window.
        self._first_turn_id = ""
        self._longest_whole_characters = 0.0
        self._learn_length()

    def items(self, history: Sequence[TurnRecord]) -> tuple[Item, ...]:
        """The newest turns, oldest first; the same for the same history.

        A turn comes whole or, when its tool results are too long, as what was asked and answered; the first turn that
        does not even fit so ends the memory.
        """
        records = list(history)[-self._history_turns :] if self._history_turns else []
        window = self._window(records)
        self._first_turn_id = window[0].turn_id if window else ""
        turns = [self._turn(record, age) for age, record in enumerate(reversed(window))]
        return tuple(item for turn in reversed(turns) for item in turn)

    def _window(self, records: list[TurnRecord]) -> list[TurnRecord]:
        """The turns since the one with which the window began last time, or fewer when that is too much by now."""
        ids = [record.turn_id for record in records]
        if self._first_turn_id in ids:
            window = records[ids.index(self._first_turn_id) :]
        else:
            window = records
            if len(records) == self._history_turns:
                return self._cut(records)  # With each new turn an old one would go.
        return window if self._tokens(window) <= self._history_tokens else self._cut(records)

    def _cut(self, records: list[TurnRecord]) -> list[TurnRecord]:
        """The newest turns, as many as leave room for the next ones; the newest of all may take all the room."""
        self._learn_length()
        kept: list[TurnRecord] = []
        most_turns, most_tokens = math.ceil(self._history_turns * _KEPT), self._history_tokens * _KEPT
        for record in reversed(records[-most_turns:]):
            longer = [record, *kept]
            if self._tokens(longer) > (most_tokens if kept else self._history_tokens):
                break
            kept = longer
        return kept

    def _learn_length(self) -> None:
        """Only when the window moves: else a turn might come whole in one request and shorter in the next."""
        self._longest_whole_characters = self._budget.in_characters(self._history_tokens * _KEPT)

    def _tokens(self, records: Sequence[TurnRecord]) -> int:
        return sum(self._budget.tokens(self._turn(record, 0)) for record in records)

    def _turn(self, record: TurnRecord, age: int) -> list[Item]:
        pictures = _pictures(record) if age < self._image_memory_turns else []
        was_heard_whole = self._was_heard_whole(record)
        reply = _reply(record.reply_text if was_heard_whole else record.heard_text)
        whole = _whole(record, pictures, reply, was_heard_whole=was_heard_whole)
        is_brief = characters(whole) > self._longest_whole_characters
        return [user_message(record.user_text), *pictures, reply] if is_brief else whole

    def _was_heard_whole(self, record: TurnRecord) -> bool:
        """Whether all of the reply was played. What is heard has no tags and marks, so only its letters count."""
        heard = _letters(record.heard_text)
        return heard != "" and heard in (_letters(record.reply_text), self._spoken_letters(record.reply_text))

    def learn(self, request: ModelRequest, input_tokens: int) -> None:
        """A request cost so many tokens (0: the endpoint does not say)."""
        self._budget.learn(request, input_tokens)


def _whole(record: TurnRecord, pictures: list[Item], reply: Item, *, was_heard_whole: bool) -> list[Item]:
    """A turn with its calls. Reasoning is left out: it is only good within its own turn."""
    items = [item for item in record.items if item in pictures or not _is_user_message(item)]
    outputs = {item.get("call_id") for item in items if item.get("type") == "function_call_output"}
    calls = {item.get("call_id") for item in items if item.get("type") == "function_call"}
    kept: list[Item] = [user_message(record.user_text)]
    for item in items:
        kind = item.get("type")
        if item in pictures or (kind == "function_call_output" and item.get("call_id") in calls):
            kept.append(item)
        elif (kind == "function_call" and item.get("call_id") in outputs) or (kind == "message" and was_heard_whole):
            kept.append(_without_thoughts(sent_back(item) or item))
    if not any(item.get("role") == "assistant" for item in kept):
        kept.append(reply)
    return kept


def _pictures(record: TurnRecord) -> list[Item]:
    """The messages with the pictures that a model saw in this turn; they are stored by handle."""
    return [item for item in map(without_data, record.items) if has_pictures(item) and handles_in([item])]


def _reply(text: str) -> Item:
    return assistant_message(_THOUGHTS.sub("", text).strip() or _NOTHING_HEARD)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, _TAG.sub("", _THOUGHTS.sub("", text)))).casefold()


def _is_user_message(item: Item) -> bool:
    return item.get("type", "message") == "message" and item.get("role") == "user"


def _without_thoughts(item: Item) -> Item:
    content = item.get("content")
    if not isinstance(content, list):
        return item
    parts = [
        {**part, "text": _THOUGHTS.sub("", part["text"])} if isinstance(part.get("text"), str) else part
        for part in content
        if isinstance(part, dict)
    ]
    return {**item, "content": parts}
