"""A tool module as one of our tools."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba import results, siblings
from appliance.contracts.kotoba.attributes import Attributes
from appliance.contracts.kotoba.blame import describe, log_traceback
from appliance.contracts.kotoba.check import Check
from appliance.contracts.kotoba.context import Approval, Confirm, Confirmation, deny, make_context
from appliance.contracts.kotoba.witness import CallWitness
from appliance.contracts.plugin_call import CURRENT_CALL, Raised
from appliance.ports import Json
from appliance.tools.tool import CallContext, Expressions, Risk, ToolResult, Verdict, VoiceLines

_LOG = logging.getLogger(__name__)
#: The contract names this logger for a cancellation that nobody asked for.
_STRAY_CANCEL_LOG = logging.getLogger("kotoba")


@dataclass(frozen=True)
class Surroundings:
    """What all calls of tool modules share.

    ``approval_window_seconds``, by channel, is how long a person has to answer a question: an exec tool's budget
    must be longer. ``soul_patterns`` fills up while tools load.
    """

    workdir: Path
    confirm: Confirm = deny
    approval_window_seconds: Mapping[str, float] = field(default_factory=lambda: {"voice": 60.0, "text": 180.0})
    soul_patterns: dict[str, Any] = field(default_factory=dict)


class KotobaTool:
    """One module, one tool. What is asked of it here is answered from what was read at load time."""

    def __init__(
        self,
        *,
        plugin: str,
        package: str,
        module: Any,
        attributes: Attributes,
        host: PluginHost,
        surroundings: Surroundings,
        check: Check | None,
    ) -> None:
        self._plugin = plugin
        self._package = package
        self._module = module
        self._attributes = attributes
        self._host = host
        self._surroundings = surroundings
        self._check = check

    @property
    def name(self) -> str:
        """``SCHEMA["name"]``, else the file's or the entry point's."""
        return self._attributes.name

    @property
    def origin(self) -> str:
        """``plugin:<name>``."""
        return f"plugin:{self._plugin}"

    @property
    def toolset(self) -> str:
        """Always the plugin's own, whatever TOOLSET says: the plugin's switch must govern its tools."""
        return self.origin

    @property
    def risk(self) -> Risk:
        """RISK."""
        return self._attributes.risk

    @property
    def is_risk_declared(self) -> bool:
        """Always: a module without RISK declares that it only reads."""
        return True

    @property
    def expressions(self) -> Expressions:
        """EXPRESSIONS."""
        return self._attributes.expressions

    @property
    def voice_lines(self) -> VoiceLines:
        """ANNOUNCE, HEARTBEAT, COMPLETE, FAIL, with the soul's overrides."""
        return self._attributes.voice_lines

    @property
    def is_interactive(self) -> bool:
        """INTERACTIVE."""
        return self._attributes.is_interactive

    def schema(self) -> Mapping[str, Json]:
        """SCHEMA with its name in it. Raises ``ValueError`` when no model could read it."""
        if isinstance(self._attributes.schema, str):
            raise ValueError(self._attributes.schema)
        return self._attributes.schema

    def available(self) -> bool:
        """The last answer of ``check()``; see ``refresh_check``."""
        return self._check is None or self._check.answer

    async def refresh_check(self) -> None:
        """Ask ``check()`` again when its answer is old."""
        if self._check is not None:
            await self._check.refresh()

    def budget_seconds(self, arguments: Mapping[str, Json], context: CallContext) -> float | None:
        """TIMEOUT, ARG_TIMEOUT and MAX_TIMEOUT, and the floor of an exec tool; None when INTERACTIVE."""
        if self.is_interactive:
            return None
        window = self._surroundings.approval_window_seconds.get(context.channel, 0.0)
        return self._attributes.budget.seconds(arguments, window)

    def timed_out(self, seconds: float) -> ToolResult:
        """The contract's fixed text."""
        return results.timed_out(seconds)

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        """Run ``execute`` on the plugin loop."""
        if self._attributes.is_built_in:
            return ToolResult("")
        paused = self._host.quarantine.why_paused(self._plugin)
        if paused is not None:
            return results.errored(paused)
        ran = await self._host.run(self._plugin, lambda: self._execute(dict(arguments), context))
        return results.errored(describe(ran.error)) if isinstance(ran, Raised) else ran.value

    # --------------------------------------------------------------------------- on the plugin's side

    async def _execute(self, arguments: dict[str, Json], context: CallContext) -> ToolResult:
        """Call the module and grade what it did; only what we stopped ourselves leaves as an exception."""
        with siblings.inside(self._package), CallWitness(context.call_id) as witness:
            try:
                ctx = make_context(
                    context, self._surroundings.workdir, self._approval(context), self._surroundings.soul_patterns
                )
                value = self._module.execute(arguments, ctx)
                if not inspect.isawaitable(value):
                    return results.errored("execute is a plain def; it must be an async def", witness)
                return results.grade(await value, witness, self.name)
            except BaseException as error:
                if not CURRENT_CALL.get().is_awaited:
                    raise  # it was stopped by us, and nobody waits for a grade
                self._log(error)
                return results.errored(describe(error), witness)

    def _log(self, error: BaseException) -> None:
        if isinstance(error, asyncio.CancelledError):
            sentence = f"{self.name} raised a cancellation that nobody asked for: {describe(error)}"
            log_traceback(_STRAY_CANCEL_LOG, logging.ERROR, sentence, error)
        else:
            log_traceback(_LOG, logging.WARNING, f"{self.name} of {self.origin} raised", error)

    def _approval(self, context: CallContext) -> Approval:
        def ask(action: str, risk_kind: str, family: str | None, force_ask: bool) -> Any:
            question = Confirmation(self.name, self._plugin, action, risk_kind, family, force_ask, context)
            return self._host.at_home(lambda: self._confirm(question))

        return Approval(context.call_id, ask)

    async def _confirm(self, question: Confirmation) -> Verdict:
        """Ask a person, on our loop; the call's budget stands still meanwhile."""
        question.call.waiting_for_person(True)
        try:
            return await self._surroundings.confirm(question)
        finally:
            question.call.waiting_for_person(False)
