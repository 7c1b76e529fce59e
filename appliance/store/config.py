"""Settings of what is kept."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class ChatsConfig:
    """[chats]"""

    rest_minutes: float = setting(
        30.0,
        "after so long without a word a spoken conversation begins anew; 0 lets it go on for ever",
        at_least=0,
        is_live=True,
    )
    keep_chats_days: int = setting(
        0,
        "chats in which nothing was said for so many days are deleted with all that plugins keep; 0 keeps them",
        at_least=0,
        is_live=True,
    )
