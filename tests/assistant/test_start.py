"""The first minute of a box: who it is, and what is wrong with it."""

from __future__ import annotations

import json

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint
from appliance.events import Event
from appliance.trace import TraceFile
from tests.assistant.conftest import MakeRig
from tests.assistant.disk import FakeDisk
from tests.assistant.rig import WAKE_WORD


async def test_on_its_first_start_ever_it_introduces_itself_and_does_not_wake_itself(make_rig: MakeRig) -> None:
    rig = await make_rig()

    assert await rig.box.greet()
    await rig.until(lambda: "To talk to me, say: okay nabu." in rig.said)
    await rig.hears(WAKE_WORD)
    await rig.rests()

    said = " ".join(rig.said)
    assert said.startswith("Hello. I am ready. I hear through fake microphone and speak through fake speaker.")
    assert "I have no model yet" in said
    assert said.endswith("Or ask me what I can do.")
    assert rig.endings == []
    assert await rig.box.greet() is False
    again = await make_rig(disk=rig.disk, model=FakeModelEndpoint())
    assert await again.box.greet() is False


async def test_settings_that_are_wrong_are_said_once(make_rig: MakeRig) -> None:
    rig = await make_rig(settings={"box.naem": "Ada"})
    await rig.until(lambda: rig.said)
    await rig.rests()
    await rig.runs(30.0)

    assert [" ".join(rig.said)] == rig.sentences("assistant.bad_settings")
    assert (await rig.control.call("status"))["settings problems"] == [
        "box.naem (command line) is no setting; did you mean name?"
    ]


async def test_a_store_that_forgets_is_said(make_rig: MakeRig) -> None:
    rig = await make_rig(disk=FakeDisk(is_lasting=False, note="store.in_memory"))
    await rig.until(lambda: rig.said)
    await rig.rests()

    assert [" ".join(rig.said)] == rig.sentences("store.in_memory")


async def test_status_tells_what_the_box_does_now(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint())
    await rig.sets_timer(60.0)

    status = await rig.control.call("status")

    assert (status["state"], status["muted"], status["timers"], status["model"]) == ("idle", False, 1, "fake model")
    await rig.hears(WAKE_WORD)
    await rig.runs(0.5)
    assert (await rig.control.call("status"))["state"] == "listening"
    await rig.rests()


async def test_a_trace_is_written_line_by_line_and_can_be_read_back(make_rig: MakeRig) -> None:
    rig = await make_rig()
    file = rig.home.folder / "trace.jsonl"
    with file.open("w", encoding="utf-8") as stream:
        rig.box.bus.subscribe(TraceFile(stream))
        before = len(rig.facts)
        await rig.asks("What time is it in Zürich?")
        lines = file.read_text(encoding="utf-8").splitlines()  # While it is still open: each line is there at once.

    assert [Event.from_trace(json.loads(line)) for line in lines] == rig.facts[before:]
    assert "Zürich" in "".join(lines)
