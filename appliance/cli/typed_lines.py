"""Lines that somebody types, or that come from a pipe or a file, without holding up the loop.

No thread waits in a read: it could not be ended, and Ctrl-C would have to wait for Enter.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
from collections.abc import AsyncIterator

_READ_BYTES = 65_536


async def typed_lines() -> AsyncIterator[str]:
    """The lines of standard input, without their ends, until it is over (Ctrl-D)."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    descriptor, rest = sys.stdin.fileno(), ""
    while True:
        await _wait_for_input(descriptor)
        read = os.read(descriptor, _READ_BYTES)
        *lines, rest = (rest + decoder.decode(read, final=not read)).split("\n")
        for line in lines:
            yield line
        if not read:
            if rest:
                yield rest
            return


async def _wait_for_input(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    is_ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, is_ready.set)
    except PermissionError:
        return  # a regular file: there is never anything to wait for
    try:
        await is_ready.wait()
    finally:
        loop.remove_reader(descriptor)
