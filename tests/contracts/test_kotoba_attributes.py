"""Each attribute of a tool module, with its default and its effect."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.contracts.kotoba import attributes
from appliance.contracts.kotoba.attributes import VALID_EMOTIONS, Attributes
from appliance.contracts.kotoba.budget import BudgetRule
from appliance.contracts.kotoba.results import FAILURE_NOTE
from appliance.events import Emotion, Outcome
from appliance.tools.tool import Expressions, Risk, VoiceLines
from tests.contracts.rig import Rig

VOICE_WINDOW, TEXT_WINDOW = 60.0, 180.0


def read(soul: Mapping[str, Mapping[str, Any]] | None = None, **declared: Any) -> Attributes:
    async def execute(args: Any, ctx: Any) -> str:
        return ""

    module = SimpleNamespace(SCHEMA={"name": "tool"}, execute=execute, **declared)
    found = attributes.read(module, "file", soul or {})
    assert found is not None
    return found


# ------------------------------------------------------------------------------------------------- RISK


@pytest.mark.contract("K-027", "K-028")
@pytest.mark.parametrize(
    ("declared", "risk"),
    [
        ({}, Risk.READ),
        ({"RISK": None}, Risk.READ),
        ({"RISK": "read"}, Risk.READ),
        ({"RISK": "write"}, Risk.WRITE),
        ({"RISK": "exec"}, Risk.EXEC),
        ({"RISK": "network"}, Risk.NETWORK),
        ({"RISK": " Exec "}, Risk.EXEC),
        ({"RISK": "whatever"}, Risk.WRITE),
        ({"RISK": 3}, Risk.WRITE),
    ],
)
def test_risk(declared: dict[str, Any], risk: Risk) -> None:
    assert read(**declared).risk is risk


# ------------------------------------------------------------------------------------------ voice lines


@pytest.mark.contract("K-052", "K-067")
def test_lines_default_to_silence() -> None:
    assert read().voice_lines == VoiceLines("", (), "", "")
    assert read(FAIL="Oh no.").voice_lines == VoiceLines("", (), "", "Oh no.")


@pytest.mark.contract("K-055")
def test_lines_are_read_from_the_module() -> None:
    lines = read(ANNOUNCE=" A. ", HEARTBEAT=["B.", "", "C."], COMPLETE="D.", FAIL="E.").voice_lines
    assert lines == VoiceLines("A.", ("B.", "", "C."), "D.", "E.")
    assert read(HEARTBEAT=("B.",)).voice_lines.heartbeat == ("B.",)


@pytest.mark.contract("K-065")
def test_the_soul_overrides_key_by_key_and_can_silence() -> None:
    lines_of_soul: dict[str, Any] = {"before": "S.", "after": "", "heartbeat": ["T."], "mood": "ignored"}
    soul = {"tool": lines_of_soul, "else": {"fail": "no"}}
    lines = read(soul, ANNOUNCE="A.", HEARTBEAT=["B."], COMPLETE="D.", FAIL="E.").voice_lines
    assert lines == VoiceLines("S.", ("T.",), "", "E.")


def test_a_text_as_heartbeat_is_one_line_and_not_one_beat_per_letter() -> None:
    found = read(HEARTBEAT="Still at it.")
    assert found.voice_lines.heartbeat == ("Still at it.",)
    assert len(found.remarks) == 1


# ------------------------------------------------------------------------------------------ EXPRESSIONS


@pytest.mark.contract("K-072", "K-075", "K-078", "K-079")
@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, Expressions(Emotion.THINKING, Emotion.SAD)),
        ({"focus": "excited"}, Expressions(Emotion.EXCITED, Emotion.SAD)),
        ({"fail": "confused"}, Expressions(Emotion.THINKING, Emotion.CONFUSED)),
        ({"focus": "happy", "fail": "crying", "done": "excited"}, Expressions(Emotion.HAPPY, Emotion.CRYING)),
        ({"focus": "grumpy", "fail": 7}, Expressions(Emotion.THINKING, Emotion.SAD)),
        ("happy", Expressions(Emotion.THINKING, Emotion.SAD)),
        (5, Expressions(Emotion.THINKING, Emotion.SAD)),
    ],
)
def test_expressions(declared: Any, expected: Expressions) -> None:
    assert read(EXPRESSIONS=declared).expressions == expected


@pytest.mark.contract("K-080")
def test_there_are_fourteen_faces() -> None:
    words = (
        "neutral happy excited sad crying angry surprised embarrassed thinking sleepy affectionate confused scared "
        "determined"
    )
    assert set(words.split()) == VALID_EMOTIONS


# ------------------------------------------------------------------------------------------------ budget


@pytest.mark.contract("K-036", "K-038", "K-039", "K-083", "K-084", "K-085", "K-086", "K-087")
@pytest.mark.parametrize(
    ("declared", "arguments", "voice", "text"),
    [
        ({}, {}, 30, 30),
        ({}, {"timeout": 300}, 30, 30),
        ({"TIMEOUT": 45}, {}, 45, 45),
        ({"TIMEOUT": 5}, {}, 5, 5),
        ({"TIMEOUT": 0}, {}, 30, 30),
        ({"TIMEOUT": None}, {}, 30, 30),
        ({"TIMEOUT": "90"}, {}, 90, 90),
        ({"TIMEOUT": "abc"}, {}, 30, 30),
        ({"TIMEOUT": -3}, {}, 1, 1),
        ({"TIMEOUT": float("inf")}, {}, 30, 30),
        ({"RISK": "exec"}, {}, 65, 185),
        ({"RISK": "exec", "TIMEOUT": 100}, {}, 100, 185),
        ({"RISK": "write"}, {}, 30, 30),
        ({"RISK": "network"}, {}, 30, 30),
        ({"MAX_TIMEOUT": 10}, {}, 30, 30),
        ({"ARG_TIMEOUT": True}, {"timeout": 20}, 85, 205),
        ({"ARG_TIMEOUT": True}, {"timeout": "20"}, 85, 205),
        ({"ARG_TIMEOUT": True}, {}, 125, 245),
        ({"ARG_TIMEOUT": True}, {"timeout": "soon"}, 125, 245),
        ({"ARG_TIMEOUT": True}, {"timeout": [9]}, 125, 245),
        ({"ARG_TIMEOUT": True}, {"timeout": -50}, 66, 186),
        ({"ARG_TIMEOUT": True}, {"timeout": 10_000}, 600, 600),
        ({"ARG_TIMEOUT": True, "MAX_TIMEOUT": 100}, {"timeout": 50}, 100, 100),
        ({"ARG_TIMEOUT": True, "TIMEOUT": 700}, {"timeout": 50}, 600, 600),
        ({"ARG_TIMEOUT": True, "TIMEOUT": 300}, {"timeout": 50}, 300, 300),
    ],
)
def test_budget(declared: dict[str, Any], arguments: dict[str, Any], voice: float, text: float) -> None:
    rule = read(**declared).budget
    assert rule.seconds(arguments, VOICE_WINDOW) == voice
    assert rule.seconds(arguments, TEXT_WINDOW) == text


def test_the_usual_budget() -> None:
    assert read().budget == BudgetRule(30, False, 600, False)


@pytest.mark.contract("K-036")
async def test_an_exec_tool_outlives_the_question_that_is_asked_about_it(rig: Rig) -> None:
    tool = await rig.load_tool("run", "return 'ran'", 'RISK = "exec"')
    assert tool.budget_seconds({}, rig.context("voice")) == 65
    assert tool.budget_seconds({}, rig.context("text")) == 185


async def test_an_interactive_tool_has_no_budget(rig: Rig) -> None:
    tool = await rig.load_tool("ask", "return 'asked'", "INTERACTIVE = True", "TIMEOUT = 5")
    assert tool.is_interactive
    assert tool.budget_seconds({}, rig.context()) is None


@pytest.mark.contract("K-090")
async def test_a_built_in_tool_is_offered_and_never_executed(rig: Rig) -> None:
    await rig.load_tool("provider_search", "raise RuntimeError('must not run')", "BUILT_IN = True")

    result = await rig.call("provider_search")

    assert rig.offered() == ["provider_search"]
    assert (result.text, result.outcome) == ("", Outcome.OK)


# ----------------------------------------------------------------------------------------------- check()

CHECKED = """
CALLS = []
ANSWER = [True]
def check():
    CALLS.append(1)
    if isinstance(ANSWER[0], BaseException):
        raise ANSWER[0]
    return ANSWER[0]
