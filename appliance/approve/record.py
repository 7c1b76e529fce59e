"""The record of a request: everything that was asked about, as one value with one digest."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from appliance.approve.dangerous import Danger
from appliance.approve.operands import Operands
from appliance.ports import Json
from appliance.store.approvals import record_digest
from appliance.tools.tool import ApprovalRequest


@dataclass(frozen=True)
class RequestRecord:
    """A request with what it depends on; ``action`` is a tool's own question in the middle of a call, else ""."""

    request: ApprovalRequest
    plugin_digest: str
    operands: Operands
    boot: str
    danger: Danger | None = None
    follows: str = ""
    is_two_step: bool = False
    action: str = ""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", record_digest(self.as_json()))

    @property
    def request_id(self) -> str:
        """Id of the request."""
        return self.request.request_id

    @property
    def tool(self) -> str:
        """Name of the tool."""
        return self.request.call.name

    def as_json(self) -> dict[str, Json]:
        """All of it, for the store; what the digest is made of. The arguments are those that will run."""
        request = self.request
        return {
            "request_id": request.request_id,
            "tool": request.call.name,
            "arguments": json.loads(request.arguments_json),
            "call_id": request.call.call_id,
            "origin": request.origin,
            "risk": request.risk.value,
            "is_risk_declared": request.is_risk_declared,
            "chat": request.chat,
            "turn_id": request.turn_id,
            "channel": request.channel,
            "plugin_digest": self.plugin_digest,
            "operands": self.operands.as_json(),
            "boot": self.boot,
            "danger": self.danger.value if self.danger else "",
            "follows": self.follows,
            "is_two_step": self.is_two_step,
            "action": self.action,
        }

    def depends_on_the_same(self, plugin_digest: str, operands: Operands) -> bool:
        """Whether what it depends on is still what it was."""
        return (plugin_digest, operands) == (self.plugin_digest, self.operands)
