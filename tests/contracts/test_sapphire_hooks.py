"""The moments of a turn at which plugins of the second contract are asked, and what becomes of what they say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from appliance.adapters.fakes.brain import FakeBrain
from appliance.contracts.sapphire.turn_hooks import Moment
from appliance.events import Outcome
from appliance.think.brain import BrainAnswer, Hands, Question
from appliance.think.items import assistant_message, call_output
from appliance.tools.registry import ToolSelection
from appliance.tools.tool import ToolCall, ToolResult
from tests.contracts.sapphire_rig import SapphireRig, tool_file

MOMENT = Moment("turn-1", "chat-1")


async def hook(box: SapphireRig, event: str, body: str, name: str = "p", **manifest: Any) -> None:
    """A plugin with one hook (and the tool ``probe`` of a plugin called test), loaded."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    source = f"SEEN = []\n\ndef {event}(event):\n{lines}\n"
    box.plugin(name, {"hook.py": source}, capabilities={"tools": [], "hooks": {event: "hook.py"}}, **manifest)
    box.plugin("test", {"tools/probe.py": tool_file("probe", "return f'ran with {arguments}', True")})
    await box.load()
    assert box.sentences == []


async def test_what_was_heard_is_put_right_before_anything_else(box: SapphireRig) -> None:
    await hook(box, "post_stt", "event.input = event.input.replace('nap you', 'Nabu')\nassert event.metadata['system']")
    assert await box.beside.turn.heard(MOMENT, "hello nap you") == "hello Nabu"


async def test_nobody_who_listens_changes_nothing(box: SapphireRig) -> None:
    turn = box.beside.turn
    assert await turn.heard(MOMENT, "hello") == "hello"
    heeded = await turn.before_chat(MOMENT, "hello")
    assert (heeded.text, heeded.answer) == ("hello", None)


@pytest.mark.parametrize(
    ("body", "text", "answer"),
    [
        ("event.input = 'other'", "other", None),
        (
            "event.skip_llm = True\nevent.response = 'Done.'",
            "hello",
            BrainAnswer("Done.", (assistant_message("Done."),)),
        ),
        (
            "event.skip_llm = event.ephemeral = True\nevent.response = 'Hush.'",
            "hello",
            BrainAnswer("Hush.", (assistant_message("Hush."),), is_remembered=False),
        ),
        ("event.skip_llm = True", "hello", BrainAnswer("", (assistant_message(""),), is_remembered=False)),
        ("event.response = 'not asked for'", "hello", None),
        ("event.input = 'half'\nraise ValueError('no')", "half", None),
        ("event.input = 7", "hello", None),
    ],
)
async def test_before_a_brain_a_plugin_may_change_or_answer(
    box: SapphireRig, body: str, text: str, answer: BrainAnswer | None
) -> None:
    await hook(box, "pre_chat", body)
    heeded = await box.beside.turn.before_chat(MOMENT, "hello")
    assert (heeded.text, heeded.answer) == (text, answer)


async def test_the_model_gets_what_plugins_add_for_this_one_question(box: SapphireRig) -> None:
    await hook(box, "prompt_inject", "event.context_parts.append(f'It rains in {event.chat_name}.')")
    await hook(box, "ghost_inject", "event.ghost_text = 'g' * 5000", name="ghost")
    brain = FakeBrain([BrainAnswer("Yes.")])
    await answered(box, brain)
    assert brain.questions[0].context == ("It rains in chat-1.", "g" * 2048)


async def test_an_answer_that_plugins_see_first_is_said_as_they_want_it(box: SapphireRig) -> None:
    await hook(box, "post_llm", "event.response = event.response.replace('damn ', '')")
    items = (call_output("c1", "rain"), assistant_message("It is damn wet."))
    said, answer = await answered(box, FakeBrain(["It is damn wet.", BrainAnswer("It is damn wet.", items)]))
    assert said == ["It is wet."]
    assert answer.reply_text == "It is wet."
    assert answer.items == (items[0], assistant_message("It is wet."))


async def test_without_such_a_plugin_an_answer_is_said_while_it_comes(box: SapphireRig) -> None:
    said, _ = await answered(box, FakeBrain(["It is", " wet."]))
    assert said == ["It is", " wet."]


