"""The bridge between our loop and a stranger's code, which never runs on it.

Tool modules share one plugin loop in its own daemon thread (``run``); plugin tools of the second contract get one
daemon thread per call (``run_in_thread``). Either way the caller gets data back: what was returned, or whatever was
raised. A caller that is cancelled, by the person or by the budget, is free at once; the work is told to stop, and
what does not stop is left behind and counted. A plugin loop that is held by work nobody waits for is replaced.

What cannot be contained here: a C call that holds the interpreter lock, and memory eaten in our process.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from appliance.contracts.interrupt import interrupt
from appliance.contracts.plugin_call import LoopLostError, PluginCall, Raised, Ran, Returned
from appliance.contracts.plugin_loop import PluginLoop, Work
from appliance.contracts.plugin_output import PluginOutput
from appliance.contracts.quarantine import Quarantine
from appliance.tools.tool import Tool

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


class PluginHost:
    """Runs plugin code away from our loop. Its methods are for our loop, unless they say otherwise.

    ``grace_seconds`` is how long the plugin loop, or a cancelled call, may take to react. It is real time, not
    the clock port's: what it measures is a real thread.
    """

    def __init__(self, quarantine: Quarantine | None = None, *, grace_seconds: float = 1.0) -> None:
        self.quarantine = quarantine or Quarantine()
        #: How often the plugin loop was held in vain and had to be replaced.
        self.loops_replaced = 0
        self._grace_seconds = grace_seconds
        self._home: asyncio.AbstractEventLoop | None = None
        self._loop: PluginLoop | None = None
        self._output: PluginOutput | None = None
        #: Calls that somebody waits for, with what they run: they move when the loop is replaced before their turn.
        self._awaited: dict[PluginCall, Work] = {}
        self._seeing_off: set[asyncio.Task[None]] = set()

    async def run(self, plugin: str, work: Callable[[], Awaitable[T]]) -> Ran[T]:
        """Call and await ``work`` on the plugin loop, in a copy of our context variables.

        Raises only cancellation; the work is then cancelled too, and not waited for.
        """
        self._open()
        call = self._new_call(plugin)
        self._awaited[call] = work
        self._plugin_loop.start(call, work)
        try:
            while not call.ended.done():
                await asyncio.wait({call.ended}, timeout=self._grace_seconds)
                if not call.ended.done():
                    await self._free_the_loop(suspect=None)
        except asyncio.CancelledError:
            self._see_off(call, self._plugin_loop)
            raise
        finally:
            call.is_awaited = False
            del self._awaited[call]
        ran: Ran[T] = call.ended.result()
        return ran

    async def run_in_thread(self, plugin: str, work: Callable[[], T]) -> Ran[T]:
        """Call ``work`` in a daemon thread of its own, in a copy of our context variables.

        Raises only cancellation; the thread cannot be stopped and counts as abandoned while it lives.
        """
        self._open()
        call = self._new_call(plugin)
        thread = threading.Thread(target=_run_plain, args=(call, work), name=f"plugin {plugin}", daemon=True)
        thread.start()
        try:
            await asyncio.wait({call.ended})
        except asyncio.CancelledError:
            self._leave_behind(plugin, thread)
            raise
        ran: Ran[T] = call.ended.result()
        return ran

    def why_withheld(self, tool: Tool) -> str | None:
        """A rule for the registry: why the plugin of this tool is paused, in words."""
        return self.quarantine.why_paused(tool.origin.removeprefix("plugin:"))

    async def at_home(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await ``work`` on our loop: for plugin code that needs the rest of the program. On the plugin loop."""
        if self._home is None:
            raise RuntimeError("the plugin host has run nothing yet")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._home))

    async def close(self) -> None:
        """End the plugin loop and every call on it; what hangs there dies with the process."""
        for call in self._awaited:
            self._lose(call, "the plugin host is closing")
        for task in self._seeing_off:
            task.cancel()
        await asyncio.gather(*self._seeing_off, return_exceptions=True)
        if self._loop is not None:
            self._loop.retire()
            await asyncio.to_thread(self._loop.thread.join, self._grace_seconds)
            self._loop = None
        if self._output is not None:
            self._output.remove()
            self._output = None

    # ------------------------------------------------------------------------------------------- private

    def _open(self) -> None:
        if self._output is None:
            self._home = asyncio.get_running_loop()
            self._output = PluginOutput.install()

    @property
    def _plugin_loop(self) -> PluginLoop:
        """The loop in use; its thread starts with the first call."""
        if self._loop is None:
            self._loop = PluginLoop()
        return self._loop

    def _new_call(self, plugin: str) -> PluginCall:
        return PluginCall(plugin, asyncio.get_running_loop().create_future())

    def _see_off(self, call: PluginCall, loop: PluginLoop) -> None:
        call.is_awaited = False
        loop.cancel(call)
        task = asyncio.create_task(self._bury(call, loop), name=f"see off a call of {call.plugin}")
        self._seeing_off.add(task)
        task.add_done_callback(self._seeing_off.discard)

    async def _bury(self, call: PluginCall, loop: PluginLoop) -> None:
        """A call that was told to stop ends soon, or its plugin has left something hanging."""
        if not call.is_started:
            return
        await self._free_the_loop(suspect=call)
        if not loop.is_retired:  # else its thread has been counted instead
            await asyncio.wait({call.ended}, timeout=self._grace_seconds)
            self.quarantine.add(call.plugin, lambda: not call.ended.done())
        for thread in call.threads:
            self._leave_behind(call.plugin, thread)

    async def _free_the_loop(self, suspect: PluginCall | None) -> None:
        """Replace the plugin loop when it does not answer and nobody waits for what holds it.

        ``suspect`` is to blame when the loop cannot say what holds it.
        """
        loop = self._plugin_loop
        if await loop.answers(self._grace_seconds) or loop.is_retired:
            return
        holder = loop.holder()
        # A bare callback may belong to any call that has started: the budgets of those decide.
        holders = [holder] if holder is not None else list(self._awaited)
        if not any(call.is_started and call.is_awaited for call in holders):
            self._replace(loop, holder or suspect)

    def _replace(self, loop: PluginLoop, culprit: PluginCall | None) -> None:
        _LOG.error("plugin %s holds the plugin loop; it gets a new one", culprit.plugin if culprit else "(unknown)")
        self.loops_replaced += 1
        self._loop = PluginLoop()
        loop.retire()
        self._leave_behind(culprit.plugin if culprit else "", loop.thread)
        for call, work in self._awaited.items():
            if call.is_started:
                self._lose(call, "another plugin blocked the loop that this call ran on")
            else:
                self._loop.start(call, work)

    def _lose(self, call: PluginCall, why: str) -> None:
        call.is_awaited = False
        call.finish(Raised(LoopLostError(why)))

    def _leave_behind(self, plugin: str, thread: threading.Thread) -> None:
        interrupt(thread)
        if plugin:
            self.quarantine.add(plugin, thread.is_alive)


def _run_plain(call: PluginCall, work: Callable[[], Any]) -> None:
    """The body of a per-call thread: nothing that a plugin raises leaves it."""
    try:
        call.finish(Returned(call.context.run(work)))
    except BaseException as error:
        call.finish(Raised(error))
