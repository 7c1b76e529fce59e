"""``plugin check`` on tool modules: every silent trap of the page is said aloud."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.contracts.author.checking import CheckReport, check
from appliance.errors import UsageError
from appliance.store.credentials import Credentials

SCHEMA = (
    'SCHEMA = {"type": "function", "name": "now", "description": "The time.", "parameters": '
    '{"type": "object", "properties": {"timeout": {"type": "integer", "description": "Seconds."}}, "required": []}}\n'
)
EXECUTE = "async def execute(args, ctx):\n    return 'noon'\n"
LINES = "FAIL = 'I have no time.'\n"
GOOD = SCHEMA + LINES + EXECUTE

#: Source of ``now.py``, and a piece of what is said; those of FAULTS also cost the exit code.
FAULTS = {
    "SCHEMA is JSON in a text": ("SCHEMA = '{}'\n" + EXECUTE, "its SCHEMA is not a dict, so the file is skipped"),
    "SCHEMA is missing": (EXECUTE, "it has no SCHEMA, so the file is skipped without a word"),
    "SCHEMA is missing, and yet it speaks": ("ANNOUNCE = 'x'\n", "it has no SCHEMA, so the file is skipped"),
    "TOOLS instead": ("TOOLS = []\ndef execute(a, b, c):\n    return 'x', True\n", "that is the other contract"),
    "not Python": ("SCHEMA = {\n", "it is not loaded: line 1 is not Python"),
    "a package that is missing": ("import no_such_package\n" + GOOD, "needs the Python package no_such_package"),
    "a name that is not offered": ("from kotoba.core.llm import x\n" + GOOD, "imports what this box does not offer"),
    "it raises": ("1 / 0\n" + GOOD, "it is not loaded: ZeroDivisionError"),
    "execute is missing": (SCHEMA + LINES, "it has no execute, so every call of it fails"),
    "execute is a plain def": (
        SCHEMA + LINES + EXECUTE.removeprefix("async "),
        "execute is a plain def and not an async",
    ),
    "execute takes one argument": (
        SCHEMA + LINES + "async def execute(args):\n    return ''\n",
        "must take two arguments",
    ),
    "the name is reserved": (GOOD.replace('"now"', '"box_now"'), "the name box_now is reserved"),
    "another API's form": (
        'SCHEMA = {"type": "function", "function": {"name": "now", "description": "x"}}\n' + LINES + EXECUTE,
        "which is another API's form",
    ),
    "no description": (GOOD.replace('"The time."', '""'), "now has no description"),
    "not plain JSON": (GOOD.replace('"The time."', "{1, 2}"), "its SCHEMA is not plain JSON"),
    "parameters are no object": (GOOD.replace('{"type": "object", ', "{"), '"type": "object"'),
    "properties are a list": (
        GOOD.replace('{"timeout": {"type": "integer", "description": "Seconds."}}', "[]"),
        'the "properties" of now are not an object',
    ),
    "required names nothing": (GOOD.replace('"required": []', '"required": ["place"]'), "requires 'place'"),
    "required is no list": (GOOD.replace('"required": []', '"required": True'), '"required" of now is not a list'),
    "RISK is no risk": ("RISK = 'high'\n" + GOOD, "RISK 'high' is none of read, write, exec, network"),
    "check is async": (
        GOOD + "async def check():\n    return False\n",
        "check is an async def, which is never awaited",
    ),
    "check takes arguments": (GOOD + "def check(ctx):\n    return True\n", "check must take no arguments"),
    "check is no function": ("check = True\n" + GOOD, "check is not a function"),
    "HEARTBEAT is a text": ("HEARTBEAT = 'Wait.'\n" + GOOD, "HEARTBEAT is a text and not a list of texts"),
    "HEARTBEAT is a number": ("HEARTBEAT = 3\n" + GOOD, "HEARTBEAT is not a list of texts"),
    "ANNOUNCE is a list": ("ANNOUNCE = ['x']\n" + GOOD, "ANNOUNCE is not a text"),
    "EXPRESSIONS is a text": ("EXPRESSIONS = 'happy'\n" + GOOD, "EXPRESSIONS is not a dict"),
    "a face that is none": ("EXPRESSIONS = {'focus': 'grim'}\n" + GOOD, "EXPRESSIONS focus 'grim' is no face"),
    "TIMEOUT is a word": ("TIMEOUT = 'long'\n" + GOOD, "TIMEOUT 'long' is not a number of seconds"),
    "ARG_TIMEOUT without the argument": (
        "ARG_TIMEOUT = True\n" + GOOD.replace('"timeout"', '"place"'),
        "has no argument named timeout",
    ),
    "BUILT_IN": ("BUILT_IN = True\n" + GOOD, "BUILT_IN is True, so its execute is never called"),
}
REMARKS = {
    "a helper": ("X = 1\n", "a helper: it has no SCHEMA, and is no tool"),
    "no name": (GOOD.replace('"name": "now", ', ""), "SCHEMA has no name, so the tool is called now"),
    "name and file differ": (GOOD.replace('"now"', '"clock"'), "the tool is called clock, not now as its file"),
    "a name no model takes": (GOOD.replace('"now"', '"the time"'), "the name 'the time' is not one that models take"),
    "a long description": (GOOD.replace("The time.", "The time. " * 200), "which every request carries"),
    "no required list": (GOOD.replace(', "required": []', ""), 'now has no "required" list'),
    "an argument without words": (
        GOOD.replace(', "description": "Seconds."', ""),
        "argument timeout of now has no desc",
    ),
    "the risk is more": ("import subprocess\n" + GOOD, "RISK is read, but its code looks like exec"),
    "nothing is said": (SCHEMA + EXECUTE, "the box says nothing around now"),
    "a line without an end": (GOOD.replace("time.'", "time'"), "FAIL does not end like a sentence"),
    "a face nobody shows": ("EXPRESSIONS = {'done': 'happy'}\n" + GOOD, "'done', which is read by nothing"),
    "TIMEOUT is long": ("TIMEOUT = 900\n" + GOOD, "TIMEOUT is 900 s: a person who waits that long has gone"),
    "a beat that never comes": ("TIMEOUT = 5\nHEARTBEAT = ['x.']\n" + GOOD, "it is never said"),
    "MAX_TIMEOUT alone": ("MAX_TIMEOUT = 60\n" + GOOD, "MAX_TIMEOUT has no effect without ARG_TIMEOUT"),
    "TOOLSET": ("TOOLSET = 'plugin:other'\n" + GOOD, "TOOLSET is ignored"),
    "INTERACTIVE asks nobody": ("INTERACTIVE = True\n" + GOOD, "asks nobody anything"),
    "it blocks": (
        "import time\n" + SCHEMA + LINES + "async def execute(args, ctx):\n    time.sleep(1)\n    return 'noon'\n",
        "now.py:5: time.sleep inside a coroutine stops all other tool modules",
    ),
    "a key that is not there": (
        "import os\n" + GOOD + "def check():\n    return bool(os.getenv('TIDE_KEY'))\n",
        "asks for TIDE_KEY, and there is none here: appliance credential set clock TIDE_KEY keeps one",
    ),
}


async def checked(folder: Path, *files: tuple[str, str], plugin: str = "clock", secrets: str = "{}") -> CheckReport:
    """The report on a plugin with these files."""
    for place, source in files:
        path = folder / plugin / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
    (folder / "credentials.json").write_text(secrets)
    (folder / "credentials.json").chmod(0o600)
    return await check(folder / plugin, Credentials(folder / "credentials.json", {}, FakeClock()))


def said(report: CheckReport, *, faults: bool) -> list[str]:
    return [f"{finding.place}: {finding.sentence}" for finding in report.findings if finding.is_fault is faults]


async def test_a_good_module_is_good_and_shows_what_a_model_sees(tmp_path: Path) -> None:
    report = await checked(tmp_path, ("now.py", GOOD))
    assert (report.name, report.contract, report.is_good) == ("clock", "module", True)
    assert report.findings == ()
    (tool,) = report.offered
    assert (tool.name, tool.risk, tool.why_not) == ("now", "read", "")
    assert tool.schema["description"] == "The time."


@pytest.mark.parametrize("trap", FAULTS)
async def test_a_fault_is_said(tmp_path: Path, trap: str) -> None:
    source, sentence = FAULTS[trap]
    report = await checked(tmp_path, ("now.py", source))
    assert not report.is_good
    assert any(sentence in fault for fault in said(report, faults=True)), report.findings


@pytest.mark.parametrize("trap", REMARKS)
async def test_a_remark_is_said_and_costs_nothing_by_itself(tmp_path: Path, trap: str) -> None:
    source, sentence = REMARKS[trap]
    report = await checked(tmp_path, ("now.py", source), ("other.py", GOOD.replace('"now"', '"other"')))
    assert said(report, faults=True) == []
    assert any(sentence in remark for remark in said(report, faults=False)), report.findings


async def test_a_file_that_nobody_looks_at_is_found(tmp_path: Path) -> None:
    report = await checked(tmp_path, ("now.py", GOOD), ("_hidden.py", GOOD), ("deep/then.py", GOOD))
    faults = said(report, faults=True)
    assert [fault.partition(" but ")[2] for fault in faults] == [
        "has a name that is skipped, so it is no tool",
        "lies in a folder of its own, so it is no tool",
    ]


async def test_two_files_with_one_tool_name_are_found(tmp_path: Path) -> None:
    report = await checked(tmp_path, ("now.py", GOOD), ("then.py", GOOD))
    assert said(report, faults=True) == ["then.py: its tool now is not added: plugin:clock has one of that name"]


async def test_tests_beside_the_plugin_are_not_part_of_it(tmp_path: Path) -> None:
    report = await checked(tmp_path, ("now.py", GOOD), ("tests/test_now.py", "SCHEMA = {}\nimport nothing\n"))
    assert report.findings == ()


async def test_a_folder_without_any_tool_is_no_good(tmp_path: Path) -> None:
    report = await checked(tmp_path, ("helper.py", "X = 1\n"))
    assert said(report, faults=True) == ["clock: it offers no tool at all"]


async def test_a_single_file_is_checked_too(tmp_path: Path) -> None:
    file = tmp_path / "now.py"
    file.write_text(GOOD)
    report = await check(file, Credentials(tmp_path / "none.json", {}, FakeClock()))
    assert (report.name, report.is_good, [tool.name for tool in report.offered]) == ("now", True, ["now"])


async def test_a_key_that_the_owner_keeps_is_found_while_it_is_checked(tmp_path: Path) -> None:
    source = "import os\n" + GOOD + "def check():\n    return os.environ['TIDE_KEY'] == 'sesame-sesame'\n"
    report = await checked(tmp_path, ("now.py", source), secrets='{"clock:TIDE_KEY": "sesame-sesame"}')
    assert report.findings == () and report.offered[0].why_not == ""


async def test_a_tool_that_says_no_is_shown_with_why(tmp_path: Path) -> None:
    report = await checked(tmp_path, ("now.py", GOOD + "def check():\n    raise ValueError('no clock')\n"))
    assert report.offered[0].why_not == "its check() could not be asked: ValueError: no clock"


@pytest.mark.parametrize("place", ["nothing", "text.txt", "_own"])
async def test_what_is_no_plugin_is_told_apart(tmp_path: Path, place: str) -> None:
    (tmp_path / "text.txt").write_text("x")
    (tmp_path / "_own").mkdir()
    with pytest.raises(UsageError, match=r"is no plugin|is never loaded"):
        await check(tmp_path / place, Credentials(tmp_path / "none.json", {}, FakeClock()))
