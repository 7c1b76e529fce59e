"""The ways from one call to the person, for ``ctx`` and for the modules that a tool imports.

Those modules are told a session, not a call: they find the doors of the call whose code runs.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from appliance.contracts.kotoba.context import Approval, Confirm, Confirmation
from appliance.contracts.kotoba.inputs import AskInput, InputAnswer, InputQuestion
from appliance.contracts.kotoba.sandbox.sandboxes import AtHome
from appliance.tools.tool import CallContext, Verdict

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: Kinds of input that nobody may overhear.
_SECRET_KINDS = ("key", "secret")


class Doors:
    """The doors of one call. Used on the plugin's side; who answers runs on our loop.

    Inside ``with doors:`` they are those of the code that runs.
    """

    def __init__(
        self, *, tool: str, plugin: str, call: CallContext, at_home: AtHome, confirm: Confirm, ask_input: AskInput
    ) -> None:
        self.plugin = plugin
        self.turn_id = call.turn_id
        self._tool = tool
        self._call = call
        self._at_home = at_home
        self._ask_confirm = confirm
        self._ask_input = ask_input
        self._questions = 0
        self.approval = Approval(call.call_id, self._confirm)

    async def ask(self, label: str, kind: str, detail: str, seconds: float) -> InputAnswer:
        """Ask the person for words; a fault on the way means that nobody could be asked."""
        question = InputQuestion(
            self._tool, self.plugin, label, detail, kind in _SECRET_KINDS, max(1.0, seconds), self._call
        )
        try:
            with self._question():
                answer: InputAnswer = await self._at_home(lambda: self._waiting(self._ask_input(question)))
                return answer
        except Exception:
            _LOG.exception("asking for words failed")
            return InputAnswer(Verdict.UNREACHABLE)

    def __enter__(self) -> Doors:
        self._token = _HERE.set(self)
        _OPEN.append(self)
        return self

    def __exit__(self, *_error: object) -> None:
        _OPEN.remove(self)
        _HERE.reset(self._token)

    # ------------------------------------------------------------------------------------------------- private

    async def _confirm(self, action: str, risk_kind: str, family: str | None, force_ask: bool) -> Verdict:
        question = Confirmation(self._tool, self.plugin, action, risk_kind, family, force_ask, self._call)
        with self._question():
            verdict: Verdict = await self._at_home(lambda: self._waiting(self._ask_confirm(question)))
            return verdict

    async def _waiting(self, asking: Awaitable[T]) -> T:
        """The call's budget stands still meanwhile."""
        self._call.waiting_for_person(True)
        try:
            return await asking
        finally:
            self._call.waiting_for_person(False)

    @contextmanager
    def _question(self) -> Iterator[None]:
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1

    # ------------------------------------------------------------------------------------- which doors there are

    @staticmethod
    def here() -> Doors | None:
        """Those of the call whose code this is; None outside of one."""
        return _HERE.get(None)

    @staticmethod
    def is_open(session: str | None) -> bool:
        """Whether a call of that session is on, so that somebody is there who may be asked."""
        return bool(session) and any(doors._call.chat == session for doors in list(_OPEN))

    @staticmethod
    def is_asking(session: str | None) -> bool:
        """Whether a call of that session waits for the person."""
        return any(doors._questions and doors._call.chat == session for doors in list(_OPEN))


#: Inherited by the tasks and ``to_thread`` threads of a call.
_HERE: ContextVar[Doors] = ContextVar("doors_of_the_running_call")
_OPEN: list[Doors] = []
