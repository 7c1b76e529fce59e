from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from appliance.adapters.fakes.model_endpoint import calls, says
from appliance.adapters.responses_api import ResponsesEndpoint
from appliance.clock import SystemClock, settle
from appliance.errors import BrainBusyError, BrainError, BrainRequestError, BrainStreamError, BrainUnreachableError
from appliance.network.classifier import Classifier
from appliance.network.door import Door
from appliance.network.lane_client import LaneClient
from appliance.ports_think import TextDelta, Usage
from appliance.think.brain import Hands, Question
from appliance.tools.tool import ToolImage, ToolResult
from tests.responses_server import Answer, Call, ResponsesServer
from tests.think.scene import Scene

# -------------------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    "steps",
    [
        [BrainUnreachableError("gone")],
        [TextDelta("Half of "), BrainStreamError("cut")],
        [TextDelta("Half of "), BrainBusyError("busy")],
    ],
)
async def test_a_failing_model_is_an_error_whatever_was_said_before(steps: list[Any]) -> None:
    scene = Scene(steps)
    with pytest.raises(BrainError):
        await scene.ask()
    assert len(scene.fake.requests) == 1


async def test_stopping_closes_the_answer_and_stops_the_tool() -> None:
    for answers in ([[TextDelta("Well, "), asyncio.Event()]], [calls(("search", {})), says("Never.")]):
        scene = Scene(*answers)
        stopped: list[str] = []

        async def hang(stopped: list[str] = stopped) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                stopped.append("tool")
                raise

        scene.before_run = hang
        thinking = asyncio.create_task(scene.ask())
        await settle()
        thinking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await thinking
        assert scene.fake.open_answers == 0
        assert stopped == (["tool"] if scene.ran else [])
        assert scene.rounds[0][2].error == ("" if scene.ran else "cancelled")


async def test_an_answer_is_closed_when_a_piece_of_it_cannot_be_said() -> None:
    scene = Scene([TextDelta("Well, "), asyncio.Event()])

    def refuse(_text: str) -> None:
        raise RuntimeError("no speaker")

    hands = Hands(refuse, scene._run, scene.registry.select(), str)
    with pytest.raises(RuntimeError) as caught:
        await scene.brain.answer(Question("turn-1", "Hi", "voice"), hands)
    assert caught.tb is not None and scene.fake.open_answers == 0


async def test_one_bad_schema_does_not_spoil_the_request_nor_the_next_ones() -> None:
    refused = [BrainRequestError("answered 400: Invalid schema for function 'search': …")]
    scene = Scene(refused, says("Noon."), says("Still noon."))
    assert (await scene.ask()).reply_text == "Noon."
    await scene.ask()
    offered = [[tool["name"] for tool in request.tools] for request in scene.fake.requests]
    assert offered == [["get_time", "lamp_switch", "search", "camera"], *[["get_time", "lamp_switch", "camera"]] * 2]


async def test_a_bad_schema_named_by_its_place_is_left_out_too() -> None:
    scene = Scene([BrainRequestError("400: Invalid 'tools[1].parameters'")], says("Noon."))
    await scene.ask()
    assert [tool["name"] for tool in scene.fake.requests[1].tools] == ["get_time", "search", "camera"]


async def test_several_bad_schemas_are_found_one_by_one() -> None:
    refused = [[BrainRequestError(f"400: Invalid schema for function '{name}'")] for name in ("search", "camera")]
    scene = Scene(*refused, says("Noon."))
    await scene.ask()
    assert [tool["name"] for tool in scene.fake.requests[2].tools] == ["get_time", "lamp_switch"]


async def test_an_error_that_names_no_tool_is_not_tried_again_and_costs_none() -> None:
    scene = Scene([BrainRequestError("400: no search here, context too long")])
    with pytest.raises(BrainRequestError):
        await scene.ask()
    scene = Scene(*[[BrainRequestError("400: 'search' is not the reason")]] * 2, says("Noon."))
    with pytest.raises(BrainRequestError):
        await scene.ask()
    await scene.ask()
    assert len(scene.fake.requests[2].tools) == 4


# -------------------------------------------------------------------------------------------------- pictures

PHOTO = ToolResult("A photo.", images=(ToolImage(b"\x89PNG", "image/png"), ToolImage(b"x", "image/png", True)))


async def test_a_picture_goes_to_the_model_once_and_not_into_the_conversation() -> None:
    scene = Scene(calls(("camera", {}), ("get_time", {})), says("A cat."))
    scene.results["camera"] = PHOTO
    answer = await scene.ask()
    sent = scene.fake.requests[1].items
    assert [item["type"] for item in sent[-3:]] == ["function_call_output", "function_call_output", "message"]
    assert [part["type"] for part in sent[-1]["content"]] == ["input_text", "input_image"]
    assert "input_image" not in json.dumps(answer.items)


async def test_a_model_that_takes_no_pictures_is_asked_without_them() -> None:
    scene = Scene(calls(("camera", {})), [BrainBusyError("500: image input is not supported")], says("A photo."))
    scene.results["camera"] = PHOTO
    assert (await scene.ask()).reply_text == "A photo."
    assert "input_image" not in json.dumps(scene.fake.requests[2].items)


# -------------------------------------------------------------------------------------------- what is recorded


async def test_each_round_is_recorded_with_what_the_model_got_and_answered() -> None:
    scene = Scene(calls(("get_time", {})), says("Noon.", usage=Usage(50, 40, 5)))
    await scene.ask()
    assert [turn_id for turn_id, _, _ in scene.rounds] == ["turn-1", "turn-1"]
    assert [request for _, request, _ in scene.rounds] == scene.fake.requests
    first, second = (summary for _, _, summary in scene.rounds)
    assert first.items[0]["name"] == "get_time" and first.text == ""
    assert (second.text, second.usage, second.error, second.is_incomplete) == ("Noon.", Usage(50, 40, 5), "", False)


async def test_times_of_a_round_are_measured_and_a_failure_is_recorded() -> None:
    first, last = asyncio.Event(), asyncio.Event()
    scene = Scene([first, TextDelta("Half of "), last, BrainStreamError("cut")])
    thinking = asyncio.create_task(scene.ask())
    await scene.clock.advance(0.5)
    first.set()
    await scene.clock.advance(2.0)
    last.set()
    with pytest.raises(BrainStreamError):
        await thinking
    summary = scene.rounds[0][2]
    assert (summary.first_seconds, summary.seconds) == (0.5, 2.5)
    assert summary.error == "BrainStreamError: cut" and summary.text == "Half of "


# ---------------------------------------------------------------------------------------------- the real way


async def test_a_whole_turn_over_real_http() -> None:
    answers = [
        Answer(text="Let me look.", calls=[Call("search", {"q": "Kyōto"})], reasoning="hm", write_bytes=11),
        Answer(text="[happily] It is warm there. Shall I go on?", dialect="sparse"),
    ]
    door = Door(LaneClient(Classifier()))
    async with ResponsesServer(answers, key="k-123456") as server:
        endpoint = ResponsesEndpoint(door, url=server.url, model="m", key="k-123456", clock=SystemClock())
        scene = Scene(endpoint=endpoint)
        answer = await scene.ask("How is Kyoto?")
        await door.close()
    assert scene.ran[0].arguments == {"q": "Kyōto"}
    assert "".join(scene.said) == "Let me look.\n[happily] It is warm there. Shall I go on?"
    assert answer.wants_answer
    assert [item["type"] for item in server.requests[1].body["input"]] == [
        *("message", "reasoning", "message", "function_call", "function_call_output"),
    ]
    assert server.connections == 1
