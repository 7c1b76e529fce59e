"""One plugin that does everything wrong: the box answers the next question, and its owner reads what was wrong."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.events import Outcome, ToolFinished
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig
from tests.contracts.gate import GATES, Gate
from tests.contracts.rig import PING, schema_line, tool_source

#: Its thread takes real time, and the world of these tests takes none.
NO_HURRY = "TIMEOUT = 80_000"
AT_GATE = "from tests.contracts.gate import GATES\n    GATES[0].block()\n"
#: Well the first time, when it is loaded, and never again.
HANGING_CHECK = (
    f"ASKED = []\ndef check():\n    ASKED.append(1)\n    if len(ASKED) == 1:\n        return True\n    {AT_GATE}"
)

#: File -> what is in it.
WRONG = {
    "needs_more": "import not_there_at_all\n",
    "no_python": "def broken(:\n",
    "ends_it_all": "import sys\nsys.exit(1)\n",
    "plain": schema_line("plain") + "def execute(args, ctx):\n    return 'a plain text'\n",
    "lacking": schema_line("lacking"),
    "check_raises": tool_source("check_raises", "return 'ran'", "def check(): raise OSError('no daemon')"),
    "check_hangs": tool_source("check_hangs", "return 'ran'", HANGING_CHECK),
    "raises": tool_source("raises", "raise ValueError('no such town')", NO_HURRY),
    "exits": tool_source("exits", "import sys\nsys.exit(3)", NO_HURRY),
    "cancels": tool_source("cancels", "import asyncio\nraise asyncio.CancelledError('mine')", NO_HURRY),
    "nothing": tool_source("nothing", "return None", NO_HURRY),
    "huge": tool_source("huge", "return 'x' * 100_000_000", NO_HURRY),
    "patches": tool_source("patches", "import builtins\nbuiltins.oct = None\nreturn 'patched'", NO_HURRY),
    "leaves": tool_source(
        "leaves",
        "import threading\nfrom tests.contracts.gate import GATES\n"
        "threading.Thread(target=GATES[0].block, name='spinner').start()\nreturn 'left'",
        NO_HURRY,
    ),
    "spins": tool_source("spins", "while True:\n    pass"),
}

#: What its owner reads of each in the list of plugins.
SAID_AT_ONCE = {
    "needs_more.py: it is not loaded: it needs the Python package not_there_at_all, which is not installed",
    "no_python.py: it is not loaded: line 1 is not Python: invalid syntax",
    "ends_it_all.py: it is not loaded: it tried to end the program while it was being loaded (SystemExit)",
    "plain.py: its execute is a plain def and not an async def; unless it returns an awaitable, every call fails",
    "lacking.py: it has no execute, so every call of it fails",
    "check_raises: its check() could not be asked (OSError: no daemon); the tool stays hidden from the model",
}
SAID_AFTER_ITS_CALL = {
    "plain": "plain: its last call failed: execute is a plain def; it must be an async def",
    "raises": "raises: its last call failed: ValueError: no such town",
    "exits": "exits: its last call failed: it called sys.exit",
    "cancels": "cancels: its last call failed: CancelledError: mine",
    "nothing": "nothing: its last call failed: returned nothing",
    "huge": "huge: its last answer was too long, and the model got only the beginning of it",
    "patches": "it replaced what belongs to Python itself, which was put back: oct",
    "leaves": "a thread that it started runs on behind its calls: spinner",
}


@pytest.fixture(autouse=True)
def gate() -> Iterator[Gate]:
    """Where its code hangs; open when the test is over."""
    made = Gate()
    GATES[:] = [made]
    yield made
    made.open()


async def wrong_box(make_rig: MakeRig, folder: Path, *without: str) -> Rig:
    """A box with the wrong plugin and a good one, and a model that calls what it is told to."""
    for name, source in WRONG.items():
        if name not in without:
            _write(folder / "plugins" / "wrong" / f"{name}.py", source)
    _write(folder / "plugins" / "good" / "ping.py", PING + NO_HURRY + "\n")
    return await make_rig(model=FakeModelEndpoint(), is_living=False)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


async def asks_for(rig: Rig, tool: str) -> dict[str, Any]:
    """A question for which the model calls this tool, and answers."""
    assert rig.model is not None
    rig.model.answers += [calls((tool, {})), says(f"That was {tool}.")]
    return await rig.types(f"Please use {tool}.")


async def is_well(rig: Rig) -> bool:
    """Whether the next question is answered, with a tool of another plugin."""
    # Real threads get the time they need.
    rig.quiet_step_seconds = 0.001
    report = await asks_for(rig, "ping")
    rig.quiet_step_seconds = 0.25
    return report["reply"] == "That was ping." and rig.told(ToolFinished)[-1].outcome is Outcome.OK


async def problems(rig: Rig) -> list[str]:
    """What the list of plugins says of it."""
    asking = asyncio.create_task(rig.control.call("plugin.list"))
    await rig.until(asking.done)
    return next(row["problems"] for row in await asking if row["name"] == "wrong")


async def test_what_is_wrong_in_its_files_is_told_at_once_and_costs_only_them(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    rig = await wrong_box(make_rig, tmp_path)
    assert set(await problems(rig)) >= SAID_AT_ONCE
    assert await is_well(rig)


@pytest.mark.parametrize("tool", SAID_AFTER_ITS_CALL)
async def test_a_wrong_call_is_told_and_the_next_question_is_answered(
    make_rig: MakeRig, tmp_path: Path, tool: str
) -> None:
    rig = await wrong_box(make_rig, tmp_path, "check_hangs")
    own = oct
    rig.quiet_step_seconds = 0.001

    report = await asks_for(rig, tool)

    assert report["reply"] == f"That was {tool}."
    assert builtins.oct is own
    assert SAID_AFTER_ITS_CALL[tool] in await problems(rig)
    assert await is_well(rig)


async def test_a_call_that_spins_is_given_up_and_the_next_question_is_answered(
    make_rig: MakeRig, tmp_path: Path
) -> None:
    rig = await wrong_box(make_rig, tmp_path, "check_hangs")
    report = await asks_for(rig, "spins")
    assert report["reply"] == "That was spins."
    assert await is_well(rig)
    assert "spins: its last call failed: no answer within 30 s" in await problems(rig)


async def test_a_check_that_hangs_costs_two_seconds_and_the_next_question_is_answered(
    make_rig: MakeRig, tmp_path: Path, gate: Gate
) -> None:
    rig = await wrong_box(make_rig, tmp_path)
    await rig.clock.advance(31.0)
    assert await is_well(rig)
    said = "check_hangs: its check() could not be asked (no answer within 2 s); the tool stays offered"
    assert said in await problems(rig)
