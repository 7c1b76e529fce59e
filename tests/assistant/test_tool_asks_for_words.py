"""A tool module asks the person for words in a spoken turn of a whole box."""

from __future__ import annotations

from pathlib import Path

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.control import Control
from appliance.events import EndReason
from appliance.home import Home
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig
from tests.contracts.input_rig import ASK
from tests.contracts.rig import tool_source

#: A thread of a plugin takes real time; the clock of this world may run far meanwhile.
PATIENCE_SECONDS = 50_000.0
QUESTION = ("The tool, post, wants to know: Your postal code?", "A question from the tool, post: Your postal code?")


async def asked(make_rig: MakeRig, folder: Path, kind: str = "text") -> Rig:
    """A box whose tool was called, and asks."""
    home = Home(folder)
    home.make()
    ask = ASK.replace('args.get("kind", "text")', repr(kind))
    (home.plugins_folder / "post.py").write_text(tool_source("post", ask, "INTERACTIVE = True"), encoding="utf-8")
    rig = await make_rig(model=FakeModelEndpoint(calls(("post", {})), says("Thank you.")))
    await rig.hears(WAKE_WORD, "Find my post office.")
    return rig


def outputs(rig: Rig) -> list[str]:
    """What the model was told about its calls."""
    assert rig.model is not None
    return [item["output"] for item in rig.model.requests[-1].items if item["type"] == "function_call_output"]


async def test_it_is_asked_aloud_and_what_the_person_says_is_the_answer(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await asked(make_rig, tmp_path)
    await rig.until(lambda: rig.said and rig.is_ear_open, PATIENCE_SECONDS)
    assert rig.said[0] in QUESTION
    assert rig.box.assistant.state == "asking"

    await rig.hears("ten zero one")
    await rig.until(lambda: rig.endings, PATIENCE_SECONDS)

    assert outputs(rig) == ["approved ten zero one"]
    assert rig.endings == [EndReason.ANSWERED]
    assert rig.said[1:] == ["Thank you."]


async def test_who_says_stop_ends_the_turn(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await asked(make_rig, tmp_path)
    await rig.until(lambda: rig.said and rig.is_ear_open, PATIENCE_SECONDS)
    await rig.hears("Stop.")
    await rig.until(lambda: rig.endings, PATIENCE_SECONDS)
    assert rig.endings == [EndReason.STOPPED]


async def test_a_secret_is_typed_at_a_shell_while_the_turn_waits(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await asked(make_rig, tmp_path, "secret")
    control: Control = rig.control
    await rig.until(lambda: rig.said, PATIENCE_SECONDS)
    (waiting,) = await control.call("answer.waiting")
    assert waiting == {
        "number": "1",
        "plugin": "post",
        "tool": "post",
        "label": "Your postal code",
        "detail": "",
        "is_secret": True,
    }
    assert rig.said[0].startswith("The tool, post, needs a secret: Your postal code.")
    assert not rig.is_ear_open

    await control.call("answer.give", {"number": "1", "text": "swordfish"})
    await rig.until(lambda: rig.endings, PATIENCE_SECONDS)

    assert outputs(rig) == ["approved swordfish"]
    assert await control.call("answer.waiting") == []
    assert all("swordfish" not in str(fact) for fact in rig.facts)
