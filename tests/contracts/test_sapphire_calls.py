"""How ``execute`` is called, and what its return means for the model and for the person."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from appliance.contracts.sapphire.coercion import coerced
from appliance.events import Outcome
from appliance.tools.tool import ToolImage
from tests.contracts.gate import Gate, until
from tests.contracts.sapphire_rig import SapphireRig, tool_entry, tool_file

# ----------------------------------------------------------------------------------------------- what goes in


@pytest.mark.contract(
    "S-005", "S-006", "S-007", "S-008", "S-009", "S-010", "S-011", "S-013", "S-175", "S-176", "S-177", "S-180", "S-183"
)
@pytest.mark.parametrize(
    ("signature", "shown"),
    [
        ("function_name, arguments, config", "('probe', {'a': 1}, 'config')"),
        ("x, y, z", "('probe', {'a': 1}, 'config')"),
        ("n, a, c, plugin_settings=None", "('probe', {'a': 1}, 'config', {'k': 7})"),
        ("n, a, c, plugin_settings=None, credentials=None", "('probe', {'a': 1}, 'config', {'k': 7}, 'PluginC')"),
        ("n, a, c, credentials", "('probe', {'a': 1}, 'config', {'k': 7})"),
        ("n, a, c, s, k, sixth='six'", "('probe', {'a': 1}, 'config', {'k': 7}, 'PluginC')"),
        ("*given", "('probe', {'a': 1}, 'config')"),
    ],
)
async def test_execute_gets_as_many_arguments_as_it_takes_by_position(
    box: SapphireRig, signature: str, shown: str
) -> None:
    """S-177, S-180, S-183 too."""
    names = [part.strip(" *").split("=")[0] for part in signature.split(",")]
    given = "given" if signature == "*given" else f"({', '.join(names)})"
    body = (
        f"given = {given}\n"
        "show = [p.__name__ if hasattr(p, '__name__') else type(p).__name__[:7] if hasattr(p, 'get_ha_token') else p"
        " for p in given]\n"
        "return str(tuple(p for p in show if p != 'six')), True"
    )
    fields = [{"key": "k", "type": "number", "default": 7}]
    box.plugin(
        "test", {"tools/probe.py": tool_file("probe", body, arguments=signature)}, capabilities={"settings": fields}
    )
    await box.load()
    result = await box.call(a=1)
    assert (result.text, result.outcome) == (shown, Outcome.OK)


@pytest.mark.contract("S-178")
async def test_an_execute_that_cannot_be_inspected_gets_five(box: SapphireRig) -> None:
    odd = "class Odd:\n    __signature__ = 'none'\n    def __call__(self, *given):\n        return str(len(given))\n"
    box.plugin("test", {"tools/probe.py": f"{odd}TOOLS = [{tool_entry('probe')}]\nexecute = Odd()\n"})
    await box.load()
    assert (await box.call()).text == "5"


@pytest.mark.contract("S-181", "S-182")
@pytest.mark.parametrize("signature", ["a, b", "a, b, **k", "a, b, c, *, plugin_settings=None"])
async def test_a_signature_that_does_not_fit_ends_in_an_error_text(box: SapphireRig, signature: str) -> None:
    await box.load_tool("return 'ran', True", arguments=signature)
    result = await box.call()
    assert result.outcome is Outcome.FAILED
    assert result.text.startswith("Error executing probe: execute() takes ")


@pytest.mark.contract("S-185")
async def test_config_and_credentials_are_the_shared_ones(box: SapphireRig) -> None:
    await box.load_tool(
        "import config as root\nfrom core.credentials_manager import credentials as shared\n"
        "return str((config is root, credentials is shared)), True",
        arguments="n, a, config, settings, credentials",
    )
    assert (await box.call()).text == "(True, True)"


@pytest.mark.parametrize(
    ("kind", "given", "meant"),
    [
        ("integer", "2", 2),
        ("integer", "2.0", 2),
        ("integer", 2.5, 2.5),
        ("number", "2.5", 2.5),
        ("number", " 3 ", 3),
        ("boolean", "Yes", True),
        ("boolean", "0", False),
        ("boolean", "perhaps", "perhaps"),
        ("string", 5, 5),
        ("string", "5", "5"),
        ("object", "5", "5"),
    ],
)
def test_texts_become_what_the_schema_says(kind: str, given: Any, meant: Any) -> None:
    assert coerced({"x": given, "extra": "1"}, {"properties": {"x": {"type": kind}}}) == (
        {"x": meant, "extra": "1"},
        [],
    )


def test_lists_of_numbers_may_be_written_as_text() -> None:
    parameters = {"properties": {"x": {"type": "array", "items": {"type": "integer"}}}}
    assert coerced({"x": "1, 2,3"}, parameters) == ({"x": [1, 2, 3]}, [])
    assert coerced({"x": ["1", 2]}, parameters) == ({"x": [1, 2]}, [])
    assert coerced({"x": "1, two"}, parameters)[1] == ["x must be a list of numbers, not '1, two'"]


@pytest.mark.parametrize("parameters", [{}, {"properties": []}, {"properties": {"x": "integer"}}])
def test_a_schema_that_says_nothing_changes_nothing(parameters: dict[str, Any]) -> None:
    assert coerced({"x": "2"}, parameters) == ({"x": "2"}, [])


async def test_a_number_that_is_none_is_not_passed_on(box: SapphireRig) -> None:
    properties = '{"level": {"type": "integer"}, "ratio": {"type": "number"}}'
    await box.load_tool("return repr(arguments), True", properties=properties)
    assert (await box.call(level="7")).text == "{'level': 7}"
    result = await box.call(level="2.5", ratio="nan")
    assert result.outcome is Outcome.FAILED
    assert result.text == (
        "Error: invalid argument type(s) for probe: level must be a whole number, not '2.5'; "
        "ratio must be a number, not 'nan'. It was not run."
    )


# --------------------------------------------------------------------------------------------- what comes out


@pytest.mark.contract("S-014", "S-015", "S-016", "S-186", "S-187", "S-188", "S-189", "S-190", "S-194", "S-196")
@pytest.mark.parametrize(
    ("returned", "text", "outcome"),
    [
        ("('done', True)", "done", Outcome.OK),
        ("('Unknown function', False)", "Unknown function", Outcome.FAILED),
        ("'ok'", "ok", Outcome.OK),
        ("None", "(no output)", Outcome.OK),
        ("(None, True)", "(no output)", Outcome.OK),
        ("{'a': 1}", "{'a': 1}", Outcome.OK),
        ("('a', True, 3)", "('a', True, 3)", Outcome.OK),
        ("('a', 1)", "('a', 1)", Outcome.OK),
        ("('a', None)", "('a', None)", Outcome.OK),
        ("['a', False]", "['a', False]", Outcome.OK),
        ("(12, False)", "12", Outcome.FAILED),
        ("('half \\ud83d', True)", "half \ufffd", Outcome.OK),
    ],
)
async def test_only_a_pair_with_a_real_bool_says_how_it_went(
    box: SapphireRig, returned: str, text: str, outcome: Outcome
) -> None:
    await box.load_tool(f"return {returned}")
    result = await box.call()
    assert (result.text, result.outcome, result.images) == (text, outcome, ())


@pytest.mark.contract("S-023", "S-195")
async def test_pictures_come_along_and_what_is_none_is_left_out(box: SapphireRig) -> None:
    pictures = (
        "[{'data': 'aGk=', 'media_type': 'image/png'}, {'data': 'aGk=', 'display_only': True, 'type': 'x'}, "
        "{'data': '?'}, {}, 'junk']"
    )
    await box.load_tool(f"return {{'text': 'Two.', 'images': {pictures}}}, True")
    result = await box.call()
    assert result.text == "Two."
    assert result.images == (ToolImage(b"hi", "image/png"), ToolImage(b"hi", "image/jpeg", True))


@pytest.mark.contract("S-192")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("raise ValueError('no such lamp')", "Error executing probe: no such lamp"),
        ("raise KeyError", "Error executing probe: KeyError"),
        ("raise SystemExit(0)", "Error executing probe: it tried to end the program (SystemExit)"),
        ("raise KeyboardInterrupt", "Error executing probe: it tried to end the program (KeyboardInterrupt)"),
        ("return Broken(), True", "Error executing probe: no text"),
    ],
)
async def test_whatever_a_tool_raises_becomes_a_failed_call(box: SapphireRig, line: str, text: str) -> None:
    """SystemExit does not escape as it does in the original: it must not end the box."""
    await box.load_tool(line, "class Broken:\n    def __str__(self):\n        raise ValueError('no text')")
    result = await box.call()
    assert (result.text, result.outcome) == (text, Outcome.FAILED)


async def test_an_async_execute_is_told_apart_instead_of_shown_as_a_coroutine(box: SapphireRig) -> None:
    source = tool_file("probe", "return 'x', True").replace("def execute", "async def execute")
    box.plugin("test", {"tools/probe.py": source})
    await box.load()
    result = await box.call()
    assert result.text == (
        "Error executing probe: its execute is an async def, which gives a coroutine; it must be a plain def"
    )
    assert result.outcome is Outcome.FAILED


async def test_a_very_long_answer_is_cut_with_a_notice(box: SapphireRig) -> None:
    await box.load_tool("return 'x' * 200_005, True")
    result = await box.call()
    assert result.text == "x" * 200_000 + "\n\n[cut here: 5 more characters]"


async def test_too_many_calls_in_one_turn_bring_the_authors_warning(box: SapphireRig) -> None:
    flags = "'loop_warn_after': 2, 'loop_warn_message': 'Call {count}!',"
    await box.load_tool("return 'ok', True", flags=flags)
    assert [(await box.call()).text for _ in range(3)] == ["ok", "ok\n\nCall 2!", "ok\n\nCall 3!"]


@pytest.mark.parametrize("flags", ["'loop_warn_after': 'x',", "'loop_warn_after': 0,", "'loop_warn_after': True,"])
async def test_a_warning_that_makes_no_sense_is_left_out(box: SapphireRig, flags: str) -> None:
    await box.load_tool("return 'ok', True", flags=flags)
    assert [(await box.call()).text for _ in range(2)] == ["ok", "ok"]


# ------------------------------------------------------------------------------------- threads, time, secrets


@pytest.mark.contract("S-155")
async def test_what_a_module_keeps_lives_between_calls(box: SapphireRig) -> None:
    """The page's cache with a time to live, by scope."""
    await box.load_tool(
        "from core.chat.function_manager import scope_rag\n"
        "scope = scope_rag.get()\n"
        "entry = _cache.get(scope)\n"
        "if entry and time.time() - entry['timestamp'] < CACHE_TTL:\n"
        "    return f'cached {entry[\"value\"]}', True\n"
        "_cache[scope] = {'value': len(_cache), 'timestamp': time.time()}\n"
        "return 'fetched', True",
        "import time\n_cache = {}\nCACHE_TTL = 60",
    )
    texts = [(await box.call(chat=chat)).text for chat in ("a", "a", "b", "a")]
    assert texts == ["fetched", "cached 0", "fetched", "cached 0"]


