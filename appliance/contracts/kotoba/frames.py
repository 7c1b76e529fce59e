"""``kotoba.core.events``: what goes to a screen beside the conversation, which this box does not have."""

from __future__ import annotations

from typing import Any

from appliance.contracts.kotoba.doors import Doors


async def emit_task(session_id: str | None, kind: str, **data: Any) -> None:
    """Nothing: there is no panel. What a call does stands in its step row and in the trace."""


async def emit_emotion(session_id: str | None, emotion: str, run_id: str = "") -> None:
    """Nothing: the face is that of EXPRESSIONS, and of the tags in the reply."""


def has_listener(session_id: str | None) -> bool:
    """Whether somebody is there who may be asked: while a call of that session is on, the one who talks to the box."""
    return Doors.is_open(session_id)


def draws_cards(session_id: str | None) -> bool:
    """False: nothing paints a card here."""
    return False
