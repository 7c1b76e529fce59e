"""Each request to the model begins with the bytes of the one before: what a server has computed of it stays good."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Sequence

from appliance.adapters.fakes.http_door import FakeAnswer, FakeHttpDoor
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.adapters.responses_api import ResponsesEndpoint
from appliance.clock import FakeClock
from appliance.errors import BrainError
from appliance.ports_think import ModelRequest
from appliance.tools.tool import ToolImage, ToolResult
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig


async def bodies(requests: Sequence[ModelRequest]) -> list[bytes]:
    """What goes over the line for these requests."""
    door = FakeHttpDoor(*(FakeAnswer(500) for _ in requests))
    endpoint = ResponsesEndpoint(door, url="http://box:8080", clock=FakeClock(), model="m")
    for request in requests:
        with contextlib.suppress(BrainError):
            async for _event in endpoint.respond(request):
                pass
    return [
        json.dumps(sent.json, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        for sent in door.requests
    ]


def breaks(sent: list[bytes]) -> list[int]:
    """Which requests do not begin with the whole of the one before, but for the brackets at its end."""
    return [
        number
        for number, (before, after) in enumerate(itertools.pairwise(sent), 1)
        if not after.startswith(before.removesuffix(b"]}"))
    ]


def test_a_change_in_front_is_found() -> None:
    first = b'{"instructions":"a","input":[1]}'
    assert breaks([first, b'{"instructions":"a","input":[1,2]}']) == []
    assert breaks([first, b'{"instructions":"b","input":[1,2]}']) == [1]
    assert breaks([first, b'{"instructions":"a","input":[2,3]}']) == [1]


async def talk(rig: Rig, turns: int) -> list[bytes]:
    for number in range(turns):
        await rig.asks(f"What about number {number}?")
    assert rig.model is not None
    return await bodies(rig.model.requests)


async def test_over_many_turns_nothing_changes_in_front(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(*(says(f"It is number {number}.") for number in range(15))))
    sent = await talk(rig, 15)
    assert len(sent) == 15 and breaks(sent) == []
    assert len(sent[-1]) > len(sent[0]) + 1500


async def test_nor_with_calls_results_and_words_before_them(make_rig: MakeRig) -> None:
    def turn(number: int) -> list[object]:
        asked = calls(("lamp", {"on": True, "name": "Küche"}), text="I look. ", first_id=10 * number)
        return [asked, calls(("lamp", '{"on":false}'), first_id=10 * number + 5), says(f"Lamp {number} is on.")]

    rig = await make_rig(model=FakeModelEndpoint(*(step for number in range(1, 6) for step in turn(number))))  # type: ignore[arg-type]
    rig.adds(FakeTool("lamp", ToolResult('{"state": "on", "since": "früh"}')))
    sent = await talk(rig, 5)
    assert len(sent) == 15 and breaks(sent) == []


async def test_a_picture_stays_where_it_is_until_it_is_old(make_rig: MakeRig) -> None:
    answers = [says("Yes."), calls(("camera", {})), *(says(f"I see {number}.") for number in range(5))]
    rig = await make_rig(model=FakeModelEndpoint(*answers), settings={"think.image_memory_turns": "3"})
    rig.adds(FakeTool("camera", ToolResult("A photo.", images=(ToolImage(b"picture of a cat", "image/jpeg"),))))
    sent = await talk(rig, 6)
    seen = [body.count(b"data:image/jpeg") for body in sent]
    assert seen == [0, 0, 1, 1, 1, 1, 0]
    assert breaks(sent) == [6], "when the model does not get it any more, and at no other time"


async def test_a_reply_that_was_cut_off_is_told_behind_what_was_sent(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("One. Two. Three. Four."), says("Yes."), says("No.")))
    await rig.hears(WAKE_WORD, "Count.")
    await rig.until(lambda: "One." in rig.said)
    rig.box.assistant.stop()
    await rig.rests()
    assert breaks(await talk(rig, 2)) == []


async def test_a_full_memory_gives_up_its_oldest_part_in_large_steps(make_rig: MakeRig) -> None:
    answers = [says(f"It is number {number}.") for number in range(40)]
    rig = await make_rig(model=FakeModelEndpoint(*answers), settings={"think.history_turns": "10"})
    sent = await talk(rig, 40)
    moved = breaks(sent)
    assert len(moved) <= 8
    assert all(later - earlier >= 4 for earlier, later in itertools.pairwise(moved))
    turns = [body.count(b"What about number") for body in sent]
    assert max(turns) <= 11 and min(turns[10:]) >= 6


async def test_so_does_one_that_is_full_of_words(make_rig: MakeRig) -> None:
    answers = [says(f"It is number {number}, {'and so on ' * 12}.") for number in range(30)]
    rig = await make_rig(model=FakeModelEndpoint(*answers), settings={"think.history_tokens": "800"})
    moved = breaks(await talk(rig, 30))
    assert 0 < len(moved) <= 10


async def test_a_long_result_comes_in_one_shape_for_as_long_as_it_is_there(make_rig: MakeRig) -> None:
    """Else it would be shortened in the middle of the conversation, when others come behind it."""
    answers = [calls(("search", {})), says("Found."), *(says(f"It is number {number}.") for number in range(8))]
    rig = await make_rig(model=FakeModelEndpoint(*answers), settings={"think.history_tokens": "1500"})
    rig.adds(FakeTool("search", ToolResult("a long text " * 200)))
    sent = await talk(rig, 8)
    shapes = [body.count(b"a long text " * 200) for body in sent[2:]]
    assert shapes in ([1] * 7, [0] * 7) or shapes == sorted(shapes, reverse=True)
    assert len(breaks(sent)) <= 2
