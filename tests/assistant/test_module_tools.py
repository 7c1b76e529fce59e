"""A tool module in a whole box: what the person hears and sees, and what the model is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.events import Emotion, EmotionChanged, LineKind, Narrated
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig
from tests.contracts.rig import tool_source

#: Its thread takes real time, and the world of these tests takes none.
NO_HURRY = "TIMEOUT = 80_000"
LINES = ('ANNOUNCE = "Let me look."', 'COMPLETE = "Here it is."', 'FAIL = "It did not answer."')
FAILS = "from kotoba.core.loop import note_tool_failure\nnote_tool_failure('502')\nreturn 'The harbour is down.'"


async def with_tool(
    make_rig: MakeRig,
    folder: Path,
    body: str,
    *answers: Any,
    lines: tuple[str, ...] = LINES,
    is_reasoning: bool = False,
) -> Rig:
    """A box with one tool module, and a model that answers so."""
    file = folder / "plugins" / "sea" / "tides.py"
    file.parent.mkdir(parents=True)
    file.write_text(tool_source("tides", body, NO_HURRY, *lines), encoding="utf-8")
    rig = await make_rig(model=FakeModelEndpoint(*answers, is_reasoning=is_reasoning))
    rig.quiet_step_seconds = 0.01
    return rig


def outputs(rig: Rig) -> list[str]:
    """What the model was told of its calls."""
    assert rig.model is not None
    items = rig.model.requests[-1].items
    return [str(item["output"]) for item in items if item["type"] == "function_call_output"]


@pytest.mark.contract("K-072", "K-073", "K-076", "K-077")
async def test_the_face_at_the_end_is_that_of_the_reply_and_not_of_the_success(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    answers = calls(("tides", {})), says("[excited] The water is high.")
    rig = await with_tool(make_rig, tmp_path, "return 'high'", *answers)
    await rig.asks("How is the tide?")
    assert rig.said == ["Let me look.", "Here it is.", "The water is high."]
    faces = [(fact.emotion, fact.source) for fact in rig.told(EmotionChanged)]
    assert faces == [(Emotion.THINKING, "focus"), (Emotion.EXCITED, "reply")]


@pytest.mark.contract("K-062", "K-072", "K-074", "K-109")
async def test_a_failure_is_said_and_shown_and_the_model_tells_the_rest(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await with_tool(make_rig, tmp_path, FAILS, calls(("tides", {})), says("I could not find out."))
    await rig.asks("How is the tide?")
    assert rig.said == ["Let me look.", "It did not answer.", "I could not find out."]
    assert outputs(rig)[0].startswith("The harbour is down. [This call failed.")
    faces = [(fact.emotion, fact.source) for fact in rig.told(EmotionChanged)]
    assert faces == [(Emotion.THINKING, "focus"), (Emotion.SAD, "fail")]


@pytest.mark.contract("K-065")
async def test_the_owners_soul_has_the_last_word_on_each_line(make_rig: MakeRig, tmp_path: Path) -> None:
    soul = tmp_path / "soul" / "default.md"
    soul.parent.mkdir()
    soul.write_text(
        'name: Pip\n---\n## Tool voice patterns\ntides:\n  before: "Off to the harbour."\n  after: ""\n',
        encoding="utf-8",
    )
    answers = calls(("tides", {})), says("High."), calls(("tides", {"day": 2})), says("Nobody knows.")
    body = f"if not args:\n    return 'high'\n{FAILS}"
    rig = await with_tool(make_rig, tmp_path, body, *answers)

    await rig.asks("How is the tide?")
    await rig.asks("And tomorrow?")

    failure = ["Off to the harbour.", "It did not answer.", "Nobody knows."]
    assert rig.said == ["Off to the harbour.", "High.", *failure]


@pytest.mark.contract("K-066", "K-115")
async def test_around_a_tool_without_lines_the_box_is_silent(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await with_tool(make_rig, tmp_path, "return 'high'", calls(("tides", {})), says("High."), lines=())
    await rig.asks("How is the tide?")
    assert rig.said == ["High."]
    assert rig.told(Narrated) == []


@pytest.mark.contract("K-068")
async def test_a_model_that_tells_by_itself_what_it_does_gets_no_lines(make_rig: MakeRig, tmp_path: Path) -> None:
    answers = calls(("tides", {})), says("High.")
    rig = await with_tool(make_rig, tmp_path, "return 'high'", *answers, is_reasoning=True)
    await rig.asks("How is the tide?")
    assert rig.said == ["High."]
    assert {fact.kind for fact in rig.told(Narrated)} <= {LineKind.HUM}


@pytest.mark.contract("K-101")
async def test_asking_again_after_a_refusal_that_nobody_noted_is_told_that_it_is_done(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    again = calls(("tides", {"where": "/etc"}), first_id=2)
    body = "RAN.append(1)\nreturn 'I will not do that.' if len(RAN) == 1 else 'ran again'"
    answers = calls(("tides", {"where": "/etc"})), again, says("Then not.")
    rig = await with_tool(make_rig, tmp_path, body, *answers, lines=(*LINES, "RAN = []"))
    await rig.types("How is the tide?")
    first, second = outputs(rig)
    assert first == "I will not do that."
    assert "already done" in second


@pytest.mark.contract("K-105")
async def test_asking_again_after_a_noted_refusal_is_told_that_it_never_ran(make_rig: MakeRig, tmp_path: Path) -> None:
    again = calls(("tides", {}), first_id=2)
    body = "from kotoba.core.loop import note_tool_refusal\nnote_tool_refusal(ctx)\nreturn 'I will not.'"
    rig = await with_tool(make_rig, tmp_path, body, calls(("tides", {})), again, says("Then not."))
    await rig.asks("How is the tide?")
    assert rig.said == ["Let me look.", "Then not."]
    first, second = outputs(rig)
    assert first == "I will not."
    assert "never ran" in second
