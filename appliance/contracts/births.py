"""The doors through which Python code starts a process, with somebody at each who writes down whose child it is.

What is born while a call's code is at work carries the number of that call (see ``children``); what is born of any
other code carries none. A call that has been given up can start nothing any more. Code in C that forks by itself
passes by.
"""

from __future__ import annotations

import concurrent.futures.thread
import functools
import multiprocessing.util
import os
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from appliance.contracts.children import BIRTH, Children, set_mark
from appliance.contracts.interrupt import WorkAbandonedError
from appliance.contracts.plugin_call import CURRENT_CALL, PluginCall
from appliance.store.running_notes import Doing

#: Threads that a call has made by itself: they have no context variables of it.
_THREADS: weakref.WeakKeyDictionary[threading.Thread, PluginCall] = weakref.WeakKeyDictionary()


@functools.cache
def watch() -> None:
    """Stand at the doors from now on, until the process ends: work that was left behind ends no sooner."""
    _replace(subprocess.Popen, "__init__", _popen)
    _replace(os, "posix_spawn", _attended)
    _replace(os, "posix_spawnp", _attended)
    _replace(multiprocessing.util, "spawnv_passfds", _workers)
    _replace(os, "system", _system)
    _replace(threading.Thread, "start", _thread)
    _replace(os, "_exit", _exit)
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


def threads_left_behind(plugin: str) -> list[str]:
    """Names of the threads that calls of this plugin have made by themselves, and that outlive them."""
    made = [(thread, call) for thread, call in list(_THREADS.items()) if call.plugin == plugin and call.ended.done()]
    return [thread.name for thread, call in made if thread.is_alive() and not _is_lent(thread, call)]


def let_go() -> None:
    """The program is ending, and does not wait for a stranger's thread: not for one of a pool either."""
    # Python waits for these whether they are daemons or not, and has no other word for "do not".
    waited_for = getattr(concurrent.futures.thread, "_threads_queues", {})
    for thread in list(_THREADS):
        waited_for.pop(thread, None)


def _is_lent(thread: threading.Thread, call: PluginCall) -> bool:
    """Whether it is one that we started for a plugin: of ``asyncio.to_thread``, or of our network."""
    target = getattr(thread, "_target", None) or type(thread)
    return thread in call.threads or str(getattr(target, "__module__", "")).startswith("appliance.")


def _replace(place: Any, name: str, around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    original = getattr(place, name)
    setattr(place, name, functools.wraps(original)(around(original)))


def _popen(original: Callable[..., None]) -> Callable[..., None]:
    def start(self: subprocess.Popen[bytes], *args: Any, **options: Any) -> None:
        children = _children_here()
        with _birth(children):
            original(self, *args, **options)
            if children is not None:
                children.note(self)

    return start


def _attended(original: Callable[..., int]) -> Callable[..., int]:
    def start(*args: Any, **options: Any) -> int:
        with _birth(_children_here()):
            return original(*args, **options)

    return start


def _workers(original: Callable[..., int]) -> Callable[..., int]:
    def start(path: Any, arguments: Any, descriptors: Any) -> int:
        # The resource tracker serves all of Python here, whoever needed it first, and ends by itself.
        is_shared = any("multiprocessing.resource_tracker" in str(argument) for argument in arguments)
        with _birth(None if is_shared else _children_here()):
            return original(path, arguments, descriptors)

    return start


def _system(_original: Callable[[Any], int]) -> Callable[[Any], int]:
    def run(command: Any) -> int:
        """As ``os.system``, which would keep the door shut until the command has ended."""
        code = subprocess.Popen(["/bin/sh", "-c", command], close_fds=False).wait()
        return -code if code < 0 else code << 8

    return run


def _thread(original: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    def start(self: threading.Thread) -> None:
        call = _call_here()
        if call is not None:
            _THREADS[self] = call
            # The program does not wait for a stranger's thread when it ends.
            self.daemon = True
            vars(self)["run"] = _noted(self, call)
        original(self)

    return start


def _noted(thread: threading.Thread, call: PluginCall) -> Callable[[], None]:
    run = thread.run

    def noted() -> None:
        vars(thread).pop("run", None)  # else each would keep the other
        with call.notes.during(call.plugin, Doing.THREAD):
            run()

    return noted


def _exit(original: Callable[[int], NoReturn]) -> Callable[[int], NoReturn]:
    ours = os.getpid()

    def end(status: int) -> NoReturn:
        call = _call_here()
        if call is not None and os.getpid() == ours:
            call.notes.accuse(call.plugin, Doing.EXIT)
        original(status)

    return end


def _before_fork() -> None:
    BIRTH.acquire()
    children = _children_here()
    if children is not None:
        children.are_known = True
    set_mark(children.mark if children is not None else None)


def _after_fork() -> None:
    set_mark(None)
    BIRTH.release()


def _after_fork_in_child() -> None:
    BIRTH.release()
    children = _children_here()
    if children is not None and children.is_shut:
        # There is no other way to refuse a bare fork.
        os._exit(128 + signal.SIGKILL)


@contextmanager
def _birth(children: Children | None) -> Iterator[None]:
    """Whatever is born inside is theirs; None for nobody's. Raises ``WorkAbandonedError`` for a call given up."""
    with BIRTH:
        if children is not None:
            if children.is_shut:
                raise WorkAbandonedError
            children.are_known = True
        set_mark(children.mark if children is not None else None)
        try:
            yield
        finally:
            set_mark(None)


def _children_here() -> Children | None:
    call = _call_here()
    return call.children if call is not None else None


def _call_here() -> PluginCall | None:
    """The call whose code this is; None for our own."""
    return CURRENT_CALL.get(None) or _THREADS.get(threading.current_thread())