"""


class Checked:
    """A tool with a ``check()`` that the test steers."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._module: Any = None

    async def load(self) -> None:
        tool = await self._rig.load_tool("checked", "return 'ran'", CHECKED)
        self._module = tool._module

    async def answers(self, answer: Any, after_seconds: float) -> bool:
        """Whether the tool is offered when a turn starts so much later, and ``check()`` would give ``answer``."""
        self._module.ANSWER[0] = answer
        await self._rig.clock.advance(after_seconds)
        await self._rig.contract.refresh_checks()
        return self._rig.offered() == ["checked"]

    @property
    def calls(self) -> int:
        return len(self._module.CALLS)


@pytest.fixture
async def checked(rig: Rig) -> Checked:
    made = Checked(rig)
    await made.load()
    return made


@pytest.mark.contract("K-044", "K-046", "K-047")
async def test_an_answer_holds_for_thirty_seconds(checked: Checked) -> None:
    assert checked.calls == 1
    assert await checked.answers(False, 29.9)
    assert checked.calls == 1
    assert not await checked.answers(False, 0.1)
    assert checked.calls == 2
    assert not await checked.answers(True, 29.0)
    assert await checked.answers("yes, truthy", 1.0)


@pytest.mark.contract("K-048", "K-049")
async def test_when_check_raises_the_last_answer_stands_and_a_warning_is_logged(
    checked: Checked, caplog: pytest.LogCaptureFixture
) -> None:
    assert await checked.answers(OSError("no daemon"), 30.0)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "no daemon" in caplog.text
    assert not await checked.answers(False, 30.0)
    assert not await checked.answers(SystemExit(), 30.0)


