"""What is asked about, how often, and what a standing permission may stand for. Decides without looking anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.approve.config import ApprovalConfig
from appliance.approve.dangerous import Danger, danger_in
from appliance.tools.tool import ApprovalRequest, Risk


@dataclass(frozen=True)
class Ruling:
    """What holds for one call.

    ``danger`` is what its arguments may do, ``follows`` the tool whose words from outside came before it in this turn.
    A two-step call is asked about twice. Only what is ``is_grantable`` may run on a standing permission.
    """

    asks: bool
    danger: Danger | None = None
    follows: str = ""
    is_two_step: bool = False

    @property
    def is_grantable(self) -> bool:
        """Nothing that is dangerous, irreversible, or perhaps a stranger's idea."""
        return self.danger is None and not self.follows and not self.is_two_step


def rule(config: ApprovalConfig, request: ApprovalRequest, follows: str = "") -> Ruling:
    """What the owner's settings say about a call; ``follows`` names a tool whose words from outside came before it."""
    danger = danger_in(dict(request.call.arguments)) if request.risk is Risk.EXEC else None
    # With ``button_for = []`` the owner lets the tools ask by themselves, in every turn.
    is_tainted = bool(follows and config.button_for) and _can_be_turned(request)
    is_risky = danger is not None and Risk.EXEC.value in config.button_for
    is_irreversible = is_two_step(config, request)
    asks = needs_button(config, request) or is_tainted or is_risky or is_irreversible
    return Ruling(asks, danger, follows if is_tainted else "", is_irreversible)


def needs_button(config: ApprovalConfig, request: ApprovalRequest) -> bool:
    """The narrower rule wins: one for the tool, then one for its plugin, then its risk. Of two alike, ask."""
    for name in _names_of(request):
        if name in config.always_ask:
            return True
        if name in config.never_ask:
            return False
    return request.risk.value in config.button_for


def is_two_step(config: ApprovalConfig, request: ApprovalRequest) -> bool:
    """Whether the owner called this tool, or its plugin, irreversible."""
    return any(name in config.two_step for name in _names_of(request))


def _can_be_turned(request: ApprovalRequest) -> bool:
    """Whether a stranger's words could do harm through this call.

    It executes, or its author says that it changes something. The box's own tools change nothing but the box.
    """
    if request.risk is Risk.EXEC:
        return True
    return request.risk is Risk.WRITE and request.is_risk_declared and request.origin.startswith("plugin:")


def _names_of(request: ApprovalRequest) -> tuple[str, str]:
    return f"{request.origin}/{request.call.name}", request.origin
