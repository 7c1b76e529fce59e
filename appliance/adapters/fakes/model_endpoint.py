"""A model endpoint that follows a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence

from appliance.errors import BrainUnreachableError
from appliance.ports import Json
from appliance.ports_think import Completed, ModelEvent, ModelRequest, OutputItem, TextDelta, Usage

#: One step of an answer: an event, an error to raise, or something to wait for.
Step = ModelEvent | Exception | asyncio.Event


class FakeModelEndpoint:
    """Plays one scripted answer per request; keeps the requests. Out of answers, it cannot be reached."""

    def __init__(self, *answers: Sequence[Step], name: str = "fake model", is_reasoning: bool = False) -> None:
        self.answers: list[Sequence[Step]] = list(answers)
        self.requests: list[ModelRequest] = []
        #: What it was warmed up with, in order; None for a connection only.
        self.warmed: list[ModelRequest | None] = []
        #: Set it, and no warming ends before it is set again.
        self.warming: asyncio.Event | None = None
        self.is_warming = False
        self.name = name
        self.is_reasoning = is_reasoning
        #: Answers that are being read now.
        self.open_answers = 0

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The next answer of the script."""
        self.requests.append(request)
        if not self.answers:
            raise BrainUnreachableError("the script has no more answers")
        self.open_answers += 1
        try:
            for step in self.answers.pop(0):
                if isinstance(step, asyncio.Event):
                    await step.wait()
                elif isinstance(step, Exception):
                    raise step
                else:
                    yield step
        finally:
            self.open_answers -= 1

    async def warm_up(self, request: ModelRequest | None) -> None:
        """Note it; see ``warming``."""
        self.warmed.append(request)
        self.is_warming = True
        try:
            if self.warming is not None:
                await self.warming.wait()
        finally:
            self.is_warming = False


def says(*pieces: str, usage: Usage | None = None, is_incomplete: bool = False) -> list[Step]:
    """An answer in words, in these pieces."""
    message = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "".join(pieces), "annotations": []}],
    }
    return [*map(TextDelta, pieces), OutputItem(message), Completed(usage or Usage(), is_incomplete)]


def calls(*wanted: tuple[str, Mapping[str, Json] | str], text: str = "", first_id: int = 1) -> list[Step]:
    """An answer that calls tools (name and arguments, as an object or as raw text), perhaps with words before."""
    steps: list[Step] = list(says(text)[:-1]) if text else []
    for number, (name, arguments) in enumerate(wanted, first_id):
        raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "status": "completed",
            "name": name,
            "arguments": raw,
        }
        steps.append(OutputItem(item))
    return [*steps, Completed()]
