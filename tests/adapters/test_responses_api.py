from __future__ import annotations

import json

import pytest

from appliance.adapters.fakes.http_door import FakeAnswer, FakeHttpDoor, Step
from appliance.adapters.responses_api import responses_url
from appliance.clock import FakeClock
from appliance.errors import (
    ConfigError,
)
from appliance.network.door import Door
from appliance.ports_think import Completed, ModelRequest, TextDelta, Usage
from tests.adapters.responses_rig import ASK, COMPLETED, KEY, TOOL, delta, events_of, items_of, on, over, sse, text_of
from tests.responses_server import Answer, Call, ResponsesServer

# ---------------------------------------------------------------------------------------------- the request


@pytest.mark.parametrize(
    ("typed", "posted"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
        ("https://api.openai.com", "https://api.openai.com/v1/responses"),
        ("http://localhost:11434/", "http://localhost:11434/v1/responses"),
        ("http://box:8080/v1/", "http://box:8080/v1/responses"),
        (" http://box:8080/v1/responses ", "http://box:8080/v1/responses"),
        ("https://gate.example/openai/v1", "https://gate.example/openai/v1/responses"),
        ("https://gate.example/api", "https://gate.example/api/v1/responses"),
        ("https://gate.example/api/v3?version=2", "https://gate.example/api/v3/responses?version=2"),
    ],
)
def test_a_url_may_be_typed_in_several_ways(typed: str, posted: str) -> None:
    assert responses_url(typed) == posted


@pytest.mark.parametrize("typed", ["localhost:8080", "", "ftp://box/", "http://me:word@box/", "https://"])
def test_another_url_is_refused_with_an_example_and_without_its_secrets(typed: str) -> None:
    with pytest.raises(ConfigError, match="http://192") as caught:
        responses_url(typed)
    assert "word" not in str(caught.value)


async def test_a_request_carries_everything_and_stores_nothing(door: Door) -> None:
    request = ModelRequest("Be brief.", ASK.items, (TOOL, {**TOOL, "name": "two", "strict": True}), 500)
    async with ResponsesServer([Answer(text="Hello.")], key=KEY) as server:
        await events_of(on(server, door), request)
    sent = server.requests[0]
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [dict(ASK.items[0])],
        "tools": [{**TOOL, "strict": False}, {**TOOL, "name": "two", "strict": True}],
        "max_output_tokens": 500,
        "stream": True,
        "store": False,
    }


async def test_without_key_model_and_tools_none_is_sent(door: Door) -> None:
    async with ResponsesServer([Answer(text="Hello.")]) as server:
        endpoint = on(server, door, key="", model="")
        assert text_of(await events_of(endpoint)) == "Hello."
    assert "authorization" not in server.requests[0].headers
    assert {"model", "tools", "reasoning", "include", "max_output_tokens"}.isdisjoint(server.requests[0].body)
    assert endpoint.name.startswith("the model at 127.0.0.1:")


@pytest.mark.contract("K-069")
@pytest.mark.parametrize(
    ("setting", "effort", "is_reasoning"), [("", None, False), ("off", "none", False), ("low", "low", True)]
)
async def test_reasoning_is_asked_for_as_set(
    setting: str, effort: str | None, is_reasoning: bool, clock: FakeClock
) -> None:
    door = FakeHttpDoor(FakeAnswer(lines=sse(COMPLETED)))
    endpoint = over(door, clock, reasoning_effort=setting)
    await events_of(endpoint)
    body = door.requests[0].json
    assert endpoint.is_reasoning is is_reasoning
    assert body.get("reasoning", {}).get("effort") == effort
    assert ("include" in body) is is_reasoning


# ----------------------------------------------------------------------------------------------- the answer


@pytest.mark.parametrize("write_bytes", [0, 1, 7])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
async def test_an_answer_comes_whole_however_its_bytes_arrive(door: Door, write_bytes: int, line_end: str) -> None:
    answer = Answer(
        pieces=["Grüße", ",\u2028 du", " 👋\n\nda"],
        calls=[Call("get_time", {"place": "Kyōto"}), Call("get_time", "{}")],
        reasoning="hm",
        input_tokens=321,
        cached_tokens=300,
        write_bytes=write_bytes,
        line_end=line_end,
    )
    async with ResponsesServer([answer]) as server:
        events = await events_of(on(server, door))
    assert [event.text for event in events if isinstance(event, TextDelta)] == list(answer.pieces)
    assert [item["type"] for item in items_of(events)] == ["reasoning", "message", "function_call", "function_call"]
    assert json.loads(items_of(events)[2]["arguments"]) == {"place": "Kyōto"}
    assert items_of(events)[0]["encrypted_content"] == "sealed-hm"
    assert events[-1] == Completed(Usage(321, 300, 23), is_incomplete=False)


