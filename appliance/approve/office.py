"""Everything of approval, put together on one store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.approve.asker import PersonAsker
from appliance.approve.asking import Speaking
from appliance.approve.audit_trail import StoredAuditTrail
from appliance.approve.authority import Authority
from appliance.approve.config import ApprovalConfig
from appliance.approve.desk import ApprovalDesk, DeskParts
from appliance.approve.grants import Grants
from appliance.approve.hand import Hand
from appliance.approve.operands import Surveyor
from appliance.approve.requests import PluginDigest, Requests
from appliance.approve.wording import Refusals
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.events import Event
from appliance.store.approvals import StoredApprovals
from appliance.store.grants import StoredGrants
from appliance.tools.tool import Decision


@dataclass(frozen=True)
class Office:
    """The desk, whoever asks for it, and the permissions that stand."""

    desk: ApprovalDesk
    asker: PersonAsker
    grants: Grants
    authority: Authority


@dataclass(frozen=True)
class Around:
    """What approval is joined to.

    ``home`` and ``workdir`` are where arguments may name files; ``plugin_digest`` is SHA-256 over a plugin's files.
    ``hand`` is None without a button; ``show`` writes where typed turns are read. ``boot`` names this start of the
    machine. ``tell_person`` gets a no to a tool's own question.
    """

    home: Path
    workdir: Path
    is_service: bool
    boot: str
    clock: Clock
    catalogue: Catalogue
    person: Speaking
    plugin_digest: PluginDigest
    hand: Hand | None = None
    show: Callable[[str], None] = lambda _text: None
    publish: Callable[[Event], None] = lambda _event: None
    tell_person: Callable[[Decision], None] = lambda _decision: None


def open_office(
    config: ApprovalConfig,
    trail: StoredAuditTrail,
    approvals: StoredApprovals,
    grants: StoredGrants,
    around: Around,
) -> Office:
    """The office of one box."""
    surveyor = Surveyor(around.home, around.workdir)
    requests = Requests(approvals, surveyor, around.plugin_digest, around.boot)
    asker = PersonAsker(
        person=around.person,
        requests=requests,
        clock=around.clock,
        catalogue=around.catalogue,
        window_seconds=config.window_seconds,
        hand=around.hand,
        show=around.show,
        asks_over_ssh=config.ask_over_ssh,
    )
    standing = Grants(grants, trail, config, clock=around.clock, plugin_digest=around.plugin_digest)
    authority = Authority(around.is_service, config.owner_may_approve_in_trial)
    parts = DeskParts(
        clock=around.clock,
        refusals=Refusals(around.catalogue),
        record=trail,
        requests=requests,
        grants=standing,
        asker=asker,
        authority=authority,
        publish=around.publish,
        tell_person=around.tell_person,
    )
    return Office(ApprovalDesk(config, parts), asker, standing, authority)
