"""One streamed answer of the Responses API, message by message, as our model events.

Servers differ, and all of this is met here: items without ids; text only in the finished item; function calls only
in ``response.output_item.done``, or only in the output of ``response.completed``; no usage; errors as a message
without a type.
"""

from __future__ import annotations

import enum
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping

from appliance.errors import BrainBusyError, BrainError, BrainKeyError, BrainRequestError, BrainStreamError
from appliance.ports import Json
from appliance.ports_think import Completed, ModelEvent, OutputItem, TextDelta, Usage

#: These tell that the request arrived, not that an answer began.
_NOT_YET = frozenset({"response.created", "response.queued", "response.in_progress"})
_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_BUSY_CODES = frozenset({"rate_limit_exceeded", "server_error", "server_is_overloaded", "500", "503"})
_KEY_CODES = frozenset({"invalid_api_key", "authentication_error", "401", "403"})
#: Half of a character pair, written as an escape; no UTF-8 text can hold it.
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


class Progress(enum.Enum):
    """How far an answer is; how long a silence may last depends on it."""

    WAITING = "waiting"
    WORKING = "working"
    WRITING = "writing"


class AnswerReader:
    """Reads one answer.

    ``short`` makes a server's own words fit for a log: short and without the key. ``most_tokens`` is what was asked
    for: llama.cpp calls an answer completed that it cut there.
    """

    def __init__(self, short: Callable[[str], str], most_tokens: int | None = None) -> None:
        self._short = short
        self._most_tokens = most_tokens
        self._streamed_text = ""
        self._given: list[Mapping[str, Json]] = []
        self.progress = Progress.WAITING
        self.is_complete = False

    def read(self, data: str) -> list[ModelEvent]:
        """The events of one message. Raises ``BrainError`` for bad JSON and for the errors that it tells."""
        message = self._parse(data)
        kind = message.get("type")
        if kind in ("error", "response.failed") or (kind is None and "error" in message):
            raise self._failure(message)
        if not isinstance(kind, str) or not kind.startswith("response.") or kind in _NOT_YET:
            return []
        self.progress = Progress.WRITING if kind in _TEXT_DELTAS else Progress.WORKING
        if kind in _TEXT_DELTAS:
            return self._text(message.get("delta"))
        if kind == "response.output_item.done":
            return self._item(message.get("item"))
        if kind in ("response.completed", "response.incomplete"):
            return self._end(message.get("response"), is_incomplete=kind == "response.incomplete")
        return []

    def _parse(self, data: str) -> Mapping[str, Json]:
        try:
            message = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BrainStreamError(f"the stream holds broken JSON: {self._short(data)[:60]!r}") from error
        if not isinstance(message, dict):
            raise BrainStreamError(f"the stream holds something that is no event: {self._short(data)[:60]!r}")
        # Escapes are the only way for half a pair to get in, and they are rare.
        return _mended(message) if "\\ud" in data.lower() else message

    def _text(self, delta: Json) -> list[ModelEvent]:
        if not isinstance(delta, str) or not delta:
            return []
        self._streamed_text += delta
        return [TextDelta(delta)]

    def _item(self, item: Json) -> list[ModelEvent]:
        if not isinstance(item, dict):
            return []
        self._given.append(item)
        text = _message_text(item)
        missed = self._text(text) if text not in self._streamed_text else []
        return [*missed, OutputItem(item)]

    def _end(self, response: Json, *, is_incomplete: bool) -> list[ModelEvent]:
        response = response if isinstance(response, dict) else {}
        events: list[ModelEvent] = []
        for item in self._not_given(response.get("output")):
            events += self._item(item)
        usage = _usage(response.get("usage"))
        is_at_limit = self._most_tokens is not None and usage.output_tokens >= self._most_tokens
        self.is_complete = True
        return [*events, Completed(usage, is_incomplete or is_at_limit)]

    def _not_given(self, output: Json) -> list[Mapping[str, Json]]:
        """Items of the final list that no message brought before.

        Some servers give an item another id in the final list, so of each kind only as many count as new as there
        are more of it: a call that ran twice would be worse than one that was missed.
        """
        items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
        known = {_identity(item) for item in self._given}
        spare = Counter(str(item.get("type")) for item in items)
        spare.subtract(str(item.get("type")) for item in self._given)
        new: list[Mapping[str, Json]] = []
        for item in items:
            kind = str(item.get("type"))
            if spare[kind] > 0 and _identity(item) not in known:
                spare[kind] -= 1
                new.append(item)
        return new

    def _failure(self, message: Mapping[str, Json]) -> BrainError:
        source = message.get("response") if message.get("type") == "response.failed" else message
        error = source.get("error") if isinstance(source, dict) else None
        told: Json = error if error else source
        code, words = "", str(told)
        if isinstance(told, dict):
            code = str(told.get("code") or told.get("type") or "")
            words = str(told.get("message") or code or "no reason given")
        sentence = f"the endpoint gave up: {self._short(words)}"
        if code in _BUSY_CODES:
            return BrainBusyError(sentence)
        if code in _KEY_CODES:
            return BrainKeyError(sentence)
        return BrainRequestError(sentence)


def _identity(item: Mapping[str, Json]) -> tuple[str, str]:
    """What makes an item the same in two messages; unequal for items that carry neither id."""
    kind = str(item.get("type"))
    name = item.get("call_id") if kind == "function_call" else item.get("id")
    return kind, str(name) if name else f"#{id(item)}"


def _message_text(item: Mapping[str, Json]) -> str:
    content = item.get("content")
    if item.get("type") != "message" or not isinstance(content, list):
        return ""
    parts = (part.get("text") or part.get("refusal") for part in content if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))


def _usage(usage: Json) -> Usage:
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return Usage(_count(usage.get("input_tokens")), _count(cached), _count(usage.get("output_tokens")))


def _count(value: Json) -> int:
    return max(0, int(value)) if isinstance(value, int | float) and abs(value) < 1e12 else 0


def _mended(value: Json) -> Json:
    """The same JSON value without lone surrogates, which no later request could be encoded with."""
    if isinstance(value, str):
        return _LONE_SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mended(entry) for entry in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(entry) for name, entry in value.items()}
    return value