@pytest.mark.contract("S-154")
async def test_the_blacklist_of_the_page_works(box: SapphireRig) -> None:
    await box.load_tool(
        "blocked = _check_blacklist(arguments['command'])\nreturn (blocked, False) if blocked else ('ran', True)",
        'import re\nBLACKLIST = ["rm -rf /", "mkfs", "dd if=/dev", ":(){ :|:& };:"]\n'
        "def _check_blacklist(command):\n"
        "    for pattern in BLACKLIST:\n"
        "        try:\n"
        "            if re.search(pattern, command):\n"
        "                return f\"Blocked: matches '{pattern}'\"\n"
        "        except re.error:\n"
        "            if pattern in command:\n"
        "                return f\"Blocked: contains '{pattern}'\"\n"
        "    return None",
    )
    assert (await box.call(command="mkfs /dev/sda")).text == "Blocked: matches 'mkfs'"
    assert (await box.call(command="ls")).text == "ran"


async def test_two_calls_run_side_by_side_and_not_on_our_loop(box: SapphireRig, gate: Gate) -> None:
    await box.load_tool(
        "from tests.contracts.gate import GATES\nimport threading\n"
        "if arguments.get('wait'):\n    GATES[0].block()\n"
        "return str(threading.current_thread() is threading.main_thread()), True"
    )
    waiting = box.start("probe", chat="a", wait=True)
    await gate.reached()
    assert (await box.call(chat="b")).text == "False"
    gate.open()
    assert (await waiting).text == "False"


