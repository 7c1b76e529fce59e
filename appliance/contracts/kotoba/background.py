"""What tools may ask of background jobs and detached runs: this box has none, and says so.

``kotoba.core.work_state``, ``kotoba.core.deferred_exec`` and ``kotoba.core.llm``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from appliance.contracts.kotoba.interaction import UNREACHABLE, no_run_verdict, note_no_run


class NothingRan(Exception):
    """A detached run ended before anything could run."""


def is_running(session_id: str) -> bool:
    """False: no job runs in the background."""
    return False


def get(session_id: str) -> dict[str, Any]:
    """The state of a job that is not there."""
    told = {"announced": True, "acted": False, "el_call_bound": False}
    return {"status": "idle", "goal": "", "step": "", "summary": "", "files": [], "reason": "", "run_id": "", **told}


def set_step(session_id: str, step: str) -> None:
    """Nothing: there is no job that could be at a step."""


def schedule(
    ctx: Any,
    action: str,
    runner: Callable[[], Awaitable[str]],
    *,
    label: str | None = None,
    step_kind: str = "tool",
    family: str | None = None,
) -> str:
    """Runs nothing, and marks the call so: here a tool asks while it waits. The sentence is for the model."""
    note_no_run(ctx, UNREACHABLE)
    return f"Nothing ran: this box runs nothing behind a turn, so {label or action} has to be asked about in it."


def is_pending(ctx: Any, call_id: str) -> bool:
    """False: no call waits behind its turn."""
    return False


def ran_nothing(ctx: Any, call_id: str) -> bool:
    """Whether that call stopped at a question."""
    return bool(no_run_verdict(ctx, call_id))


def get_client() -> None:
    """None, as on a host without a key: a tool talks to no model here."""
