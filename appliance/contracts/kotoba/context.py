"""``ctx``: what a tool module gets to know and use during a call."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.contracts.kotoba.path_security import PathSecurityError, validate_within_dir
from appliance.contracts.kotoba.sandbox.offered import session_sandbox
from appliance.contracts.kotoba.witness import note_ending
from appliance.tools.tool import CallContext, Verdict

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Confirmation:
    """A tool asks a person, in the middle of a call, whether it may do ``action``."""

    tool: str
    plugin: str
    action: str
    risk_kind: str
    family: str | None
    force_ask: bool
    call: CallContext


#: Answers a ``Confirmation``, on our loop; the desk stands behind it.
Confirm = Callable[[Confirmation], Awaitable[Verdict]]


async def deny(_confirmation: Confirmation) -> Verdict:
    """The answer when nobody can be asked."""
    return Verdict.UNREACHABLE


async def _ask_nobody(_action: str, _risk_kind: str, _family: str | None, _force_ask: bool) -> Verdict:
    return Verdict.UNREACHABLE


class Approval:
    """``ctx.approval``, also ``kotoba.core.approval.ApprovalGate``: asks a person.

    Nobody to ask, or a fault on the way, means no. A call that got no yes is one that did not run, whatever it
    returns.
    """

    def __init__(
        self, call_id: str = "", ask: Callable[[str, str, str | None, bool], Awaitable[Verdict]] = _ask_nobody
    ) -> None:
        self._call_id = call_id
        self._ask = ask

    async def confirm(
        self, action: str, risk_kind: str = "exec", family: str | None = None, force_ask: bool = False
    ) -> bool:
        """Whether the person agrees to ``action``, a text that is said and shown as it is."""
        return await self.ask(action, risk_kind, family, force_ask) is Verdict.APPROVED

    async def ask(
        self, action: str, risk_kind: str = "exec", family: str | None = None, force_ask: bool = False
    ) -> Verdict:
        """How asking ended, as ``interaction.ask_approval`` tells it."""
        try:
            verdict = await self._ask(str(action), str(risk_kind), family, bool(force_ask))
        except Exception:
            _LOG.exception("asking for permission failed")
            verdict = Verdict.UNREACHABLE
        if verdict is not Verdict.APPROVED:
            note_ending(self._call_id, verdict.value)
        return verdict


@dataclass
class ToolContext:
    """The context of one call, as ``kotoba.tools.ToolContext``. A tool may set any further attribute on it.

    In a call ``db`` holds the plugin's keys (``PluginKeys``). This box has no client and no MCP manager for tools;
    ``mode`` is "companion" in every turn.
    """

    db: Any = None
    session_id: str | None = None
    client: Any = None
    workdir: Path | None = None
    sandbox: Any = None
    approval: Any = None
    mode: str = "companion"
    channel: str = "voice"
    el_call_bound: bool = False
    spawn_depth: int = 0
    emit_progress: Callable[..., Any] | None = None
    mcp: Any = None
    soul_patterns: Mapping[str, Any] | None = None
    subagent_id: str | None = None
    user_text: str | None = None
    call_id: str = ""
    excluded_tools: frozenset[str] = field(default_factory=frozenset)

    def child(self, subagent_id: str) -> ToolContext:
        """The context for a helper of this call."""
        return dataclasses.replace(
            self, subagent_id=subagent_id, mode="work", spawn_depth=self.spawn_depth + 1, call_id=""
        )

    async def ensure_sandbox(self) -> Any:
        """The sandbox of the session, the same each time; without a session one of this context's own.

        None when there is none. It runs programs in the work folder; see ``kotoba.sandbox.sandbox``.
        """
        if self.sandbox is None and self.workdir is not None:
            self.sandbox = await session_sandbox(self.session_id, Path(self.workdir))
            # No field: what ``child`` copies owns nothing.
            vars(self)["_owns_sandbox"] = self.sandbox is not None and not self.session_id
        return self.sandbox

    async def cleanup(self) -> None:
        """End a sandbox that this context itself owns."""
        if vars(self).get("_owns_sandbox"):
            sandbox, self.sandbox = self.sandbox, None
            await sandbox.kill()

    async def read_text(self, relpath: str) -> str | None:
        """Text of a file in the work folder, bad bytes replaced; None for any miss."""
        if self.workdir is None:
            return None
        try:
            target = validate_within_dir(relpath, self.workdir)
            return await asyncio.to_thread(target.read_text, encoding="utf-8", errors="replace")
        except (PathSecurityError, OSError, ValueError, TypeError, RuntimeError):
            return None


def make_context(
    call: CallContext, workdir: Path, approval: Approval, soul_patterns: Mapping[str, Any], db: Any = None
) -> ToolContext:
    """The context of a call, its work folder made. On the plugin's side."""
    workdir.mkdir(parents=True, exist_ok=True, mode=0o700)
    context = ToolContext(
        db=db,
        session_id=call.chat,
        workdir=workdir,
        approval=approval,
        channel=call.channel,
        soul_patterns=soul_patterns,
        user_text=call.user_text,
        call_id=call.call_id,
    )
    further = {
        "run_id": call.turn_id,
        "announce_turn": False,
        "user_texts": list(call.user_texts),
        "register": call.channel,
        "model_role": "companion",
        "narrate_tools": call.channel == "voice",
    }
    vars(context).update(further)
    return context
