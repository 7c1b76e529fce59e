"""A tool module as one of our tools."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from appliance.approve.config import ApprovalConfig
from appliance.contracts.failures import is_own_fault
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba import results, siblings
from appliance.contracts.kotoba.attributes import Attributes
from appliance.contracts.kotoba.blame import describe, log_traceback
from appliance.contracts.kotoba.check import Check
from appliance.contracts.kotoba.context import Approval, Confirm, ToolContext, deny, make_context
from appliance.contracts.kotoba.doors import Doors
from appliance.contracts.kotoba.inputs import AskInput, nobody
from appliance.contracts.kotoba.keys import PluginKeys, Secrets
from appliance.contracts.kotoba.sandbox.sandboxes import Sandboxes
from appliance.contracts.kotoba.voice import voice_lines
from appliance.contracts.kotoba.witness import CallWitness
from appliance.contracts.plugin_call import CURRENT_CALL, Raised
from appliance.events import Outcome
from appliance.ports import Json
from appliance.tools.tool import CallContext, Expressions, Risk, ToolResult, VoiceLines

_LOG = logging.getLogger(__name__)
#: The contract names this logger for a cancellation that nobody asked for.
_STRAY_CANCEL_LOG = logging.getLogger("kotoba")


@dataclass(frozen=True)
class Surroundings:
    """What all calls of tool modules share.

    ``approval_window_seconds``, by channel, is how long a person has to answer a question: an exec tool's budget
    must be longer. ``soul_patterns`` fills up while tools load. ``sandboxes`` are where tools run programs, and
    ``secrets`` where each plugin finds its keys.
    """

    workdir: Path
    confirm: Confirm = deny
    ask_input: AskInput = nobody
    approval_window_seconds: Mapping[str, float] = field(default_factory=lambda: ApprovalConfig().window_seconds)
    soul_patterns: dict[str, Any] = field(default_factory=dict)
    sandboxes: Sandboxes = field(default_factory=Sandboxes)
    secrets: Secrets | None = None


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
        self._trouble = ""

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
    def module(self) -> Any:
        """The author's module, for who looks at it; on the plugin's side, or where nothing else runs."""
        return self._module

    @property
    def has_risk(self) -> bool:
        """Whether there is a RISK in its file."""
        return self._attributes.has_risk

    @property
    def has_check(self) -> bool:
        """Whether it has a ``check()``."""
        return self._check is not None

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

    def why_unavailable(self) -> str:
        """Why ``check()`` keeps it from a model, in words; "" when it does not."""
        if self._check is None or self._check.answer:
            return ""
        if self._check.problem:
            return f"its check() could not be asked: {self._check.problem}"
        return "its check() says that it cannot work now"

    def remarks(self) -> list[str]:
        """What is wrong with it now, in sentences for its owner: with its ``check()``, and with its last call."""
        said = []
        if self._check is not None and self._check.problem:
            meanwhile = "offered" if self._check.answer else "hidden from the model"
            said.append(f"its check() could not be asked ({self._check.problem}); the tool stays {meanwhile}")
        return [*said, self._trouble] if self._trouble else said

    async def take_lines(self, overrides: Mapping[str, Any]) -> None:
        """Read the module's lines again, and put the soul's new ones over them; as they were when it cannot be read."""

        async def read() -> VoiceLines:
            return voice_lines(self._module, overrides, lambda _sentence: None)

        ran = await self._host.run(self._plugin, read, lambda _lines: True)
        if not isinstance(ran, Raised):
            self._attributes = replace(self._attributes, voice_lines=ran.value)

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
        result = results.timed_out(seconds)
        self._trouble = results.what_was_wrong(result)
        self._host.failures.add(self._plugin, self.name)
        return result

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        """Run ``execute`` on the plugin loop."""
        if self._attributes.is_built_in:
            return ToolResult("")
        paused = self._host.quarantine.why_paused(self._plugin)
        if paused is not None:
            return results.errored(paused)
        sandboxes = self._surroundings.sandboxes
        sandboxes.begin(context.call_id)
        raised: list[BaseException] = []
        try:
            ran = await self._host.run(
                self._plugin, lambda: self._execute(dict(arguments), context, raised.append), _came_to_a_good_end
            )
        finally:
            sandboxes.end(context.call_id)
        if isinstance(ran, Raised):
            raised.append(ran.error)
        result = results.errored(describe(ran.error)) if isinstance(ran, Raised) else ran.value
        if result.outcome is Outcome.FAILED and any(map(is_own_fault, raised)):
            self._host.failures.add(self._plugin, self.name)
        self._trouble = results.what_was_wrong(result)
        return result

    # --------------------------------------------------------------------------- on the plugin's side

    async def _execute(
        self, arguments: dict[str, Json], context: CallContext, blame: Callable[[BaseException], None]
    ) -> ToolResult:
        """Call the module and grade what it did; only what we stopped ourselves leaves as an exception."""
        with (
            siblings.inside(self._package),
            CallWitness(context.call_id) as witness,
            self._doors(context) as doors,
        ):
            try:
                ctx = self._context(context, doors.approval)
                value = self._module.execute(arguments, ctx)
                if not inspect.isawaitable(value):
                    return results.errored("execute is a plain def; it must be an async def", witness)
                value = await value
                await ctx.cleanup()
                return results.grade(value, witness, self.name)
            except BaseException as error:
                if not CURRENT_CALL.get().is_awaited:
                    raise  # it was stopped by us, and nobody waits for a grade
                self._log(error)
                blame(error)
                return results.errored(describe(error), witness)

    def _log(self, error: BaseException) -> None:
        if isinstance(error, asyncio.CancelledError):
            sentence = f"{self.name} raised a cancellation that nobody asked for: {describe(error)}"
            log_traceback(_STRAY_CANCEL_LOG, logging.ERROR, sentence, error)
        else:
            log_traceback(_LOG, logging.WARNING, f"{self.name} of {self.origin} raised", error)

    def _doors(self, context: CallContext) -> Doors:
        surroundings = self._surroundings
        return Doors(
            tool=self.name,
            plugin=self._plugin,
            call=context,
            at_home=self._host.at_home,
            confirm=surroundings.confirm,
            ask_input=surroundings.ask_input,
        )

    def _context(self, context: CallContext, approval: Approval) -> ToolContext:
        surroundings = self._surroundings
        keys = PluginKeys(self._plugin, surroundings.secrets)
        return make_context(context, surroundings.workdir, approval, surroundings.soul_patterns, keys)


def _came_to_a_good_end(result: ToolResult) -> bool:
    return result.outcome in (Outcome.OK, Outcome.PENDING)
