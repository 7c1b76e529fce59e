"""One entry of a tool file's TOOLS as one of our tools."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from appliance.contracts.failures import is_own_fault
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.blame import describe, log_traceback
from appliance.contracts.plugin_call import Raised
from appliance.contracts.sapphire import dispatch
from appliance.contracts.sapphire.coercion import coerced
from appliance.contracts.sapphire.credentials import PluginCredentials
from appliance.contracts.sapphire.exports import Flags, ToolEntry
from appliance.contracts.sapphire.manifest import Manifest
from appliance.contracts.sapphire.risk import DerivedRisk
from appliance.contracts.sapphire.root_config import RootConfig
from appliance.contracts.sapphire.scopes import Scopes
from appliance.contracts.sapphire.settings import PluginSettings
from appliance.events import Outcome
from appliance.ports import Json
from appliance.tools.tool import CallContext, Expressions, Risk, ToolResult, VoiceLines

_LOG = logging.getLogger(__name__)

#: Setting of the host that lets tools without the flag run in private chats.
UNFLAGGED_SETTING = "PRIVATE_ALLOW_UNFLAGGED_TOOLS"
#: In the plugin's settings: seconds that one call may take.
BUDGET_SETTING = "budget_seconds"
_LONGEST_BUDGET_SECONDS = 86_400


@dataclass(frozen=True)
class Around:
    """What all calls of plugin tools share.

    ``is_private``, ``chat_name`` and ``accounts`` (scope -> account, "none" switches it off) say what holds in the
    chat of a call.
    """

    settings: PluginSettings
    credentials: PluginCredentials
    scopes: Scopes
    root: RootConfig
    #: Masks every known secret.
    redact: Callable[[str], str]
    budget_seconds: float = 120.0
    is_private: Callable[[CallContext], bool] = lambda _context: False
    #: The name of the chat of a call, by which plugins know it.
    chat_name: Callable[[CallContext], str] = lambda context: context.chat
    accounts: Callable[[CallContext], Mapping[str, str]] = lambda _context: {}
    #: Whether the toolset in use names exactly this tool.
    is_named: Callable[[str], bool] = lambda _tool: False


@dataclass(frozen=True)
class Facts:
    """What is known of one tool from loading it; ``toolset`` is the name of its file as toolsets know it."""

    plugin: str
    manifest: Manifest
    module: Any
    toolset: str
    emoji: str
    derived: DerivedRisk
    #: None when the owner has not judged otherwise.
    judged: Risk | None


class PluginTool:
    """A tool of this contract. Its lines and its budget follow the plugin's settings (``follow``)."""

    expressions = Expressions()
    is_interactive = False

    def __init__(self, entry: ToolEntry, facts: Facts, host: PluginHost, around: Around, lines: VoiceLines) -> None:
        self.entry = entry
        self.facts = facts
        self._host = host
        self._around = around
        self._lines = lines
        self._budget_seconds = around.budget_seconds
        #: The turn of the last call, and how many calls it has made.
        self._calls: tuple[str, int] = ("", 0)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.entry.name

    @property
    def origin(self) -> str:
        """``plugin:<name>``."""
        return f"plugin:{self.facts.plugin}"

    @property
    def toolset(self) -> str:
        """``plugin_<name>_<file>``."""
        return self.facts.toolset

    @property
    def flags(self) -> Flags:
        """What its author says about where it works."""
        return self.entry.flags

    @property
    def risk(self) -> Risk:
        """The owner's judgement, else what was read off the code."""
        return self.facts.judged or self.facts.derived.risk

    @property
    def is_risk_declared(self) -> bool:
        """Only when the owner has judged."""
        return self.facts.judged is not None

    @property
    def voice_lines(self) -> VoiceLines:
        """Lines around the call."""
        return self._lines

    def schema(self) -> Mapping[str, Json]:
        """As ``get_tools()`` or TOOLS last said it. Raises ``ValueError`` when no model could read it."""
        if isinstance(self.entry.schema, str):
            raise ValueError(self.entry.schema)
        return self.entry.schema

    def available(self) -> bool:
        """Not when it is hidden and no toolset names it, nor while the host's setting that it depends on is off."""
        is_shown = not self.flags.is_hidden or self._around.is_named(self.name)
        return is_shown and (not self.entry.gate or bool(self._around.root.get(self.entry.gate)))

    def why_unavailable(self) -> str:
        """Why it is kept from a model, in words; "" when it is not."""
        if self.flags.is_hidden:
            return "its author hides it (hidden): only a saved toolset that names it offers it"
        if not self.available():
            return f"the setting {self.entry.gate} in user/settings.json, which it depends on, is off"
        return ""

    def budget_seconds(self, arguments: Mapping[str, Json], context: CallContext) -> float | None:
        """The same for every call."""
        return self._budget_seconds

    def timed_out(self, seconds: float) -> ToolResult:
        """The contract has no budgets; the words are those of any other failure."""
        self._host.failures.add(self.facts.plugin, self.name)
        return dispatch.failed(self.name, f"no answer within {seconds:g} s")

    def follow(self, settings: Mapping[str, Any], lines: VoiceLines) -> None:
        """The plugin's settings have changed."""
        self._lines = lines
        self._budget_seconds = _seconds(settings.get(BUDGET_SETTING), self._around.budget_seconds)

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        """Run ``execute`` in a thread of its own."""
        paused = self._host.quarantine.why_paused(self.facts.plugin)
        if paused is not None:
            return dispatch.failed(self.name, paused)
        refusal = self.why_not_private() if self._around.is_private(context) else ""
        if refusal:
            return ToolResult(refusal, Outcome.REFUSED, error="not in a private chat")
        given, faults = coerced(arguments, self._parameters)
        if faults:
            text = f"Error: invalid argument type(s) for {self.name}: {'; '.join(faults)}. It was not run."
            return ToolResult(text, Outcome.FAILED, error="invalid argument types")
        raised: list[BaseException] = []
        ran = await self._host.run_in_thread(
            self.facts.plugin,
            lambda: self._execute(given, context, raised.append),
            lambda result: result.outcome in (Outcome.OK, Outcome.PENDING),
        )
        if isinstance(ran, Raised):
            raised.append(ran.error)
        if any(map(is_own_fault, raised)):
            self._host.failures.add(self.facts.plugin, self.name)
        result = dispatch.failed(self.name, describe(ran.error)) if isinstance(ran, Raised) else ran.value
        return self._warned(result, context.turn_id)

    @property
    def _parameters(self) -> Mapping[str, Json]:
        return {} if isinstance(self.entry.schema, str) else self.entry.schema["parameters"]

    def why_not_private(self) -> str:
        """For the model, why a tool with these flags does not run in a private chat; "" when it does."""
        is_local = self.flags.is_local
        if is_local is True:
            return ""
        if is_local is None:
            if self._around.root.get(UNFLAGGED_SETTING):
                return ""
            why = "its author does not say whether it stays in the house"
        elif is_local == "endpoint":
            why = "it talks to a service outside of this program"
        else:
            why = "it needs the network"
        return f"{self.name} was not run: this chat is private, and {why}. Tell the user; do not try another way."

    def _warned(self, result: ToolResult, turn_id: str) -> ToolResult:
        """The result, with its author's warning when one turn calls it again and again."""
        warning = self.entry.loop_warning
        if warning is None or not turn_id:
            return result
        turn, count = self._calls
        self._calls = (turn_id, count + 1 if turn == turn_id else 1)
        text = warning.text(self._calls[1])
        return replace(result, text=f"{result.text}\n\n{text}") if text else result

    # --------------------------------------------------------------------------- on the plugin's side

    def _execute(
        self, arguments: dict[str, Json], context: CallContext, blame: Callable[[BaseException], None]
    ) -> ToolResult:
        """Call the module and grade what it did. Nothing leaves this frame as an exception."""
        around = self._around
        is_private = around.is_private(context)
        try:
            chat, accounts = around.chat_name(context), around.accounts(context)
            around.scopes.enter(chat, is_private=is_private, accounts=accounts)
            settings = around.settings.read(self.facts.plugin, self.facts.manifest.defaults)
            everything = (self.name, arguments, around.root.module, settings, around.credentials)
            result = dispatch.grade(dispatch.call(self.facts.module.execute, everything), self.name)
        except BaseException as error:
            log_traceback(_LOG, logging.WARNING, f"{self.name} of {self.origin} raised", error)
            blame(error)
            result = dispatch.raised(self.name, error)
        return replace(result, text=around.redact(result.text), error=around.redact(result.error))


def _seconds(value: object, otherwise: float) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= _LONGEST_BUDGET_SECONDS:
        return float(value)
    return otherwise
