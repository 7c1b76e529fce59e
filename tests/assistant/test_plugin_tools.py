"""A plugin tool in a spoken turn: what the person hears around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.events import Emotion, EmotionChanged, LineKind, Narrated
from tests.assistant.conftest import MakeRig
from tests.contracts.sapphire_rig import SapphireRig, tool_file


@pytest.mark.contract("S-015")
async def test_the_success_flag_decides_what_is_said_and_shown_after_it(make_rig: MakeRig, tmp_path: Path) -> None:
    answers = [calls(("lamp", {"room": "hall"})), says("It is on."), calls(("lamp", {})), says("Which room?")]
    rig = await make_rig(model=FakeModelEndpoint(*answers))
    box = SapphireRig(tmp_path / "plugins")
    box.plugin("lamps", {"tools/l.py": tool_file("lamp", "return 'x', bool(arguments)")}, display_name="Bright")
    # Its thread takes real time, and the world of this test takes none.
    box.store_settings("lamps", '{"budget_seconds": 80000}')
    await box.load()
    assert rig.box.registry.add(box.tool("lamp"))
    lines = box.tool("lamp").voice_lines

    await rig.asks("Light the hall.")
    await rig.asks("Light it.")
    await box.close()

    assert "Bright" in lines.announce
    assert rig.said == [lines.announce, lines.complete, "It is on.", lines.announce, lines.fail, "Which room?"]
    kinds = [fact.kind for fact in rig.told(Narrated)]
    assert kinds == [LineKind.ANNOUNCE, LineKind.COMPLETE, LineKind.ANNOUNCE, LineKind.FAIL]
    assert [fact.emotion for fact in rig.told(EmotionChanged) if fact.source == "fail"] == [Emotion.SAD]
