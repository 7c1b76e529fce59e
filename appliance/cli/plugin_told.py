"""What a person reads of a plugin before it is installed, and of what came of it."""

from __future__ import annotations

import dataclasses
from typing import Any

from appliance.install.plan import Plan
from appliance.service_installs import Done, Live


def tell_plan(plan: Plan) -> None:
    """Everything that the owner decides by."""
    staged, inspection = plan.staged, plan.inspection
    version = staged.version or "without a version"
    before = f" (here is {plan.version_before or 'one without a version'})" if plan.standing is not None else ""
    print(f"{plan.name}  {version}{before}  {inspection.title}".rstrip())
    if inspection.description:
        print(f"          {inspection.description}")
    print(f"contract  {staged.contract.value}")
    print(f"from      {staged.origin}")
    print(f"digest    {staged.digest}")
    print(f"signature {plan.signature.sentence}")
    for tool in inspection.tools:
        print(f"tool      {tool.name} ({tool.risk}: {tool.why_risk})")
    print("It will be able to:")
    for sentence in inspection.will_be_able_to or ("do nothing that was found",):
        print(f"  - {sentence}")
    for sentence in plan.remarks():
        print(f"  ! {sentence}")


def tell_done(done: Done, action: str) -> None:
    """What came of it, and what to do next."""
    named = f"{done.name} {done.version}".rstrip()
    tools = f": {', '.join(done.tools)}" if done.tools else ""
    match done.live:
        case Live.LOADED:
            print(f"{named} is installed and loaded{tools}")
        case Live.OFF:
            print(f"{named} is installed and off; appliance plugin on {done.name} switches it on")
        case Live.NEXT_START:
            print(f"{named} is installed; it is loaded when the device starts")
        case Live.SAFE_MODE:
            print(f"{named} is installed; it is loaded when safe mode ends (appliance plugin safe-mode off)")
        case Live.GONE:
            kept = "its settings and what it has stored stay"
            print(f"{done.name} is removed; {kept}, and appliance plugin rollback {done.name} brings it back")
        case Live.PUT_BACK if done.is_installed:
            print(f"the {action} did not work, so {named} is back: {done.why}")
        case Live.PUT_BACK:
            print(f"the {action} did not work, so {done.name} is not installed: {done.why}")


def as_json(plan: Plan) -> dict[str, Any]:
    """A plan for a program."""
    return {
        "name": plan.name,
        "contract": plan.staged.contract.value,
        "version": plan.staged.version,
        "version_before": plan.version_before,
        "source": plan.source,
        "origin": plan.staged.origin,
        "digest": plan.staged.digest,
        "signature": plan.signature.state.value,
        "signer": plan.signature.signer,
        "tools": [dataclasses.asdict(tool) for tool in plan.inspection.tools],
        "will_be_able_to": list(plan.inspection.will_be_able_to),
        "requirements": list(plan.inspection.requirements),
        "remarks": plan.remarks(),
    }
