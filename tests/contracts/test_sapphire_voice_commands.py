"""Words that reach a plugin without a model."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.contracts.sapphire.turn_hooks import Moment
from tests.contracts.sapphire_rig import SapphireRig

MOMENT = Moment("turn-1", "chat-1")
#: The handler of the author's page, but for the words.
HANDLER = """
COUNT = []

def pre_chat(event):
    system = event.metadata.get("system")
    if system:
        if hasattr(system, "tts") and system.tts:
            system.tts.stop()
        if hasattr(system, "cancel_generation"):
            system.cancel_generation()
        if hasattr(system, "toggle_wakeword"):
            system.toggle_wakeword(False)
    COUNT.append(event.input)
    event.skip_llm = True
    event.ephemeral = True
    event.response = f"Stopped {len(COUNT)}."
    event.stop_propagation = True
"""


async def commands(box: SapphireRig, *declared: dict[str, Any], **manifest: Any) -> None:
    """A plugin with these voice commands, all with the one handler."""
    whole = [{"handler": "hooks/stop.py", "bypass_llm": True, **command} for command in declared]
    box.plugin("p", {"hooks/stop.py": HANDLER}, capabilities={"tools": [], "voice_commands": whole}, **manifest)
    await box.load()


async def says(box: SapphireRig, text: str) -> str | None:
    """What the box answers without a model; None when a model is asked."""
    answer = (await box.beside.turn.before_chat(MOMENT, text)).answer
    return None if answer is None else answer.reply_text


@pytest.mark.parametrize(
    "text", ["be quiet", " Be Quiet ", "Be quiet.", "Um, be quiet!", "Okay Nabu, be quiet.", "BE  QUIET"]
)
async def test_exact_words_are_heard_however_whisper_writes_them(box: SapphireRig, text: str) -> None:
    await commands(box, {"triggers": ["halt", "be quiet"]})
    assert await says(box, text) == "Stopped 1."
    assert box.doors.asked == ["silence"], "the turn that says so goes on to its answer"


@pytest.mark.parametrize("text", ["please be quiet now", "be", "be quiet and sing", ""])
async def test_exact_is_exact(box: SapphireRig, text: str) -> None:
    await commands(box, {"triggers": ["be quiet"], "match": "exact"})
    assert await says(box, text) is None


@pytest.mark.parametrize(
    ("match", "trigger", "heard", "not_heard"),
    [
        ("starts_with", "Lights", ["Lights on!", "lights"], ["the lights on"]),
        ("contains", "weather", ["What's the weather?", "weather"], ["whether it rains"]),
        ("contains", "what's up", ["Hey, what's up?", "what is up"], ["what is down"]),
        ("regex", r"lights? (on|off)$", ["Light on.", "turn the LIGHTS OFF"], ["lights dim"]),
        ("regex", r"channel 5\b", ["Channel five, please"], ["channel 50"]),
    ],
)
async def test_the_other_ways_to_match(
    box: SapphireRig, match: str, trigger: str, heard: list[str], not_heard: list[str]
) -> None:
    await commands(box, {"triggers": [trigger], "match": match})
    assert [text for text in heard if await says(box, text) is None] == []
    assert [text for text in not_heard if await says(box, text) is not None] == []


async def test_each_command_runs_a_file_of_its_own(box: SapphireRig) -> None:
    await commands(box, {"triggers": ["one"]}, {"triggers": ["two"]})
    assert [await says(box, text) for text in ("one", "one", "two")] == ["Stopped 1.", "Stopped 2.", "Stopped 1."]


async def test_a_command_goes_before_the_hooks_of_its_band_and_stops_them(box: SapphireRig) -> None:
    box.plugin(
        "filter",
        {"f.py": "def handle(event):\n    event.input += ' filtered'\n"},
        capabilities={"tools": [], "hooks": {"pre_chat": "f.py"}},
        priority=25,
    )
    await commands(box, {"triggers": ["halt"]}, priority=90)
    heeded = await box.beside.turn.before_chat(MOMENT, "halt")
    assert (heeded.text, heeded.answer is not None) == ("halt", True)
    assert (await box.beside.turn.before_chat(MOMENT, "go on")).text == "go on filtered"


async def test_in_a_private_chat_only_an_aware_plugin_is_commanded(box: SapphireRig) -> None:
    await commands(box, {"triggers": ["halt"]})
    box.is_private = True
    assert await says(box, "halt") is None
    await commands(box, {"triggers": ["halt"]}, privacy_aware=True)
    assert await says(box, "halt") == "Stopped 1."


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"triggers": []}, "it has no triggers"),
        ({"triggers": ["a"], "match": "sounds_like"}, "'sounds_like' is none of exact"),
        ({"triggers": ["("], "match": "regex"}, "no regular expression"),
        ({"triggers": ["a"], "handler": "hooks/none.py"}, "there is no such file"),
        ({"triggers": ["a"], "handler": ""}, ".py file inside the plugin's folder"),
        ({"triggers": ["a"], "handler": "../other.py"}, ".py file inside the plugin's folder"),
    ],
)
async def test_a_command_that_cannot_be_used_is_told(box: SapphireRig, command: dict[str, Any], words: str) -> None:
    await commands(box, command, {"triggers": ["halt"]})
    (sentence,) = box.sentences
    assert words in sentence
    assert await says(box, "halt") == "Stopped 1."


async def test_the_commands_go_with_their_plugin(box: SapphireRig) -> None:
    await commands(box, {"triggers": ["halt"]})
    box.switch(disabled=("p",))
    await box.load()
    assert await says(box, "halt") is None
