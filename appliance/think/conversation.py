"""What a model gets of the turns before: as much as the budget allows, whole turns, and only what was heard."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
from appliance.think.token_budget import TokenBudget

#: Thoughts that a model wrote into its text; worthless later, and long.
_THOUGHTS = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"\[[^\]]*\]")
#: Stands where the person stopped the box before a word was heard: some models need an answer to each question.
_NOTHING_HEARD = "…"


class Conversation:
    """Builds the items of earlier turns. The pictures of the last ``image_memory_turns`` are in them, by handle.

    Pictures do not count as text: their number is limited by the turns alone.
    """

    def __init__(self, *, history_tokens: int = 3000, history_turns: int = 20, image_memory_turns: int = 3) -> None:
        self._budget = TokenBudget()
        self._history_tokens = history_tokens
        self._history_turns = history_turns
        self._image_memory_turns = image_memory_turns

    def items(self, history: Sequence[TurnRecord]) -> tuple[Item, ...]:
        """The newest turns that fit, oldest first.

        A turn comes whole or, when its tool results are too long, as what was asked and answered; the first turn that
        does not even fit so ends the memory.
        """
        turns: list[list[Item]] = []
        left = self._history_tokens
        for age, record in enumerate(list(reversed(history))[: self._history_turns]):
            sees_pictures = age < self._image_memory_turns
            whole, brief = _whole(record, sees_pictures), _brief(record, sees_pictures)
            items = whole if self._budget.tokens(whole) <= left else brief
            left -= self._budget.tokens(items)
            if left < 0:
                break
            turns.append(items)
        return tuple(item for items in reversed(turns) for item in items)

    def learn(self, request: ModelRequest, input_tokens: int) -> None:
        """A request cost so many tokens (0: the endpoint does not say)."""
        self._budget.learn(request, input_tokens)


def _whole(record: TurnRecord, sees_pictures: bool) -> list[Item]:
    """A turn with its calls. Reasoning is left out: it is only good within its own turn."""
    pictures = _pictures(record) if sees_pictures else []
    items = [item for item in record.items if item in pictures or not _is_user_message(item)]
    outputs = {item.get("call_id") for item in items if item.get("type") == "function_call_output"}
    calls = {item.get("call_id") for item in items if item.get("type") == "function_call"}
    was_heard_whole = _was_heard_whole(record)
    kept: list[Item] = [user_message(record.user_text)]
    for item in items:
        kind = item.get("type")
        if item in pictures or (kind == "function_call_output" and item.get("call_id") in calls):
            kept.append(item)
        elif (kind == "function_call" and item.get("call_id") in outputs) or (kind == "message" and was_heard_whole):
            kept.append(_without_thoughts(sent_back(item) or item))
    if not any(item.get("role") == "assistant" for item in kept):
        kept.append(_reply(record))
    return kept


def _brief(record: TurnRecord, sees_pictures: bool) -> list[Item]:
    """A turn as what was asked and answered, and seen."""
    return [user_message(record.user_text), *(_pictures(record) if sees_pictures else []), _reply(record)]


def _pictures(record: TurnRecord) -> list[Item]:
    """The messages with the pictures that a model saw in this turn; they are stored by handle."""
    return [item for item in map(without_data, record.items) if has_pictures(item) and handles_in([item])]


def _reply(record: TurnRecord) -> Item:
    text = record.reply_text if _was_heard_whole(record) else record.heard_text
    return assistant_message(_THOUGHTS.sub("", text).strip() or _NOTHING_HEARD)


def _was_heard_whole(record: TurnRecord) -> bool:
    """Whether all of the reply was played. What is heard has no tags and marks, so only letters and digits count."""
    return _letters(record.heard_text) == _letters(record.reply_text) != ""


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