@pytest.mark.contract("K-050")
@pytest.mark.parametrize("source", ["def check(): raise OSError", "check = 5", "def check(wrong): return True"])
async def test_a_check_that_never_answered_means_not_available(rig: Rig, source: str) -> None:
    await rig.load_tool("tool", "return 'ran'", source)
    assert rig.offered() == []


@pytest.mark.contract("K-043")
async def test_without_check_a_tool_is_always_available(rig: Rig) -> None:
    await rig.load_tool("tool", "return 'ran'")
    assert rig.offered() == ["tool"]


async def test_an_async_check_always_says_yes(rig: Rig) -> None:
    await rig.load_tool("tool", "return 'ran'", "async def check(): return False")
    assert rig.offered() == ["tool"]


@pytest.mark.contract("K-051")
async def test_check_gates_the_offer_and_not_the_call(rig: Rig) -> None:
    await rig.load_tool("tool", "return 'ran'", "def check(): return False")
    assert rig.offered() == []
    assert (await rig.call("tool")).text == "ran"


async def test_check_runs_on_the_plugin_loop(rig: Rig) -> None:
    """K-045: in the original that is the loop itself; here plugin code has a loop of its own."""
    source = "import threading\ndef check(): return threading.current_thread().name.startswith('plugin-loop')"
    await rig.load_tool("tool", "return 'ran'", source)
    assert rig.offered() == ["tool"]


# -------------------------------------------------------------------------------------------- witnesses

REFUSE = "from kotoba.core.loop import note_tool_refusal, note_tool_failure\nnote_tool_refusal(ctx)"
FAIL = "from kotoba.core.loop import note_tool_refusal, note_tool_failure\nnote_tool_failure('502')"
FAIL_IN_THREAD = f"import asyncio\n{FAIL.splitlines()[0]}\nawait asyncio.to_thread(note_tool_failure, '502')"


@pytest.mark.contract("K-102", "K-106", "K-127", "K-128")
@pytest.mark.parametrize(
    ("body", "text", "outcome"),
    [
        ("return 'I will not.'", "I will not.", Outcome.OK),
        (f"{REFUSE}\nreturn 'I will not.'", "I will not.", Outcome.REFUSED),
        (f"{FAIL}\nreturn 'It is down.'", f"It is down. {FAILURE_NOTE}", Outcome.FAILED),
        (f"{REFUSE}\nnote_tool_failure('x')\nreturn 'No.'", "No.", Outcome.REFUSED),
        (f"{FAIL_IN_THREAD}\nreturn 'Down.'", f"Down. {FAILURE_NOTE}", Outcome.FAILED),
    ],
)
async def test_a_sentence_with_a_witness_is_graded_by_it(rig: Rig, body: str, text: str, outcome: Outcome) -> None:
    await rig.load_tool("tool", body)

    result = await rig.call("tool")

    assert (result.text, result.outcome) == (text, outcome)
    assert rig.observer.results[-1].outcome is outcome


@pytest.mark.contract("K-136")
async def test_the_note_of_a_failure_is_never_cut_off(rig: Rig) -> None:
    await rig.load_tool("tool", f"{FAIL}\nreturn 'x' * 20_000")
    assert (await rig.call("tool")).text.endswith(FAILURE_NOTE)


async def test_a_failed_action_with_a_witness_is_recorded_as_failed(rig: Rig) -> None:
    await rig.load_tool("tool", f"{FAIL}\nreturn 'It is down.'", 'RISK = "network"')
    await rig.call("tool")
    assert rig.audit.results[1] == (Outcome.FAILED, "502")


@pytest.mark.contract("K-110", "K-111")
async def test_a_witness_answers_for_its_own_call_only(rig: Rig) -> None:
    body = f"if not args:\n    return 'fine'\n{REFUSE}\nnote_tool_failure('x')\nreturn 'No.'"
    await rig.load_tool("tool", body)

    assert (await rig.call("tool", "call-1", no=True)).outcome is Outcome.REFUSED
    assert (await rig.call("tool", "call-2")).outcome is Outcome.OK


async def test_a_refusal_counts_from_a_thread_without_context_variables(rig: Rig) -> None:
    body = f"import threading\n{REFUSE.splitlines()[0]}\nt = threading.Thread(target=note_tool_refusal, args=(ctx,))"
    await rig.load_tool("tool", f"{body}\nt.start()\nt.join()\nreturn 'No.'")
    assert (await rig.call("tool")).outcome is Outcome.REFUSED


@pytest.mark.contract("K-112")
def test_notes_outside_a_call_do_nothing() -> None:
    from appliance.contracts.kotoba.witness import note_tool_failure, note_tool_refusal

    note_tool_failure("nobody listens")
    note_tool_refusal(SimpleNamespace(call_id="unknown"))
    note_tool_refusal(SimpleNamespace(call_id=""))
    note_tool_refusal(None)
