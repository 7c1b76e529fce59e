"""How soon a thread of this process gets its turn while others are at work.

Python lets one thread run at a time, and whoever wants to run waits until the others have had theirs: 5 ms by default,
which a face that moves 20 times a second shows, and the sound card feels.

Real-time priority (``SCHED_RR``) for the face's threads was tried too: it helps against other programs, of which a
board has none, and not against our own threads, which hold the interpreter whatever the kernel thinks of them. For
that the service would have to let plugins, which run in it, take a processor for themselves.
"""

from __future__ import annotations

import sys

#: A thread at work gives way after so long. Measured with two and four busy threads: about 2 % of their time is lost to
#: changing over; at a fifth of it up to a tenth.
SWITCH_SECONDS = 0.0005


def share_promptly() -> None:
    """For the whole process: threads at work give way sooner."""
    sys.setswitchinterval(SWITCH_SECONDS)
