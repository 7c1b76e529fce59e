"""Plugin code away from a call: loading, hooks of loading, tasks, daemons. Time-boxed, and it never raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from appliance.clock import Clock, within
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.blame import describe
from appliance.contracts.plugin_call import Raised
from appliance.store.running_notes import Doing

T = TypeVar("T")


@dataclass(frozen=True)
class Failed:
    """Plugin code gave nothing; why, in words."""

    why: str


class PluginWork:
    """Runs a piece of plugin code on a thread of its plugin. On the loop."""

    def __init__(self, host: PluginHost, clock: Clock, seconds: float) -> None:
        self._host = host
        self._clock = clock
        self._seconds = seconds

    async def run(
        self, plugin: str, work: Callable[[], T], seconds: float | None = None, *, doing: Doing = Doing.CALL
    ) -> T | Failed:
        """What it returned, or in words why there is nothing. Raises only cancellation."""
        longest = self._seconds if seconds is None else seconds

        def contained() -> T | Failed:
            """A stranger's exception is put into words on its own side."""
            try:
                return work()
            except BaseException as error:
                return Failed(describe(error))

        try:
            ran = await within(self._clock, longest, self._host.run_in_thread(plugin, contained, doing=doing))
        except TimeoutError:
            return Failed(f"it took longer than {longest:g} s")
        return Failed(type(ran.error).__name__) if isinstance(ran, Raised) else ran.value
