"""What a client may ask about the words that tools wait for: which there are, and giving them.

An answer allows nothing, so whoever may call at all may give one. Its text is in no log and no trace.
"""

from __future__ import annotations

from collections.abc import Mapping

from appliance.approve.hidden import visible
from appliance.contracts.kotoba.input_desk import InputDesk
from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.ports import Json


class AnswerService:
    """Serves the questions that wait for a shell."""

    def __init__(self, desk: InputDesk) -> None:
        self._desk = desk

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {"answer.waiting": self.waiting, "answer.give": self.give}

    async def waiting(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """Every question that waits, the oldest first."""
        return [
            {
                "number": waiting.number,
                "plugin": visible(waiting.question.plugin),
                "tool": visible(waiting.question.tool),
                "label": visible(waiting.question.label),
                "detail": visible(waiting.question.detail),
                "is_secret": waiting.question.is_secret,
            }
            for waiting in self._desk.waiting
        ]

    async def give(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Answer the question ``{"number"}`` with ``{"text"}``, "" to give nothing."""
        text = params.get("text")
        if not isinstance(text, str):
            raise UsageError("the answer is missing, or is not a text")
        self._desk.give(str(params.get("number")), text)
        return {}
