"""The clock of the house is set by years, forwards and backwards: nothing rings, expires or is reordered for that."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.approve.config import ApprovalConfig
from appliance.tools.tool import Risk
from tests.approve.rig import Scene
from tests.assistant.conftest import MakeRig

YEARS = timedelta(days=3653)
JUMPS = pytest.mark.parametrize("jump", [YEARS, -YEARS], ids=["forwards", "backwards"])


@JUMPS
async def test_a_countdown_rings_when_its_time_is_over_and_not_when_the_clock_says_so(
    make_rig: MakeRig, jump: timedelta
) -> None:
    rig = await make_rig()
    await rig.sets_timer(120.0)
    rig.clock.set_wall(rig.clock.now() + jump)
    await rig.runs(110.0)
    assert not rig.box.ringer.ringing
    await rig.runs(11.0)
    assert rig.box.ringer.ringing


@JUMPS
async def test_a_question_waits_as_long_as_before(tmp_path: Path, jump: timedelta) -> None:
    scene = Scene(tmp_path, ApprovalConfig(voice_window_seconds=60.0))
    call = await scene.asked(channel="voice")
    scene.clock.set_wall(scene.clock.now() + jump)
    await scene.clock.advance(59.5)
    await scene.quiet()
    assert not call.done()
    scene.hand.press()  # type: ignore[union-attr]
    assert (await call).text == "done"
    scene.database.close()


@JUMPS
async def test_the_trail_keeps_its_order(make_rig: MakeRig, jump: timedelta) -> None:
    model = FakeModelEndpoint(calls(("tides", {})), says("High."), calls(("tides", {})), says("Low."))
    rig = await make_rig(model=model)
    rig.adds(FakeTool("tides", risk=Risk.WRITE))
    await rig.asks("How high is the water?")
    rig.clock.set_wall(rig.clock.now() + jump)
    await rig.asks("And now?")
    lines = await rig.control.call("audit.list")
    assert len(lines) >= 4
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["at_seconds"] for line in lines] == sorted(line["at_seconds"] for line in lines)
    assert (await rig.control.call("audit.verify")) == []
