"""Memory that nothing uses any more, and that the C library keeps for later all the same."""

from __future__ import annotations

import contextlib
import ctypes


def give_back() -> None:
    """Give it to the system. Takes some milliseconds, on any thread; does nothing where there is no glibc.

    Each thread that loads weights leaves the room in which it unpacked them: 70 of 420 MB in all.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