async def test_what_was_said_is_told_behind_the_turn(box: SapphireRig) -> None:
    await hook(
        box,
        "post_chat",
        "from core.plugin_loader import plugin_loader\n"
        "plugin_loader.get_plugin_state('p').save('seen', [event.input, event.response, event.chat_name])",
    )
    box.beside.turn.after_chat(MOMENT, "how is it", "fine")
    await box.beside.turn.close()
    assert box.contract.states.of("p").get("seen") == ["how is it", "fine", "chat-1"]


async def test_the_wake_word_is_told_and_nobody_waits_for_it(box: SapphireRig) -> None:
    await hook(
        box,
        "on_wake",
        "from core.plugin_loader import plugin_loader\nplugin_loader.get_plugin_state('p').save('woken', True)",
    )
    box.is_private = True
    box.beside.turn.woke("okay nabu")
    await box.beside.turn.close()
    assert box.contract.states.of("p").get("woken") is True


async def test_a_private_chat_is_told_to_plugins_that_are_aware_of_privacy_alone(box: SapphireRig) -> None:
    await hook(box, "pre_chat", "event.input += ' heard'")
    await hook(box, "pre_chat", "event.input += ' kept'", name="aware", privacy_aware=True)
    box.is_private = True
    assert (await box.beside.turn.before_chat(MOMENT, "a secret")).text == "a secret kept"
    box.is_private = False
    assert (await box.beside.turn.before_chat(MOMENT, "no secret")).text.count("heard") == 1


# ------------------------------------------------------------------------------------------------ around calls


async def test_what_a_plugin_makes_of_a_call_is_what_is_decided_recorded_and_run(box: SapphireRig) -> None:
    await hook(box, "pre_execute", "assert event.function_name == 'probe'\nevent.arguments['path'] = '/safe'")
    assert (await box.call(path="/etc")).text == "ran with {'path': '/safe'}"
    assert json.loads(box.desk.requests[0].arguments_json) == {"path": "/safe"}


async def test_a_plugin_may_give_the_result_instead(box: SapphireRig) -> None:
    await hook(box, "pre_execute", "event.skip_llm = True\nevent.result = 'Not today.'")
    result = await box.call()
    assert (result.text, result.outcome) == ("Not today.", Outcome.OK)
    assert box.desk.requests == [], "what does not run needs no permission"


async def test_a_call_that_is_skipped_without_a_word_says_so(box: SapphireRig) -> None:
    await hook(box, "pre_execute", "event.skip_llm = True")
    result = await box.call()
    assert (result.text, result.outcome) == ("Execution skipped by plugin.", Outcome.REFUSED)


async def test_the_end_of_a_call_is_told(box: SapphireRig) -> None:
    await hook(
        box,
        "post_execute",
        "from core.plugin_loader import plugin_loader\n"
        "plugin_loader.get_plugin_state('p').save('seen', [event.function_name, event.arguments, event.result])",
    )
    await box.call(size=2)
    assert box.contract.states.of("p").get("seen") == ["probe", {"size": 2}, "ran with {'size': 2}"]


# ------------------------------------------------------------------------------------------------------ loading


async def test_plugins_hear_when_all_are_loaded(box: SapphireRig) -> None:
    await hook(
        box,
        "plugins_ready",
        "from core.plugin_loader import plugin_loader\n"
        "plugin_loader.get_plugin_state('p').save('seen', event.metadata)",
    )
    assert box.contract.states.of("p").get("seen") == {"loaded": ["p", "test"], "reason": "scan"}


async def test_a_moment_that_never_comes_here_is_told_to_the_author(box: SapphireRig) -> None:
    capabilities: Mapping[str, Any] = {"tools": [], "hooks": {"pre_tts": "hook.py"}}
    box.plugin("p", {"hook.py": "def pre_tts(event): pass\n"}, capabilities=capabilities)
    await box.load()
    (sentence,) = box.sentences
    assert sentence.startswith("p: its hook pre_tts is never called on this box: ")


async def answered(box: SapphireRig, brain: FakeBrain) -> tuple[list[str], BrainAnswer]:
    """A question to the model through the plugins; what was said, piece by piece, and the answer."""
    said: list[str] = []

    async def run(call: ToolCall) -> ToolResult:
        raise AssertionError(f"no tool is called here, not {call.name}")

    hands = Hands(said.append, run, ToolSelection(), lambda: "call")
    answer = await box.beside.turn.answered(MOMENT, brain, Question("turn-1", "How is it?", "voice"), hands)
    return said, answer
