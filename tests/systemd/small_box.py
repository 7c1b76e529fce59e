"""A service that does what the box does towards its manager, and nothing else: it starts in no time.

    small_box.py MODE FOLDER

MODE is ``fine``; ``slow`` and ``silent`` take long to start, the second without asking for the time; ``hang`` blocks
its event loop as soon as it is ready; ``deaf`` has a microphone that gives nothing; ``unplugged`` has lost it. FOLDER
gets a line in ``starts`` for each start, the last crashes, and ``environment``.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from appliance.adapters.service_manager import SystemdManager
from appliance.clock import SystemClock
from appliance.crash_file import crashes_kept
from appliance.watchdog import Watchdog, starting

SLOW_SECONDS = 2.0


async def main(mode: str, folder: Path) -> None:
    """Serve until killed."""
    manager, clock = SystemdManager(), SystemClock()
    (folder / "environment").write_text(json.dumps(dict(os.environ)))
    if mode == "silent":
        await clock.sleep(SLOW_SECONDS)
    async with starting(manager, clock):
        if mode == "slow":
            await clock.sleep(SLOW_SECONDS)
    manager.ready()
    can_hear = mode != "unplugged"
    sound = iter(range(10**9)) if mode in ("fine", "slow") else iter([0] * 10**5)
    watchdog = Watchdog(
        manager, clock, arrived=lambda: next(sound), can_hear=lambda: can_hear, words=lambda: f"being {mode}"
    )
    work = asyncio.create_task(watchdog.run())
    if mode == "hang":
        await clock.sleep(0.2)
        hang_in_the_loop()
    await work


def hang_in_the_loop() -> None:
    """As a call into a C library may that never comes back."""
    time.sleep(3600)


if __name__ == "__main__":
    where = Path(sys.argv[2])
    with (where / "starts").open("a") as starts:
        starts.write("start\n")
    with crashes_kept(where / "crashes"):
        asyncio.run(main(sys.argv[1], where))
