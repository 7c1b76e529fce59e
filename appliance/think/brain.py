"""A brain answers one question; the model and the offline brain look the same from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from appliance.ports import Json
from appliance.store.shapes import TurnRecord
from appliance.tools.registry import ToolSelection
from appliance.tools.tool import ToolCall, ToolResult


@dataclass(frozen=True)
class Question:
    """What the person said, with what came before; ``channel`` is voice or text.

    ``context`` is said to a model beside its instructions, for this question only.
    """

    turn_id: str
    text: str
    channel: str
    history: tuple[TurnRecord, ...] = ()
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hands:
    """What a brain may use while it answers one question.

    ``say`` takes pieces of the reply as they come (markdown and audio tags allowed). ``run`` runs one call
    and never raises for a failed tool; it raises ``asyncio.CancelledError`` when the turn is stopped.
    ``tools`` was snapshotted at turn start. ``next_call_id`` names calls that no model named.
    """

    say: Callable[[str], None]
    run: Callable[[ToolCall], Awaitable[ToolResult]]
    tools: ToolSelection
    next_call_id: Callable[[], str]


@dataclass(frozen=True)
class BrainAnswer:
    """How a question was answered.

    ``items`` are the Responses API items of this turn behind the user's message (calls, outputs, reply).
    ``wants_answer`` opens the follow-up window. ``failed`` is a log line (no secret) when the brain itself
    failed: the reply is then a sentence of the catalogue, and nothing enters the history.
    """

    reply_text: str
    items: tuple[Mapping[str, Json], ...] = ()
    wants_answer: bool = False
    is_remembered: bool = True
    failed: str = ""
    did: tuple[str, ...] = field(default_factory=tuple)


class Brain(Protocol):
    """Answers questions."""

    async def answer(self, question: Question, hands: Hands) -> BrainAnswer:
        """Answer; the reply has been handed to ``hands.say`` piece by piece when this returns.

        Raises ``BrainError`` when the brain is away or fails, whatever was said before.
        """
        ...
