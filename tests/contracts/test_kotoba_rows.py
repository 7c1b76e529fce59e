"""What is left of a call for a person to see: its step row, and its line in the audit trail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.desk import FakeDesk
from appliance.approve.audit_trail import StoredAuditTrail
from appliance.events import Event, Mark, Outcome, Peeked, StepDone, StepStarted
from appliance.store.audit_log import AuditEntry, AuditLog
from appliance.store.database import Database
from appliance.store.recovery import memory_database
from appliance.tools.runner import Runner
from tests.contracts.rig import Rig

REFUSE = "from kotoba.core.loop import note_tool_refusal\nnote_tool_refusal(ctx)\nreturn 'I will not.'"
FAIL = "from kotoba.core.loop import note_tool_failure\nnote_tool_failure('got 502')\nreturn 'It is down.'"
ACTIONS = ("write", "exec", "network")


class Room:
    """A box with plugins, somebody who watches, and a real audit trail."""

    def __init__(self, rig: Rig, database: Database) -> None:
        self.rig = rig
        self.told: list[Event] = []
        self._log = AuditLog(database, rig.clock, "boot-1")
        rig.runner = Runner(
            desk=FakeDesk(),
            audit=StoredAuditTrail(self._log, lambda text: text),
            clock=rig.clock,
            observers=[rig.observer],
            publish=self.told.append,
        )

    async def call(self, body: str, risk: str) -> str:
        """Load a tool and call it; what the model reads."""
        await self.rig.load_tool("lamp", body, f'RISK = "{risk}"')
        return (await self.rig.call("lamp", watts=5)).text

    @property
    def rows(self) -> list[tuple[str, str, Mark]]:
        """Every step row that has ended: tool, risk, mark."""
        risks = {fact.call_id: fact.kind for fact in self.told if isinstance(fact, StepStarted)}
        return [(fact.tool, risks[fact.call_id], fact.mark) for fact in self.told if isinstance(fact, StepDone)]

    async def executed(self) -> list[tuple[str, str, str]]:
        """Tool, risk and detail of every line that says something was done."""
        entries = [line.entry for line in await self._log.lines()]
        return [(entry.tool, entry.risk, entry.detail) for entry in entries if _is_done(entry)]


def _is_done(entry: AuditEntry) -> bool:
    return entry.detail.startswith("executed")


@pytest.fixture
def database() -> Iterator[Database]:
    found = memory_database()
    yield found
    found.close()


@pytest.fixture
async def room(tmp_path: Path, database: Database) -> AsyncIterator[Room]:
    made = Room(Rig(tmp_path), database)
    yield made
    await made.rig.host.close()


@pytest.mark.contract("K-030", "K-031", "K-032", "K-042")
@pytest.mark.parametrize("risk", ACTIONS)
async def test_an_action_has_one_green_row_and_one_line_that_says_executed(room: Room, risk: str) -> None:
    assert await room.call("return 'on'", risk) == "on"
    assert room.rows == [("lamp", risk, Mark.GREEN)]
    assert await room.executed() == [("lamp", risk, "executed")]


@pytest.mark.contract("K-033", "K-042")
@pytest.mark.parametrize("risk", ACTIONS)
async def test_an_action_that_failed_has_a_red_row_and_a_line_that_says_so(room: Room, risk: str) -> None:
    await room.call("raise OSError('no lamp')", risk)
    assert room.rows == [("lamp", risk, Mark.RED)]
    assert await room.executed() == [("lamp", risk, "executed:failed")]


@pytest.mark.contract("K-030", "K-034", "K-035")
@pytest.mark.parametrize("body", ["return 'on'", "raise OSError('no lamp')"])
async def test_a_call_that_reads_is_a_status_line_with_its_name_and_leaves_nothing(room: Room, body: str) -> None:
    await room.call(body, "read")
    assert [fact.tool for fact in room.told if isinstance(fact, Peeked)] == ["lamp", ""]
    assert room.rows == []
    assert await room.executed() == []


@pytest.mark.contract("K-100")
@pytest.mark.parametrize("sentence", ["I will not do that.", "The service is down."])
async def test_a_sentence_alone_is_a_success_whatever_it_says(room: Room, sentence: str) -> None:
    assert await room.call(f"return {sentence!r}", "write") == sentence
    assert room.rows == [("lamp", "write", Mark.GREEN)]
    assert await room.executed() == [("lamp", "write", "executed")]
    assert room.rig.observer.results[-1].outcome is Outcome.OK


@pytest.mark.contract("K-103", "K-106")
@pytest.mark.parametrize("risk", ACTIONS)
async def test_a_noted_refusal_has_a_grey_row_and_nothing_was_executed(room: Room, risk: str) -> None:
    assert await room.call(REFUSE, risk) == "I will not."
    assert room.rows == [("lamp", risk, Mark.GREY)]
    assert await room.executed() == []


@pytest.mark.contract("K-106", "K-107", "K-108")
@pytest.mark.parametrize("risk", ACTIONS)
async def test_a_noted_failure_has_a_red_row_and_was_executed(room: Room, risk: str) -> None:
    assert (await room.call(FAIL, risk)).startswith("It is down. [")
    assert room.rows == [("lamp", risk, Mark.RED)]
    assert await room.executed() == [("lamp", risk, "executed:failed")]
