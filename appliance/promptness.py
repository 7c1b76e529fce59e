"""How soon a thread of this process gets its turn while others are at work.

Python lets one thread run at a time, and whoever wants to run waits until the others have had theirs: 5 ms by default,
which a face that moves 20 times a second shows, and the sound card feels.

Real-time priority (``SCHED_RR``) for the face's threads was tried too: it helps against other programs, of which a
board has none, and not against our own threads, which hold the interpreter whatever the kernel thinks of them. For
that the service would have to let plugins, which run in it, take a processor for themselves.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading

#: A thread at work gives way after so long. Measured with two and four busy threads: about 2 % of their time is lost to
#: changing over; at a fifth of it up to a tenth.
SWITCH_SECONDS = 0.0005

#: Read by OpenBLAS when it is loaded.
_ALGEBRA_THREADS, _ONE = "OPENBLAS_NUM_THREADS", "1"
#: So much nicer are threads that calculate: beside one that does not, they get a tenth of a core that both want.
NICER = 10

_IS_SHARED = threading.Event()


def share_promptly() -> None:
    """For the whole process: threads at work give way sooner, and those that calculate to all others."""
    sys.setswitchinterval(SWITCH_SECONDS)
    _IS_SHARED.set()


def step_back() -> None:
    """Let the calling thread, and those that it starts from now on, give way to all other threads of the process.

    For whoever hears and speaks: their engines fill every core, and where one of them took it from a thread that held
    the interpreter, everybody waited. Does nothing before ``share_promptly``, nor where the system forbids it.
    """
    if _IS_SHARED.is_set():
        with contextlib.suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICER)


def keep_algebra_on_one_thread() -> None:
    """For the whole process and what it starts, before numpy is loaded; the owner's own setting counts more.

    The library behind numpy has a thread for each core, which after a product of matrices burns its core for another
    tenth of a second, in case there is more to do. Ours are so small that one thread does them in a millisecond.
    Measured: a spoken command took 136 ms of the processors with them and 34 ms without.
    """
    os.environ.setdefault(_ALGEBRA_THREADS, _ONE)


def environment_as_it_came() -> dict[str, str]:
    """That of a program which is to run as if it had not been started by this one."""
    return {name: value for name, value in os.environ.items() if (name, value) != (_ALGEBRA_THREADS, _ONE)}
