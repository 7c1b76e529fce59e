"""Plugins that have a say in a spoken turn."""

from __future__ import annotations

import json
from pathlib import Path

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, says
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig

HUSH = """
def pre_chat(event):
    event.metadata["system"].tts.stop()
    event.metadata["system"].cancel_generation()
    event.skip_llm = event.ephemeral = event.stop_propagation = True
    event.response = "Stopped."
"""
HOOKS = """
def post_stt(event):
    event.input = event.input.replace("grey", "gray")

def prompt_inject(event):
    event.context_parts.append("The person likes short answers.")

def post_llm(event):
    event.response = event.response.replace("very ", "")
"""


async def box_with_plugin(make_rig: MakeRig, tmp_path: Path, model: FakeModelEndpoint, hooks: str = "") -> Rig:
    """A box with one plugin: two voice commands, and the hooks."""
    folder = tmp_path / "plugins" / "words"
    folder.mkdir(parents=True)
    names = ("post_stt", "prompt_inject", "post_llm") if hooks else ()
    manifest = {
        "name": "words",
        "default_enabled": True,
        "capabilities": {
            "hooks": dict.fromkeys(names, "hooks.py"),
            "voice_commands": [{"triggers": ["enough chatter", "stop"], "bypass_llm": True, "handler": "hush.py"}],
        },
    }
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "hush.py").write_text(HUSH)
    (folder / "hooks.py").write_text(hooks)
    rig = await make_rig(model=model)
    # Plugins run on real threads, and their budget is the time of this world: it must not race ahead.
    rig.quiet_step_seconds = 0.01
    return rig


async def test_a_voice_command_is_answered_without_a_model_and_leaves_no_trace(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    rig = await box_with_plugin(make_rig, tmp_path, FakeModelEndpoint())
    await rig.asks("Enough chatter!")
    assert rig.said == ["Stopped."], "what silences the box does not silence its answer"
    assert rig.model is not None and rig.model.requests == []
    assert await rig.history() == []


async def test_the_boxs_own_stop_is_not_a_plugins_to_take(make_rig: MakeRig, tmp_path: Path) -> None:
    rig = await box_with_plugin(make_rig, tmp_path, FakeModelEndpoint())
    await rig.asks("Stop.")
    assert "Stopped." not in rig.said


async def test_what_plugins_make_of_a_turn_is_heard_asked_said_and_kept(make_rig: MakeRig, tmp_path: Path) -> None:
    model = FakeModelEndpoint(says("It is ", "very gray."))
    rig = await box_with_plugin(make_rig, tmp_path, model, HOOKS)
    await rig.asks("Is the sky grey?")
    assert rig.said == ["It is gray."]
    (request,) = model.requests
    assert "Is the sky gray?" in str(request.items)
    assert request.instructions.endswith("The person likes short answers.")
    (turn,) = await rig.history()
    assert (turn.user_text, turn.reply_text, turn.heard_text) == ("Is the sky gray?", "It is gray.", "It is gray.")
