"""The bridge between our loop and a stranger's code, which never runs on it.

Tool modules share one plugin loop in its own daemon thread (``run``); plugin tools of the second contract get one
daemon thread per call (``run_in_thread``). Either way the caller gets data back: what was returned, or whatever was
raised. A caller that is cancelled, by the person or by the budget, is free at once; the work is told to stop, and
what does not stop is left behind and counted. A plugin loop that is held by work nobody waits for is replaced.

Stop means stop: what a call has started ends with the call, unless it came to a good end. Then it is the tool's own
affair: a tool that starts a music player is meant to leave it behind.

What cannot be contained here: a C call that holds the interpreter lock, and memory eaten in our process.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from appliance.clock import SystemClock
from appliance.contracts import births
from appliance.contracts.builtin_names import BuiltinNames
from appliance.contracts.environment import KeysOf, PluginEnvironment
from appliance.contracts.failures import ToolFailures
from appliance.contracts.interrupt import interrupt
from appliance.contracts.plugin_call import CURRENT_CALL, LoopLostError, PluginCall, Raised, Ran, Returned
from appliance.contracts.plugin_loop import PluginLoop, Work
from appliance.contracts.plugin_output import PluginOutput
from appliance.contracts.quarantine import ABANDONED_LIMIT, Quarantine
from appliance.store.running_notes import Doing, RunningNotes
from appliance.tools.tool import Tool

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: How long a plugin's thread waits for our loop; it is never busy for long.
_LONGEST_WAIT_SECONDS = 10.0


def _always(_value: object) -> bool:
    return True


class PluginHost:
    """Runs plugin code away from our loop. Its methods are for our loop, unless they say otherwise.

    ``grace_seconds`` is how long the plugin loop, or a cancelled call, or a process that was told to end, may take
    to react. It is real time, not the clock port's: what it measures is a real thread, or a real process.
    ``keys_of`` gives the keys that a plugin finds in its environment.
    """

    def __init__(
        self,
        quarantine: Quarantine | None = None,
        *,
        failures: ToolFailures | None = None,
        notes: RunningNotes | None = None,
        grace_seconds: float = 1.0,
        keys_of: KeysOf = lambda _plugin: {},
    ) -> None:
        self.quarantine = quarantine or Quarantine()
        self.failures = failures or ToolFailures(SystemClock())
        self._notes = notes or RunningNotes()
        self._keys_of = keys_of
        #: How often the plugin loop was held in vain and had to be replaced.
        self.loops_replaced = 0
        self._grace_seconds = grace_seconds
        self._home: asyncio.AbstractEventLoop | None = None
        self._loop: PluginLoop | None = None
        self._output: PluginOutput | None = None
        self._environment: PluginEnvironment | None = None
        self._builtins: BuiltinNames | None = None
        #: Python's own names that a plugin has replaced, by plugin.
        self._replaced: dict[str, set[str]] = {}
        #: Calls that somebody waits for, with what they run: they move when the loop is replaced before their turn.
        self._awaited: dict[PluginCall, Work] = {}
        self._in_threads: set[PluginCall] = set()
        self._seeing_off: set[asyncio.Task[None]] = set()
        #: Calls whose processes are being ended.
        self._clearing: dict[PluginCall, asyncio.Task[None]] = {}
        self._is_closing = asyncio.Event()

    async def run(
        self,
        plugin: str,
        work: Callable[[], Awaitable[T]],
        is_good: Callable[[T], bool] = _always,
        *,
        doing: Doing = Doing.CALL,
    ) -> Ran[T]:
        """Call and await ``work`` on the plugin loop, in a copy of our context variables.

        Raises only cancellation; the work is then cancelled too, and not waited for. What it returned tells
        ``is_good`` whether the call came to a good end; what it raised is none. ``doing`` is for the running notes.
        """
        self._open()
        call = self._new_call(plugin, doing)
        self._awaited[call] = work
        self._plugin_loop.start(call, work)
        try:
            while not call.ended.done():
                await asyncio.wait({call.ended}, timeout=self._grace_seconds)
                if not call.ended.done():
                    await self._free_the_loop(suspect=None)
        except asyncio.CancelledError:
            self._see_off(call, self._plugin_loop)
            self._clear_up(call)
            raise
        finally:
            call.is_awaited = False
            del self._awaited[call]
            self._restore_builtins(plugin)
        return self._ended(call, is_good)

    async def run_in_thread(
        self,
        plugin: str,
        work: Callable[[], T],
        is_good: Callable[[T], bool] = _always,
        *,
        doing: Doing = Doing.CALL,
    ) -> Ran[T]:
        """Call ``work`` in a daemon thread of its own, in a copy of our context variables.

        Raises only cancellation; the thread cannot be stopped and counts as abandoned while it lives. ``is_good``
        and ``doing`` are as for ``run``.
        """
        self._open()
        call = self._new_call(plugin, doing)
        thread = threading.Thread(target=_run_plain, args=(call, work), name=f"plugin {plugin}", daemon=True)
        thread.start()
        self._in_threads.add(call)
        try:
            await asyncio.wait({call.ended})
        except asyncio.CancelledError:
            self._leave_behind(plugin, thread)
            self._clear_up(call)
            raise
        finally:
            self._in_threads.discard(call)
            self._restore_builtins(plugin)
        return self._ended(call, is_good)

    def why_withheld(self, tool: Tool) -> str | None:
        """A rule for the registry: why this tool, or its plugin, is paused, in words."""
        plugin = tool.origin.removeprefix("plugin:")
        return self.quarantine.why_paused(plugin) or self.failures.why_paused(plugin, tool.name)

    def remarks(self, plugin: str) -> list[str]:
        """What the code of this plugin has done to the box since it was loaded, in sentences for its owner."""
        paused = self.quarantine.why_paused(plugin)
        hanging = self.quarantine.abandoned(plugin)
        said = [paused] if paused else []
        said += self.failures.remarks(plugin)
        if hanging and not paused:
            said.append(f"calls of it never came back and still run: {hanging}, and at {ABANDONED_LIMIT} it is paused")
        if threads := births.threads_left_behind(plugin):
            said.append(f"a thread that it started runs on behind its calls: {', '.join(threads)}")
        if names := self._replaced.get(plugin):
            said.append(f"it replaced what belongs to Python itself, which was put back: {', '.join(sorted(names))}")
        return said

    def forgive(self, plugin: str) -> None:
        """The plugin is loaded anew: what its code did before does not count."""
        self._replaced.pop(plugin, None)
        self.failures.forgive(plugin)

    async def at_home(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await ``work`` on our loop: for plugin code that needs the rest of the program. On the plugin loop."""
        if self._home is None:
            raise RuntimeError("the plugin host has run nothing yet")
        # Not in the plugin's context: what is done and started there is not the plugin's.
        call = CURRENT_CALL.get(None)
        context = call.home_context.copy() if call is not None else contextvars.Context()
        return await asyncio.wrap_future(context.run(asyncio.run_coroutine_threadsafe, work(), self._home))

    def from_thread(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do ``work`` on our loop and wait for it: for plugin code in any thread but our own.

        Raises what it raises, and ``RuntimeError`` when the box does not answer.
        """
        home, call = self._home, CURRENT_CALL.get(None)
        if home is None or home.is_closed():
            raise RuntimeError("the box is not running")
        context = call.home_context.copy() if call is not None else contextvars.Context()
        waiting = context.run(asyncio.run_coroutine_threadsafe, work(), home)
        try:
            return waiting.result(_LONGEST_WAIT_SECONDS)
        except concurrent.futures.TimeoutError as error:
            waiting.cancel()
            raise RuntimeError("the box does not answer now") from error

    async def close(self) -> None:
        """End the plugin loop, every call on it and their processes; what hangs there dies with our own."""
        self._is_closing.set()
        births.let_go()
        for call in self._awaited:
            self._lose(call, "the plugin host is closing")
        for call in self._in_threads:
            self._clear_up(call)
        for task in self._seeing_off:
            task.cancel()
        await asyncio.gather(*self._seeing_off, return_exceptions=True)
        if self._loop is not None:
            self._loop.retire()
            await asyncio.to_thread(self._loop.thread.join, self._grace_seconds)
            self._loop = None
        await asyncio.gather(*self._clearing.values(), return_exceptions=True)
        if self._output is not None:
            self._output.remove()
            self._output = None
        if self._environment is not None:
            self._environment.remove()
            self._environment = None

    # ------------------------------------------------------------------------------------------- private

    def _open(self) -> None:
        if self._output is None:
            self._home = asyncio.get_running_loop()
            self._output = PluginOutput.install()
            self._environment = PluginEnvironment.install(self._keys_of)
            self._builtins = BuiltinNames()
            births.watch()

    @property
    def _plugin_loop(self) -> PluginLoop:
        """The loop in use; its thread starts with the first call."""
        if self._loop is None:
            self._loop = PluginLoop()
        return self._loop

    def _new_call(self, plugin: str, doing: Doing) -> PluginCall:
        return PluginCall(plugin, asyncio.get_running_loop().create_future(), doing, self._notes)

    def _restore_builtins(self, plugin: str) -> None:
        """Nobody else has replaced any while a call ran; with several at once the first to end is blamed."""
        names = self._builtins.restore() if self._builtins is not None else []
        if names:
            _LOG.warning("plugin %s replaced what belongs to Python itself: %s", plugin, ", ".join(names))
            self._replaced.setdefault(plugin, set()).update(names)

    def _ended(self, call: PluginCall, is_good: Callable[[T], bool]) -> Ran[T]:
        ran: Ran[T] = call.ended.result()
        if isinstance(ran, Raised) or not is_good(ran.value):
            self._clear_up(call)
        return ran

    def _clear_up(self, call: PluginCall) -> None:
        """Begin to end everything that the call has started."""
        if call not in self._clearing:
            task = asyncio.create_task(self._end_children(call), name=f"end the processes of {call.plugin}")
            self._clearing[call] = task
            task.add_done_callback(lambda _task: self._clearing.pop(call))

    async def _end_children(self, call: PluginCall) -> None:
        """The polite way first. Until then the call's own clean-up may start what it needs for that."""
        children, grace = call.children, self._grace_seconds
        patience = asyncio.create_task(asyncio.wait({call.ended}, timeout=grace))
        if children.are_known:
            await asyncio.to_thread(children.ask_to_end, grace)
        await patience
        await asyncio.to_thread(children.kill)
        if children.are_known:
            # Whoever waits for a child comes first, and has had the time to.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_closing.wait(), grace)
            await asyncio.to_thread(children.collect)

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
        self._clear_up(call)

    def _leave_behind(self, plugin: str, thread: threading.Thread) -> None:
        interrupt(thread)
        if plugin:
            self.quarantine.add(plugin, thread.is_alive)


def _run_plain(call: PluginCall, work: Callable[[], Any]) -> None:
    """The body of a per-call thread: nothing that a plugin raises leaves it."""
    try:
        with call.noted():
            value = call.context.run(work)
        call.finish(Returned(value))
    except BaseException as error:
        call.finish(Raised(error))
