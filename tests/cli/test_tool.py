"""``tool list``, ``run`` and ``why``; and tools of strangers that misbehave in every way."""

from __future__ import annotations

import json

import pytest

from tests.cli.scripted_model import ScriptedModel
from tests.cli.shell import Process, Shell
from tests.responses_server import Answer, Call


def _tool(shell: Shell, name: str, body: str, *attributes: str) -> None:
    """Put a tool module into the home."""
    schema = f'SCHEMA = {{"type": "function", "name": "{name}", "description": "Tool {name}. It is a test."}}'
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    attributes = ("import asyncio, sys, time", schema, *attributes)
    shell.write(f"plugins/{name}/{name}.py", "\n".join((*attributes, "async def execute(args, ctx):", lines)) + "\n")


def _outputs(model: ScriptedModel) -> list[str]:
    """What the second request told the model of its calls."""
    return [item["output"] for item in model.requests[1].body["input"] if item["type"] == "function_call_output"]


def test_list_shows_every_tool_with_its_risk_and_where_it_comes_from(shell: Shell) -> None:
    ran = shell("tool", "list")
    assert (ran.code, ran.err) == (0, "")
    lines = {line.split()[0]: line for line in ran.out.splitlines()}
    assert lines["roll_dice"].split()[1:3] == ["read", "plugin:dice"]
    assert lines["box_timer_set"].split()[1:3] == ["write", "box"]
    assert "Start a countdown timer" in lines["box_timer_set"]
    assert "not offered: it is for the box's own brain" in lines["box_repeat"]


def test_list_in_json_has_the_whole_description(shell: Shell) -> None:
    tools = {tool["name"]: tool for tool in shell("tool", "list", "--json").json}
    assert tools["roll_dice"]["why_not"] == ""
    assert "A coin flip is one die" in tools["roll_dice"]["description"]


def test_list_tells_which_plugin_could_not_be_loaded_and_shows_the_others(shell: Shell) -> None:
    shell.write("plugins/torn/torn.py", "SCHEMA = {\n")
    ran = shell("tool", "list")
    assert ran.code == 0 and "roll_dice" in ran.out
    assert ran.err.startswith("appliance: torn/torn.py: it is not loaded: ") and ran.err.count("\n") == 1


def test_run_prints_the_result(shell: Shell) -> None:
    ran = shell("tool", "run", "calculate", '{"expression": "6 * 7"}')
    assert (ran.code, ran.err) == (0, "")
    assert "42" in ran.out


def test_run_in_json_tells_the_outcome(shell: Shell) -> None:
    result = shell("tool", "run", "calculate", '{"expression": "6 * 7"}', "--json").json
    assert (result["outcome"], result["error"]) == ("ok", "") and "42" in result["text"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ('{"sides": ', "are not JSON"),
        ("[1]", "one JSON object"),
        ('"six"', "one JSON object"),
        ("0", "one JSON object"),
    ],
)
def test_arguments_that_are_no_json_object_are_a_usage_error(shell: Shell, arguments: str, sentence: str) -> None:
    ran = shell("tool", "run", "roll_dice", arguments)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err and "'{\"sides\": 6}'" in ran.err


@pytest.mark.parametrize("action", ["run", "why"])
def test_a_tool_that_is_not_there_is_told_with_where_to_look(shell: Shell, action: str) -> None:
    ran = shell("tool", action, "make_coffee")
    assert ran.code == 2
    assert "no tool 'make_coffee'" in ran.err and "appliance tool list" in ran.err


def test_why_shows_exactly_what_a_model_gets(shell: Shell) -> None:
    ran = shell("tool", "why", "roll_dice")
    first, _, schema = ran.out.partition("\n")
    assert first == "roll_dice (read, from plugin:dice) is offered"
    with ScriptedModel(Answer(text="Hello.")) as model:
        shell("ask", "--text", "tell me a story", "--set", f"think.url={model.url}")
        sent = {tool["name"]: tool for tool in model.requests[0].body["tools"]}
    assert json.loads(schema).items() <= sent["roll_dice"].items()


def test_why_says_why_a_tool_is_not_offered(shell: Shell) -> None:
    _tool(shell, "tides", "return 'high'", "def check():", "    return False")
    ran = shell("tool", "why", "tides", "--json")
    assert "not available now" in ran.json["why_not"] and ran.json["schema"] == {}


