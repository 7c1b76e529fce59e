"""A desk with everything around it; whoever asks says what the test tells them to."""

from __future__ import annotations

from appliance.adapters.fakes.audit_trail import FakeAuditTrail
from appliance.adapters.fakes.desk import FakeAsker
from appliance.approve.audit_trail import StoredAuditTrail
from appliance.approve.authority import Authority
from appliance.approve.config import ApprovalConfig
from appliance.approve.desk import ApprovalDesk, Asker, DeskParts
from appliance.approve.grants import Grants
from appliance.approve.operands import Surveyor
from appliance.approve.requests import Requests
from appliance.approve.wording import Refusals
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock
from appliance.events import ApprovalDecided, Event
from appliance.home import shipped
from appliance.store.approvals import ApprovalState, StoredApprovals
from appliance.store.audit_log import AuditLog
from appliance.store.grants import StoredGrants
from appliance.store.recovery import memory_database
from appliance.tools.tool import Decision

#: Rooms of the running test; the conftest closes their stores.
ROOMS: list[Room] = []


class Room:
    """A desk with everything around it; whoever asks says what the test tells them to."""

    def __init__(self, config: ApprovalConfig | None = None, asker: Asker | None = None) -> None:
        self.told: list[Event] = []
        self.told_person: list[Decision] = []
        self.record = FakeAuditTrail()
        self.catalogue = Catalogue.load(shipped("soul"), "en")
        self.clock = FakeClock()
        self.database = memory_database()
        ROOMS.append(self)
        self.approvals = StoredApprovals(self.database, self.clock, "boot")
        self.digest = "digest"
        config = config or ApprovalConfig()
        requests = Requests(
            self.approvals, Surveyor(shipped("soul"), shipped("soul")), lambda _origin: self.digest, "boot"
        )
        if isinstance(asker, FakeAsker):
            asker.announce = requests.announce
        trail = StoredAuditTrail(AuditLog(self.database, self.clock, "boot"), lambda text: text)
        self.desk = ApprovalDesk(
            config,
            DeskParts(
                clock=self.clock,
                refusals=Refusals(self.catalogue),
                record=self.record,
                requests=requests,
                grants=Grants(
                    StoredGrants(self.database, self.clock),
                    trail,
                    config,
                    clock=self.clock,
                    plugin_digest=lambda _origin: self.digest,
                ),
                asker=asker or FakeAsker(is_usable=False),
                authority=Authority(is_service=True, own_uid=990),
                publish=self.told.append,
                tell_person=self.told_person.append,
            ),
        )

    @property
    def decisions(self) -> list[str]:
        return [event.decision for event in self.told if isinstance(event, ApprovalDecided)]

    async def state(self, request_id: str = "a1b2c3d4") -> ApprovalState:
        rows = await self.approvals.in_states(list(ApprovalState))
        return next(row.state for row in rows if row.request_id == request_id)
