"""How a tool says that it refused, or that it ran and failed, while returning an ordinary sentence."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

#: Further reasons of one call are dropped.
_MOST_REASONS = 8
_MOST_EXIT_CODES = 32


@dataclass
class CallWitness:
    """What the notes of one call say; a context manager around the call."""

    call_id: str
    is_refused: bool = False
    failure_reasons: list[str] = field(default_factory=list)
    #: Of the commands that ran in a sandbox, in order.
    exit_codes: list[int] = field(default_factory=list)
    #: How a question to a person ended without a yes; "" when none did.
    ending: str = ""

    def __enter__(self) -> CallWitness:
        self._token = _RUNNING.set(self)
        with _LOCK:
            _OPEN[self.call_id] = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _RUNNING.reset(self._token)
        with _LOCK:
            if _OPEN.get(self.call_id) is self:
                del _OPEN[self.call_id]


#: Inherited by the tasks and ``to_thread`` threads of a call.
_RUNNING: ContextVar[CallWitness] = ContextVar("running_call_witness")
#: By call id, for notes that come from a thread without context variables.
_OPEN: dict[str, CallWitness] = {}
_LOCK = threading.Lock()


def note_tool_refusal(ctx: Any) -> None:
    """The tool read its arguments and declined: nothing happened. Bound to ``ctx.call_id``; nothing without one."""
    witness = _open_call(getattr(ctx, "call_id", ""))
    if witness is not None:
        witness.is_refused = True


def note_ending(call_id: str, verdict: str) -> None:
    """The call asked a person, got no yes, and did nothing. A later yes to another question does not undo it."""
    witness = _open_call(call_id)
    if witness is not None:
        witness.is_refused, witness.ending = True, str(verdict)


def ending_of(call_id: str) -> str:
    """How that call's question ended without a yes; "" when none did, and for a call that is over."""
    witness = _open_call(call_id)
    return witness.ending if witness is not None else ""


def note_tool_failure(reason: str) -> None:
    """The tool ran and did not succeed. Counts for the call whose code this is; nothing outside of one."""
    witness = _RUNNING.get(None)
    if witness is not None and len(witness.failure_reasons) < _MOST_REASONS:
        witness.failure_reasons.append(str(reason) or "no reason given")


def note_exit_code(code: int) -> None:
    """A command of the call whose code this is has ended so; nothing outside of one."""
    witness = _RUNNING.get(None)
    if witness is not None and len(witness.exit_codes) < _MOST_EXIT_CODES:
        witness.exit_codes.append(code)


def running_call_id() -> str:
    """The call whose code this is; "" outside of one."""
    witness = _RUNNING.get(None)
    return witness.call_id if witness is not None else ""


def _open_call(call_id: object) -> CallWitness | None:
    with _LOCK:
        return _OPEN.get(call_id) if isinstance(call_id, str) and call_id else None