def test_what_may_change_the_world_waits_for_a_hand_and_the_owner_may_lend_one(shell: Shell) -> None:
    _tool(shell, "reboot", "return 'rebooting'", 'RISK = "exec"')
    refused = shell("tool", "run", "reboot")
    assert (refused.code, refused.out) == (3, "")
    assert "reboot waits for a hand on the button" in refused.err and "--yes allows exactly this call" in refused.err
    allowed = shell("tool", "run", "reboot", "--yes")
    assert (allowed.code, allowed.out) == (0, "rebooting\n")
    entries = [line["entry"] for line in shell("audit", "--json").json]
    assert [(entry["kind"], entry["verdict"], entry["outcome"]) for entry in entries] == [
        ("decision", "unreachable", ""),
        ("decision", "approved", ""),
        ("intent", "approved", ""),
        ("result", "", "ok"),
    ]
    assert entries[2]["approver"].startswith("owner:")


# ----------------------------------------------------------------------------------- tools that misbehave

#: Name: its body, its other lines, what ``tool run`` says about it.
_BAD = {
    "raises": ("raise ValueError('no bread')", (), "ValueError: no bread"),
    "sleeps": ("await asyncio.sleep(3600)", ("TIMEOUT = 1",), "no answer within 1 s"),
    "hangs": ("time.sleep(30)", ("TIMEOUT = 1",), "no answer within 1 s"),
    "nothing": ("return None", (), "returned nothing"),
    "exits": ("sys.exit(3)", (), "it called sys.exit"),
    "interrupts": ("raise KeyboardInterrupt", (), "KeyboardInterrupt"),
}


@pytest.mark.parametrize("name", _BAD)
def test_a_tool_that_misbehaves_fails_with_a_sentence(shell: Shell, name: str) -> None:
    body, attributes, why = _BAD[name]
    _tool(shell, name, body, *attributes)
    ran = shell("tool", "run", name)
    assert (ran.code, ran.out) == (1, "")
    assert f"appliance: {name} ended as failed: " in ran.err and why in ran.err


@pytest.mark.parametrize("name", _BAD)
def test_a_tool_that_misbehaves_spoils_neither_its_turn_nor_the_next(shell: Shell, name: str) -> None:
    body, attributes, _ = _BAD[name]
    _tool(shell, name, body, *attributes)
    answers = (Answer(calls=[Call(name)]), Answer(text="That did not work."), Answer(text="I am still here."))
    with ScriptedModel(*answers) as model:
        words = ("talk", "--silent", "--json", "--set", f"think.url={model.url}")
        ran = shell(*words, stdin=f"please use {name}\nare you well, my friend\n")
        outputs = _outputs(model)
    assert (ran.code, ran.err) == (0, "")
    first, second = (json.loads(line) for line in ran.out.splitlines())
    assert (first["reason"], first["did"], first["reply"]) == ("answered", [f"{name} (failed)"], "That did not work.")
    assert (second["reason"], second["reply"]) == ("answered", "I am still here.")
    assert len(outputs) == 1 and "Do not make the same call again" in outputs[0]
    assert "bread" not in outputs[0]


def test_a_result_of_five_megabytes_reaches_the_model_cut(shell: Shell) -> None:
    _tool(shell, "chatters", "return 'word ' * 1_000_000")
    with ScriptedModel(Answer(calls=[Call("chatters")]), Answer(text="That was a lot.")) as model:
        ran = shell("ask", "--text", "please use chatters", "--set", f"think.url={model.url}")
        (output,) = _outputs(model)
    assert (ran.code, ran.out) == (0, "That was a lot.\n")
    assert len(output) < 20_000 and "4984000 more characters" in output


def test_a_tool_that_hangs_for_ever_does_not_keep_the_command_from_ending(process: Process) -> None:
    folder = process.home / "plugins" / "stuck"
    folder.mkdir(parents=True)
    (folder / "stuck.py").write_text(
        'SCHEMA = {"type": "function", "name": "stuck", "description": "Sticks."}\n'
        "TIMEOUT = 1\n"
        "import threading\n"
        "async def execute(args, ctx):\n"
        "    threading.Event().wait()\n"
    )
    ran = process("tool", "run", "stuck")
    assert ran.code == 1
    assert "no answer within 1 s" in ran.err


def test_a_thread_of_a_plugin_that_breaks_shows_no_traceback(process: Process) -> None:
    folder = process.home / "plugins" / "threads"
    folder.mkdir(parents=True)
    (folder / "threads.py").write_text(
        'SCHEMA = {"type": "function", "name": "threads", "description": "Threads."}\n'
        "import threading\n"
        "def work():\n"
        "    raise ValueError('lost thread')\n"
        "async def execute(args, ctx):\n"
        "    thread = threading.Thread(target=work, name='worker')\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "    return 'started'\n"
    )
    ran = process("tool", "run", "threads")
    assert (ran.code, ran.out) == (0, "started\n")
    assert ran.err == "appliance: the thread worker broke (ValueError: lost thread)\n"
