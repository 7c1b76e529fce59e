"""What the tests of the Responses API endpoint share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from appliance.adapters.fakes.http_door import FakeHttpDoor, Step
from appliance.adapters.responses_api import ResponsesEndpoint
from appliance.clock import FakeClock, SystemClock
from appliance.network.door import Door
from appliance.ports_think import ModelEvent, ModelRequest, OutputItem, TextDelta
from tests.responses_server import ResponsesServer

KEY = "sk-test-1234567890"
ASK = ModelRequest("Be brief.", ({"type": "message", "role": "user", "content": "Hi"},))
TOOL = {"type": "function", "name": "get_time", "parameters": {"type": "object", "properties": {}}}


def over(door: FakeHttpDoor, clock: FakeClock, **settings: Any) -> ResponsesEndpoint:
    """An endpoint with a clock of ours."""
    return ResponsesEndpoint(door, url="http://box:8080", clock=clock, **{"key": KEY, "model": "m", **settings})


def on(server: ResponsesServer, door: Door, **settings: Any) -> ResponsesEndpoint:
    """An endpoint on a real server."""
    return ResponsesEndpoint(door, url=server.url, clock=SystemClock(), **{"key": KEY, "model": "m", **settings})


async def events_of(endpoint: ResponsesEndpoint, request: ModelRequest = ASK) -> list[ModelEvent]:
    return [event async for event in endpoint.respond(request)]


def text_of(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def items_of(events: Sequence[ModelEvent]) -> list[Any]:
    return [event.item for event in events if isinstance(event, OutputItem)]


def sse(*messages: Any) -> list[Step]:
    """The lines of a stream with these messages."""
    lines: list[Step] = []
    for message in messages:
        lines += [f"data: {message if isinstance(message, str) else json.dumps(message)}", ""]
    return lines


def delta(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text}


COMPLETED = {"type": "response.completed", "response": {"output": []}}
