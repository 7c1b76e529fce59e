"""The owner's soul in a whole box: who it is, and what an edit changes while it runs."""

from __future__ import annotations

from pathlib import Path

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, says
from appliance.home import Home
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig

PIP = "name: Pip\n---\n## Personality\nYou collect teapots.\n## Quirks\n- You hum.\n"


def write_soul(folder: Path, text: str) -> None:
    file = Home(folder).soul_file
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")


def instructions(model: FakeModelEndpoint) -> str:
    return model.requests[-1].instructions


async def follows(rig: Rig) -> None:
    """Let the box see the edit."""
    seen = rig.box.soul.soul
    await rig.until(lambda: rig.box.soul.soul is not seen, at_most_seconds=10_000.0)
    await rig.runs(1.0)


async def test_its_personality_reaches_the_model_and_its_name_the_person(make_rig: MakeRig, tmp_path: Path) -> None:
    write_soul(tmp_path, PIP)
    model = FakeModelEndpoint(says("Hello."))
    rig = await make_rig(model=model)
    await rig.asks("Tell me about yourself.")

    assert "You are Pip" in instructions(model)
    assert "You collect teapots." in instructions(model)
    assert "- You hum." in instructions(model)
    assert (await rig.control.call("status"))["soul"] == []
    report = await rig.control.call("tool.run", {"name": "box_who", "arguments": {}})
    assert "Pip" in report["text"]


async def test_the_name_in_the_settings_is_stronger(make_rig: MakeRig, tmp_path: Path) -> None:
    write_soul(tmp_path, PIP)
    rig = await make_rig(settings={"box.name": "Ada"})
    report = await rig.control.call("tool.run", {"name": "box_who", "arguments": {}})
    assert "Ada" in report["text"]


async def test_an_edit_counts_from_the_next_turn(make_rig: MakeRig, tmp_path: Path) -> None:
    model = FakeModelEndpoint(says("Hello."), says("Hello."))
    rig = await make_rig(model=model)
    await rig.asks("Tell me about yourself.")
    assert "teapots" not in instructions(model)

    write_soul(tmp_path, PIP)
    await follows(rig)
    await rig.asks("Tell me about yourself.")

    assert "You are Pip" in instructions(model)
    assert "You collect teapots." in instructions(model)
    report = await rig.control.call("tool.run", {"name": "box_who", "arguments": {}})
    assert "Pip" in report["text"]
    assert rig.said == ["Hello.", "Hello."]


async def test_a_broken_soul_is_said_once_and_the_shipped_one_speaks(make_rig: MakeRig, tmp_path: Path) -> None:
    write_soul(tmp_path, "nothing")
    model = FakeModelEndpoint(says("Hello."))
    rig = await make_rig(model=model)
    await rig.until(lambda: rig.said)
    await rig.rests()

    assert [" ".join(rig.said)] == rig.sentences("assistant.soul_note")
    (problem,) = (await rig.control.call("status"))["soul"]
    assert "the shipped one is used" in problem
    await rig.asks("Tell me about yourself.")
    assert "You are Wren" in instructions(model)


async def test_a_soul_that_breaks_while_it_runs_is_said_then(make_rig: MakeRig, tmp_path: Path) -> None:
    write_soul(tmp_path, PIP)
    rig = await make_rig()
    write_soul(tmp_path, "")
    await follows(rig)
    await rig.until(lambda: rig.said)
    await rig.rests()
    assert [" ".join(rig.said)] == rig.sentences("assistant.soul_note")
