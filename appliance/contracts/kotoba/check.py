"""``check()``: whether a tool is offered; asked at most every 30 seconds, never on our loop."""

from __future__ import annotations

import inspect
import logging
from typing import Any

from appliance.clock import Clock, within
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba import siblings
from appliance.contracts.kotoba.blame import describe
from appliance.contracts.plugin_call import Raised

_LOG = logging.getLogger(__name__)

_FRESH_SECONDS = 30.0
#: The page asks for cheap checks; a turn does not wait longer for one that is not.
_PATIENCE_SECONDS = 2.0


class Check:
    """The last answer of one module's ``check()``; False until there is one."""

    def __init__(self, plugin: str, package: str, tool: str, module: Any, host: PluginHost, clock: Clock) -> None:
        self._plugin = plugin
        self._package = package
        self._tool = tool
        self._module = module
        self._host = host
        self._clock = clock
        self._asked_at: float | None = None
        self.answer = False
        #: Why it could not be asked the last time; "" when it could.
        self.problem = ""

    async def refresh(self) -> None:
        """Ask again if the answer is older than 30 s. When asking fails the last answer stands."""
        if self._host.quarantine.why_paused(self._plugin):
            return
        now = self._clock.monotonic_seconds()
        if self._asked_at is not None and now - self._asked_at < _FRESH_SECONDS:
            return
        self._asked_at = now
        try:
            ran = await within(self._clock, _PATIENCE_SECONDS, self._host.run(self._plugin, self._ask))
        except TimeoutError:
            self._failed(f"no answer within {_PATIENCE_SECONDS:g} s")
            return
        if isinstance(ran, Raised):
            self._failed(type(ran.error).__name__)
        elif isinstance(ran.value, str):
            self._failed(ran.value)
        else:
            self.answer, self.problem = ran.value, ""

    def _failed(self, why: str) -> None:
        self.problem = why
        standing = "available" if self.answer else "not available"
        _LOG.warning("check() of %s failed (%s); it stays %s", self._tool, why, standing)

    async def _ask(self) -> bool | str:
        """The answer, or what went wrong in words. On the plugin loop."""
        with siblings.inside(self._package):
            try:
                answer = self._module.check()
                if inspect.iscoroutine(answer):
                    # The contract wants a plain def: the original never awaits this, so it always counts as a yes.
                    answer.close()
                    return True
                return bool(answer)
            except BaseException as error:
                return describe(error)