async def test_a_call_that_takes_too_long_fails_in_words(box: SapphireRig, gate: Gate) -> None:
    await box.load_tool("from tests.contracts.gate import GATES\nGATES[0].block()\nreturn 'late', True")
    call = box.start("probe")
    await gate.reached()
    await box.clock.advance(121)
    result = await call
    assert (result.text, result.outcome) == ("Error executing probe: no answer within 120 s", Outcome.FAILED)
    assert box.host.quarantine.abandoned("test") == 1


async def test_the_plugins_settings_may_change_its_budget(box: SapphireRig) -> None:
    tool = await box.load_tool("return 'x', True")
    assert tool.budget_seconds({}, box.context()) == 120
    await box.contract.save_settings("test", {"budget_seconds": 300})
    assert tool.budget_seconds({}, box.context()) == 300
    await box.contract.save_settings("test", {"budget_seconds": "long"})
    assert tool.budget_seconds({}, box.context()) == 120


async def test_a_plugin_that_hangs_again_and_again_is_paused(box: SapphireRig, gate: Gate) -> None:
    await box.load_tool("from tests.contracts.gate import GATES\nGATES[0].block()\nreturn 'late', True")
    for number in range(4):
        call = box.start("probe", chat=str(number))
        await gate.reached()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    await until(lambda: bool(box.host.quarantine.why_paused("test")))
    assert box.offered() == {}


@pytest.mark.contract("S-153")
async def test_a_known_secret_never_reaches_the_model(tmp_path: Path) -> None:
    box = SapphireRig(tmp_path, secrets={"HA_TOKEN": "tok-5550123-secret"})
    await box.load_tool(
        "token = credentials.get_ha_token()\n"
        "if arguments.get('raise'):\n    raise RuntimeError(f'denied: {token}')\n"
        "return f'token {token}', True",
        arguments="n, arguments, c, s, credentials",
    )
    assert (await box.call()).text == "token [secret]"
    failed = await box.call(**{"raise": True})
    assert failed.text == "Error executing probe: denied: [secret]"
    assert "5550123" not in failed.error
    await box.close()
