"""How many tokens a text will cost, roughly; usage that the endpoint reports makes the guess better."""

from __future__ import annotations

import json
from collections.abc import Iterable

from appliance.ports_think import ModelRequest
from appliance.think.items import Item, has_pictures

#: Usual for English prose; Japanese has about one character per token, long runs of spaces many.
_CHARACTERS_PER_TOKEN = 4.0
_FEWEST, _MOST = 1.0, 6.0
#: How far one report moves the guess.
_TRUST = 0.3


class TokenBudget:
    """Guesses tokens from characters, and learns."""

    def __init__(self) -> None:
        self._characters_per_token = _CHARACTERS_PER_TOKEN

    def tokens(self, items: Iterable[Item]) -> int:
        """About how many tokens these items cost."""
        return round(characters(items) / self._characters_per_token)

    def in_characters(self, tokens: float) -> float:
        """About how many characters so many tokens are."""
        return tokens * self._characters_per_token

    def learn(self, request: ModelRequest, input_tokens: int) -> None:
        """Compare a request with the tokens it really cost; 0 says nothing, nor does a request with pictures."""
        if input_tokens <= 0 or any(map(has_pictures, request.items)):
            return
        sent = len(request.instructions) + characters(request.items) + characters(request.tools)
        seen = min(_MOST, max(_FEWEST, sent / input_tokens))
        self._characters_per_token += _TRUST * (seen - self._characters_per_token)


def characters(items: Iterable[Item]) -> int:
    """How long these items are as text."""
    return sum(len(json.dumps(item, ensure_ascii=False, default=str)) for item in items)
