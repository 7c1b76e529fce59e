"""The end of a service's process, for certain: a thread that hangs in a plugin would hold Python back for ever."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from contextlib import suppress

#: The service manager waits for 15 s after its signal.
STOP_SECONDS = 10.0
#: For what is left when the box itself has been taken apart.
CLEAN_UP_SECONDS = 5.0


def leave_now(code: int) -> None:
    """End this process. What was to be kept must be on the disk: nothing is waited for, and nothing is called."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def leave_within(seconds: float, code: int) -> None:
    """End this process in so long, unless it has ended by then; what it hung in goes to standard error."""

    def leave() -> None:
        with suppress(OSError, ValueError):
            print(f"appliance: not at its end after {seconds:g} s; leaving these behind:", file=sys.stderr, flush=True)
            faulthandler.dump_traceback(sys.stderr)
        leave_now(code)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()
