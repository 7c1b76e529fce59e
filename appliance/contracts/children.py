"""The processes that one call has started, with all that those have started: how they are known, and how they end.

A call runs inside our own process, so the kernel does not keep its children apart from ours, and what it does keep is
easily lost: a child is in our process group until it makes one of its own, a daemon leaves every group and session,
an orphan has another parent, a cleared environment holds no mark. A resource limit stays through all of that. So each
call has a number, and what it starts is born with that number as its limit on file locks, which Linux hands on and
has not looked at since 2003 (see ``births``). No process of ours ever has such a number for longer than a birth takes.

This finds what was started, however far it went. It does not hold code that means to hide (a process may change its
own limits), nor what another service starts when it is asked to (ssh, docker, systemd-run, a batch queue).
"""

from __future__ import annotations

import logging
import os
import resource
import secrets
import select
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOG = logging.getLogger(__name__)

#: RLIMIT_LOCKS, for which Python has no name.
LIMIT = 10
#: What our own process has, and gives to children that are nobody's.
OURS = resource.getrlimit(LIMIT)
_CEILING = 1 << 62 if OURS[1] == resource.RLIM_INFINITY else OURS[1]

#: Guards a birth, and the moment after which there are none: from then on every child can be found.
BIRTH = threading.RLock()

_PROCESSES = Path("/proc")
#: Something may be born while the others are being killed.
_MOST_ROUNDS = 10
#: A killed process is gone as soon as the kernel gets round to it, unless it hangs in a driver.
_DYING_SECONDS = 0.5


class Children:
    """Of one call. Its methods block, and are for a thread of their own."""

    def __init__(self) -> None:
        #: The upper half of what the limit allows: nothing that anybody would set.
        self.mark = _CEILING - 1 - secrets.randbelow(_CEILING // 2)
        #: Whether the call has started any, or tried.
        self.are_known = False
        #: Nothing is started any more.
        self.is_shut = False
        self._popens: weakref.WeakSet[subprocess.Popen[bytes]] = weakref.WeakSet()

    def note(self, popen: subprocess.Popen[bytes]) -> None:
        """Remember who waits for a child."""
        self._popens.add(popen)

    def ask_to_end(self, seconds: float) -> None:
        """Tell all of them to end, and wait for that at most so long."""
        with self._held() as handles:
            _send(signal.SIGTERM, handles)
            # One that is stopped ends when it goes on.
            _send(signal.SIGCONT, handles)
            _wait_for(handles, seconds)

    def kill(self) -> None:
        """Let none be started from now on, and kill all there are. Logs those that do not die."""
        # A birth that takes so long hangs itself, and is ended by what follows.
        is_ours = BIRTH.acquire(timeout=_DYING_SECONDS)
        self.is_shut = True
        if is_ours:
            BIRTH.release()
        if not self.are_known:
            return
        for _ in range(_MOST_ROUNDS):
            with self._held() as handles:
                if not handles:
                    return
                _send(signal.SIGKILL, handles)
                _wait_for(handles, _DYING_SECONDS)
        _LOG.error("processes that a call has started do not end: %s", sorted(_marked(self.mark)))

    def collect(self) -> None:
        """Take the last word of the dead whom nobody has waited for until now, and keep it for whoever asks.

        Of what was forked without a ``Popen`` that cannot be kept, and somebody may yet ask: it is left alone.
        """
        for popen in list(self._popens):
            popen.poll()

    @contextmanager
    def _held(self) -> Iterator[set[int]]:
        """All that live now, each as a file descriptor that no other process can come to mean."""
        handles: set[int] = set()
        try:
            for pid in _marked(self.mark):
                with suppress(ProcessLookupError):
                    handles.add(handle := os.pidfd_open(pid))
                    if not _is_marked(pid, self.mark):  # Another process has got the number meanwhile.
                        handles.remove(handle)
                        os.close(handle)
            yield _wait_for(handles, 0.0)
        finally:
            for handle in handles:
                os.close(handle)


def set_mark(mark: int | None) -> None:
    """Give what is born next this number; None for what is nobody's. Only inside ``BIRTH``."""
    resource.setrlimit(LIMIT, (OURS[0] if mark is None else mark, OURS[1]))


def _marked(mark: int) -> list[int]:
    pids = (int(entry.name) for entry in _PROCESSES.iterdir() if entry.name.isdigit())
    return [pid for pid in pids if pid != os.getpid() and _is_marked(pid, mark)]


def _is_marked(pid: int, mark: int) -> bool:
    """Whether it has the number; one that nobody has collected keeps it in death."""
    try:
        return str(mark).encode() in (_PROCESSES / str(pid) / "limits").read_bytes().split()
    except OSError:
        return False


def _send(number: signal.Signals, handles: Iterable[int]) -> None:
    for handle in handles:
        # Gone, or it has become another user's (sudo).
        with suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(handle, number)


def _wait_for(handles: Iterable[int], seconds: float) -> set[int]:
    """Wait until all have ended; those that have not. Real time: what it waits for is real."""
    poller = select.poll()
    left = set(handles)
    for handle in left:
        poller.register(handle, select.POLLIN)
    deadline = time.monotonic() + seconds
    while left:
        remaining = max(0.0, deadline - time.monotonic())
        ended = [handle for handle, _events in poller.poll(remaining * 1000)]
        for handle in ended:
            poller.unregister(handle)
            left.discard(handle)
        if not ended and not remaining:
            break
    return left
