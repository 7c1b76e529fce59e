"""A daemon thread with an asyncio loop of its own, where the code of tool modules runs."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import itertools
import logging
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

from appliance.contracts.plugin_call import CURRENT_CALL, PluginCall, Raised, Returned

Work = Callable[[], Awaitable[Any]]

_LOG = logging.getLogger(__name__)

_NUMBERS = itertools.count(1)
#: How long the tasks of a loop that is given up may take to clean up after themselves.
_FAREWELL_SECONDS = 0.5


class PluginLoop:
    """One plugin loop. Our side posts calls to it and asks whether it still answers."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(self._make_task)
        self._loop.set_default_executor(_DaemonThreads())
        #: Weak: a task that is gone needs no owner.
        self._owners: weakref.WeakKeyDictionary[asyncio.Task[Any], PluginCall] = weakref.WeakKeyDictionary()
        self._tasks: dict[PluginCall, asyncio.Task[None]] = {}
        #: Guards the moment in which a call starts here or is moved to another loop: it must never do both.
        self._starting = threading.Lock()
        #: Nothing starts here any more.
        self.is_retired = False
        self.thread = threading.Thread(target=self._run, name=f"plugin-loop-{next(_NUMBERS)}", daemon=True)
        self.thread.start()

    def start(self, call: PluginCall, work: Work) -> None:
        """Run the call here, unless it was given up or this loop was retired before its turn came."""
        self._loop.call_soon_threadsafe(self._start, call, work, context=call.context)

    def cancel(self, call: PluginCall) -> None:
        """Cancel the call's task; does nothing when the loop is blocked."""
        self._loop.call_soon_threadsafe(self._cancel, call)

    async def answers(self, seconds: float) -> bool:
        """Whether the loop comes round within ``seconds`` of real time. On our loop."""
        home = asyncio.get_running_loop()
        reply = home.create_future()

        def answer() -> None:
            if not reply.done():
                reply.set_result(None)

        def pass_on() -> None:
            # A loop that comes round after our own was closed has nobody to answer.
            with contextlib.suppress(RuntimeError):
                home.call_soon_threadsafe(answer)

        self._loop.call_soon_threadsafe(pass_on)
        done, _ = await asyncio.wait({reply}, timeout=seconds)
        reply.cancel()
        return bool(done)

    def holder(self) -> PluginCall | None:
        """The call whose code is on the loop at this moment, if it is a task's. Any thread."""
        task = asyncio.current_task(self._loop)
        return self._owners.get(task) if task is not None else None

    def retire(self) -> None:
        """Cancel everything and end the thread, as soon as what blocks it lets go."""
        with self._starting:
            self.is_retired = True
        self._loop.call_soon_threadsafe(self._loop.stop)

    # ------------------------------------------------------------------------------ on the plugin thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self.is_retired:
            try:
                self._loop.run_forever()
            except BaseException:
                # A task that a plugin made by itself raised SystemExit: not a reason to end anything.
                if not self.is_retired:
                    _LOG.exception("a task of a plugin broke out of the plugin loop")
        with contextlib.suppress(BaseException):
            self._say_farewell()
        self._loop.close()

    def _say_farewell(self) -> None:
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks, timeout=_FAREWELL_SECONDS))

    def _make_task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **options)
        owner = CURRENT_CALL.get(None)
        if owner is not None:
            self._owners[task] = owner
        return task

    def _start(self, call: PluginCall, work: Work) -> None:
        with self._starting:
            if self.is_retired or not call.is_awaited:
                return
            call.is_started = True
        self._tasks[call] = self._loop.create_task(self._shield(call, work))

    async def _shield(self, call: PluginCall, work: Work) -> None:
        """Nothing that a plugin raises leaves this frame."""
        try:
            with call.noted():
                value = await work()
            call.finish(Returned(value))
        except BaseException as error:
            call.finish(Raised(error))
        finally:
            self._tasks.pop(call, None)

    def _cancel(self, call: PluginCall) -> None:
        task = self._tasks.get(call)
        if task is not None:
            task.cancel()


class _DaemonThreads(concurrent.futures.ThreadPoolExecutor):
    """Gives each piece of work its own daemon thread.

    A pool would let one hung ``to_thread`` use up a worker for ever, and would be waited for at exit.
    """

    def submit(self, work: Callable[..., Any], /, *args: Any, **options: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        context = contextvars.copy_context()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(context.run(work, *args, **options))
            except BaseException as error:
                future.set_exception(error)

        thread = threading.Thread(target=run, name="plugin-to-thread", daemon=True)
        call = CURRENT_CALL.get(None)
        if call is not None:
            call.threads.append(thread)
        thread.start()
        return future
