"""A box that asks: the whole office on a store, a runner, one tool that counts its runs, a hand and a person."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from appliance.adapters.fakes.hand import FakeHand
from appliance.adapters.fakes.person import FakePerson
from appliance.adapters.fakes.tool import FakeTool
from appliance.approve.audit_trail import StoredAuditTrail
from appliance.approve.config import ApprovalConfig
from appliance.approve.hand import Hand
from appliance.approve.office import Around, Office, open_office
from appliance.approve.screens import Screens
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock, settle
from appliance.control import Caller, Peer
from appliance.errors import StoreError
from appliance.events import ApprovalDecided, Event
from appliance.home import shipped
from appliance.store.approvals import ApprovalState, StoredApproval, StoredApprovals
from appliance.store.audit_head import AuditHeadFile
from appliance.store.audit_log import AuditEntry, AuditLog
from appliance.store.canonical_json import canonical_json
from appliance.store.database import Database
from appliance.store.grants import StoredGrants
from appliance.store.recovery import memory_database
from appliance.tools.registry import Registry
from appliance.tools.runner import Runner
from appliance.tools.tool import ApprovalRequest, CallContext, Decision, Risk, ToolCall, ToolResult
from appliance.turn import Turn
from tests.contracts.gate import until

#: The user that the device runs as in these tests.
DEVICE_UID = 990


class Scene:
    """Call tools, press, speak, and ask what became of it."""

    def __init__(
        self,
        folder: Path,
        config: ApprovalConfig | None = None,
        *,
        has_hand: bool = True,
        hand: Callable[[FakeClock], Hand] | None = None,
        hears_at_once: bool = True,
        database: Database | None = None,
        boot: str = "boot-1",
        is_service: bool = True,
    ) -> None:
        self.folder = folder
        self.workdir = folder / "workdir"
        self.workdir.mkdir(exist_ok=True)
        self.clock = FakeClock()
        self.database = database or memory_database()
        self.audit = AuditLog(self.database, self.clock, boot, AuditHeadFile(folder / "audit.head"))
        self.approvals = StoredApprovals(self.database, self.clock, boot)
        self.person = FakePerson(hears_at_once=hears_at_once)
        self.hand = FakeHand(self.clock) if has_hand else None
        self.shown: list[str] = []
        self.told: list[Event] = []
        self.told_person: list[Decision] = []
        #: Files of plugins, as far as these tests have any: origin -> digest.
        self.plugin_digests: dict[str, str] = {}
        self.catalogue = Catalogue.load(shipped("soul"), "en")
        self.trail = StoredAuditTrail(self.audit, lambda text: text.replace("hunter2", "[secret]"))
        self.config = config or ApprovalConfig()
        screens = Screens()
        self.office: Office = open_office(
            self.config,
            self.trail,
            self.approvals,
            StoredGrants(self.database, self.clock),
            Around(
                home=folder,
                workdir=self.workdir,
                is_service=is_service,
                boot=boot,
                clock=self.clock,
                catalogue=self.catalogue,
                person=self.person,
                plugin_digest=lambda origin: self.plugin_digests.get(origin, f"files of {origin}"),
                hand=hand(self.clock) if hand is not None else self.hand,
                show=screens.show,
                publish=self.told.append,
                tell_person=self.told_person.append,
            ),
        )
        self._open = contextlib.ExitStack()
        self._open.enter_context(screens.open(self.shown.append))
        object.__setattr__(self.office.authority, "own_uid", DEVICE_UID)
        self.registry = Registry()
        self.backup = self.add(FakeTool("run_backup", risk=Risk.EXEC, origin="plugin:backup"))
        self.runner = Runner(
            desk=self.office.desk,
            audit=self.trail,
            clock=self.clock,
            publish=self.told.append,
            tell_person=self.told_person.append,
        )
        self.turn = Turn("voice")
        self.turn.commit()
        self._calls = 0

    def add(self, tool: FakeTool) -> FakeTool:
        self.registry.add(tool)
        return tool

    # --------------------------------------------------------------------------------------------- doing

    def start(
        self, tool: str = "run_backup", arguments: Mapping[str, Any] | None = None, *, channel: str = "voice"
    ) -> asyncio.Task[ToolResult]:
        """Begin a call of this turn; it waits for whoever has to say something."""
        self._calls += 1
        call = ToolCall(f"call-{self._calls}", tool, dict(arguments or {}))
        return asyncio.create_task(self.runner.run(call, self.context(call.call_id, channel), self.registry.select()))

    async def asked(
        self, tool: str = "run_backup", arguments: Mapping[str, Any] | None = None, *, channel: str = "voice"
    ) -> asyncio.Task[ToolResult]:
        """Begin a call, and wait until the hand is armed for it."""
        call = self.start(tool, arguments, channel=channel)
        await self.until_armed()
        return call

    async def until_armed(self) -> None:
        """The question was asked, and the hand may press."""
        hand = self.hand
        await until(lambda: self.office.asker.asked is not None and (hand is None or hand.is_armed))
        await self.quiet()

    async def until_asked(self, count: int = 1) -> None:
        """So many questions were begun; whether they were heard is up to the test."""
        await until(lambda: len(self.person.playbacks) >= count)
        await self.quiet()

    async def quiet(self) -> None:
        """Let threads and tasks come to rest."""
        for _ in range(3):
            with contextlib.suppress(StoreError):
                await asyncio.to_thread(self.database.run, lambda _connection: None)
            await settle()

    def context(self, call_id: str = "", channel: str = "voice") -> CallContext:
        return CallContext(call_id, self.turn.turn_id, "", channel, self.turn)

    async def decide(self, request: ApprovalRequest) -> Decision:
        return await self.office.desk.decide(request)

    # ------------------------------------------------------------------------------------------- asking it

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Arguments of every run of the backup tool."""
        return [arguments for arguments, _context in self.backup.calls]

    @property
    def questions(self) -> list[str]:
        return [text for text, _priority in self.person.said]

    @property
    def decisions(self) -> list[str]:
        return [event.decision for event in self.told if isinstance(event, ApprovalDecided)]

    async def entries(self) -> list[AuditEntry]:
        return [line.entry for line in await self.audit.lines(1000)]

    async def row(self) -> StoredApproval:
        """The newest request in the store."""
        return (await self.approvals.in_states(list(ApprovalState)))[-1]


def request(
    tool: str = "run_backup",
    arguments: Mapping[str, Any] | None = None,
    *,
    risk: Risk = Risk.EXEC,
    origin: str = "plugin:backup",
    turn_id: str = "turn-1",
    channel: str = "voice",
    request_id: str = "a1b2c3d4",
    is_risk_declared: bool = True,
) -> ApprovalRequest:
    """A request as the runner makes one."""
    call = ToolCall("call-1", tool, dict(arguments if arguments is not None else {"target": "/home"}))
    text = canonical_json(dict(call.arguments))
    return ApprovalRequest(request_id, call, origin, risk, text, "", turn_id, channel, is_risk_declared)


def caller(uid: int, *, is_local: bool = False) -> Caller:
    """Somebody at a shell."""
    return Caller(Peer(uid, uid, 4711), lambda _event: None, is_local)
