"""A tool asks the person for words in the middle of its call: what it asks, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from appliance.tools.tool import CallContext, Verdict


@dataclass(frozen=True)
class InputQuestion:
    """``label`` is what is asked for, ``detail`` more about it, both a stranger's words.

    A secret is never said aloud, and masked in all that is written down; what the tool tells a model of it is the
    tool's doing. ``seconds`` is how long the tool wants to wait.
    """

    tool: str
    plugin: str
    label: str
    detail: str
    is_secret: bool
    seconds: float
    call: CallContext


@dataclass(frozen=True)
class InputAnswer:
    """How it ended. ``text`` is what the person gave, "" when they chose to give nothing, None when nobody decided."""

    verdict: Verdict
    text: str | None = None


#: Answers an ``InputQuestion``, on our loop.
AskInput = Callable[[InputQuestion], Awaitable[InputAnswer]]


async def nobody(_question: InputQuestion) -> InputAnswer:
    """The answer when nobody can be asked."""
    return InputAnswer(Verdict.UNREACHABLE)
