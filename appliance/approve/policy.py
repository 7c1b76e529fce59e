"""Which calls need a hand on the button."""

from __future__ import annotations

from appliance.approve.config import ApprovalConfig
from appliance.tools.tool import ApprovalRequest


def needs_button(config: ApprovalConfig, request: ApprovalRequest) -> bool:
    """The narrower rule wins: one for the tool, then one for its plugin, then its risk. Of two alike, ask."""
    for name in (f"{request.origin}/{request.call.name}", request.origin):
        if name in config.always_ask:
            return True
        if name in config.never_ask:
            return False
    return request.risk.value in config.button_for
