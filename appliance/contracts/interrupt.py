"""Breaks into a thread that was left behind, so that it does not burn the processor for ever."""

from __future__ import annotations

import ctypes
import threading


class WorkAbandonedError(BaseException):
    """Raised inside plugin code that nobody waits for any more; not an ``Exception``, so that few catch it."""


def interrupt(thread: threading.Thread) -> None:
    """Raise ``WorkAbandonedError`` in ``thread`` as soon as it runs Python code; nothing when it has ended.

    It ends ``while True: pass``. A thread that waits inside C (a sleep, a socket) notices when that returns.
    """
    if thread.ident is not None and thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(WorkAbandonedError))
