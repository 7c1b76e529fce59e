"""The test server speaks the API well enough for the ``openai`` package's own client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response

from tests.responses_server import Answer, Call, ResponsesServer

TOOL: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "Weather at a place.",
    "parameters": {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
        "additionalProperties": False,
    },
    "strict": True,
}


@pytest.fixture
async def server() -> AsyncIterator[ResponsesServer]:
    async with ResponsesServer() as running:
        yield running


@pytest.fixture
async def client(server: ResponsesServer) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="test-key", max_retries=0) as made:
        yield made


async def test_the_client_reads_every_event_of_a_streamed_answer(server: ResponsesServer, client: AsyncOpenAI) -> None:
    server.answers = [
        Answer(text="Let me look.", calls=[Call("get_weather", {"place": "Kyōto"})], reasoning="hm", cached_tokens=40)
    ]
    stream = await client.responses.create(model="m", input="How is the weather?", tools=[TOOL], stream=True)
    events = [event async for event in stream]

    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    message = [kind for kind, event in zip(kinds, events, strict=True) if getattr(event, "output_index", None) == 1]
    assert message == [
        "response.output_item.added",
        "response.content_part.added",
        *["response.output_text.delta"] * 3,
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
    ]
    assert [getattr(event, "sequence_number", None) for event in events] == list(range(len(events)))
    for event in events:
        # Not only read, but valid by the client's own models.
        type(event).model_validate(event.to_dict())
    final = events[-1]
    assert final.type == "response.completed"
    assert final.response.output_text == "Let me look."
    assert [item.type for item in final.response.output] == ["reasoning", "message", "function_call"]
    assert final.response.usage is not None and final.response.usage.input_tokens_details.cached_tokens == 40


async def test_the_clients_stream_helper_puts_the_answer_together(server: ResponsesServer, client: AsyncOpenAI) -> None:
    server.answers = [Answer(text="On my way.", calls=[Call("get_weather", {"place": "Oslo"}), Call("get_weather")])]
    async with client.responses.stream(model="m", input="Hello", tools=[TOOL]) as stream:
        final = await stream.get_final_response()

    assert final.output_text == "On my way."
    calls = [item for item in final.output if item.type == "function_call"]
    assert [call.arguments for call in calls] == ['{"place": "Oslo"}', "{}"]
    assert len({call.call_id for call in calls}) == 2
    Response.model_validate(final.to_dict(warnings=False))


async def test_the_client_meets_the_scripted_faults(server: ResponsesServer, client: AsyncOpenAI) -> None:
    server.answers = [
        Answer(status=429, headers={"Retry-After": "7"}, error_code="rate_limit_exceeded"),
        Answer(text="Half of it", fault="failed", error_message="the model fell over"),
        Answer(text="One two three", fault="cut"),
        Answer(text="In bits", write_bytes=3, line_end="\r\n"),
    ]
    with pytest.raises(openai.RateLimitError) as busy:
        await client.responses.create(model="m", input="Hi", stream=True)
    assert busy.value.response.headers["retry-after"] == "7"

    events = [event async for event in await client.responses.create(model="m", input="Hi", stream=True)]
    assert events[-1].type == "response.failed"

    with pytest.raises(openai.APIConnectionError):
        _ = [event async for event in await client.responses.create(model="m", input="Hi", stream=True)]

    events = [event async for event in await client.responses.create(model="m", input="Hi", stream=True)]
    assert events[-1].type == "response.completed" and events[-1].response.output_text == "In bits"


async def test_a_wrong_key_is_refused(server: ResponsesServer, client: AsyncOpenAI) -> None:
    server.key = "another-key"
    server.answers = [Answer(text="Hello.")]
    with pytest.raises(openai.AuthenticationError):
        await client.responses.create(model="m", input="Hi", stream=True)


def test_it_runs_as_a_program_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "It works.", "calls": [{"name": "get_weather", "arguments": {"place": "Rome"}}]}]')
    program = Path(__file__).with_name("responses_server.py")
    with subprocess.Popen([sys.executable, str(program), str(script)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
                events = list(client.responses.create(model="m", input="Hi", stream=True))
            assert events[-1].type == "response.completed"
            assert events[-1].response.output_text == "It works."
        finally:
            process.terminate()