@pytest.mark.parametrize("dialect", ["full", "sparse", "late", "early"])
async def test_every_kind_of_server_gives_each_text_and_call_once(door: Door, dialect: str) -> None:
    answer = Answer(text="Let me look.", calls=[Call("a", call_id="1"), Call("a", call_id="2")], dialect=dialect)
    async with ResponsesServer([answer]) as server:
        events = await events_of(on(server, door))
    assert text_of(events) == "Let me look."
    assert [item["call_id"] for item in items_of(events) if item["type"] == "function_call"] == ["1", "2"]
    assert [item["type"] for item in items_of(events)].count("message") == 1
    assert isinstance(events[-1], Completed)


async def test_text_that_comes_only_in_the_finished_message_is_not_lost(clock: FakeClock) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "All at once."}]}
    final = {"type": "response.completed", "response": {"output": [{**message, "id": "another"}]}}
    done = {"type": "response.output_item.done", "item": message}
    door = FakeHttpDoor(FakeAnswer(lines=sse(done, final)), FakeAnswer(lines=sse(final)))
    for _ in range(2):
        events = await events_of(over(door, clock))
        assert text_of(events) == "All at once." and len(items_of(events)) == 1


async def test_a_call_whose_id_changes_in_the_final_list_is_not_given_twice(clock: FakeClock) -> None:
    call = {"type": "function_call", "call_id": "fc_1", "name": "ring", "arguments": "{}"}
    lines = sse(
        {"type": "response.output_item.done", "item": call},
        {"type": "response.completed", "response": {"output": [{**call, "call_id": "call_1"}]}},
    )
    assert len(items_of(await events_of(over(FakeHttpDoor(FakeAnswer(lines=lines)), clock)))) == 1


async def test_a_call_that_only_the_final_list_brings_is_given_behind_the_others(clock: FakeClock) -> None:
    one, two = ({"type": "function_call", "call_id": i, "name": "ring", "arguments": "{}"} for i in "12")
    lines = sse(
        {"type": "response.output_item.done", "item": one},
        {"type": "response.completed", "response": {"output": [one, two]}},
    )
    assert items_of(await events_of(over(FakeHttpDoor(FakeAnswer(lines=lines)), clock))) == [one, two]


async def test_comments_unknown_events_and_odd_fields_are_ignored(clock: FakeClock) -> None:
    lines: list[Step] = [
        ": keep-alive",
        "",
        "retry: 10",
        "event: response.news",
        'data: {"type": "response.news",',
        'data: "delta": 3}',
        "",
        *sse({"type": "ping"}, {"type": "response.output_text.delta", "delta": None}, delta("Hi"), {"no": "type"}),
        "data:" + json.dumps({"type": "response.completed", "response": {"usage": {"input_tokens": "many"}}}),
    ]  # and no blank line at the end
    events = await events_of(over(FakeHttpDoor(FakeAnswer(lines=lines)), clock))
    assert events == [TextDelta("Hi"), Completed(Usage())]


async def test_half_of_a_character_pair_becomes_a_mark_instead_of_breaking_the_next_request(clock: FakeClock) -> None:
    door = FakeHttpDoor(FakeAnswer(lines=sse(delta("a\ud83d"), COMPLETED)))
    assert text_of(await events_of(over(door, clock))) == "a\ufffd"


async def test_a_refusal_is_the_reply_and_an_answer_cut_for_length_says_so(clock: FakeClock) -> None:
    refusal = {"type": "response.refusal.delta", "delta": "I will not."}
    cut = {"type": "response.incomplete", "response": {"output": [], "usage": None}}
    events = await events_of(over(FakeHttpDoor(FakeAnswer(lines=sse(refusal, cut))), clock))
    assert events == [TextDelta("I will not."), Completed(Usage(), is_incomplete=True)]


async def test_an_answer_as_long_as_allowed_counts_as_cut_even_if_the_server_calls_it_completed(door: Door) -> None:
    async with ResponsesServer([Answer(text="one two three")]) as server:
        for most, is_cut in [(3, True), (4, False), (None, False)]:
            events = await events_of(on(server, door), ModelRequest("Be brief.", ASK.items, (), most))
            assert isinstance(events[-1], Completed) and events[-1].is_incomplete is is_cut
