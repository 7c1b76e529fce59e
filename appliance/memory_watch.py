"""Ends the process before a plugin has eaten the machine's memory, and says which plugin that was.

A plugin's code runs in our process, so its memory cannot be limited apart from ours, and nothing can take back what
Python code holds on to. What is left is to end early and in order: the kernel would end something after minutes of
swapping, and not necessarily us. What grows while code of a plugin is at work is put down to it.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.crash_file import new_crash_file
from appliance.store.running_notes import Doing, RunningNotes

_LOG = logging.getLogger(__name__)

#: The service manager starts the box anew after this exit code.
EXIT_CODE = 70
MEGABYTE = 1 << 20

_LOOK_SECONDS = 0.5
_USUAL_GROWTH_MB = 1024
#: Of all memory there is; beyond that the machine swaps, and nothing is answered in time.
_MOST_OF_MACHINE = 0.7
#: A box that is beyond that by its own weights must not end at once, again and again.
_LEAST_GROWTH_MB = 256


@dataclass(frozen=True)
class Eaten:
    """Too much is held. ``plugin`` took most of it; "" when several did."""

    plugin: str
    held_mb: int
    grown_mb: int


class MemoryWatch:
    """``growth_mb`` is what plugins may add to what the box itself needs; 0 chooses.

    ``look`` is called about twice a second, from one thread; ``ready`` from any.
    """

    def __init__(
        self,
        notes: RunningNotes,
        *,
        growth_mb: int = 0,
        held_bytes: Callable[[], int] | None = None,
        processor_seconds: Callable[[], float] = time.process_time,
        machine_bytes: int | None = None,
    ) -> None:
        self._notes = notes
        self._growth_bytes = (growth_mb or _USUAL_GROWTH_MB) * MEGABYTE
        self._least_bytes = min(self._growth_bytes, _LEAST_GROWTH_MB * MEGABYTE)
        self._held_bytes = held_bytes or _held_by_us
        self._processor_seconds = processor_seconds
        self._machine_bytes = machine_bytes or _of_machine()
        self._own = self._before = self._held_bytes()
        self._used_before = self._processor_seconds()
        self._grown: dict[str, float] = {}
        self._is_told = False

    def ready(self) -> None:
        """What is held now is what the box needs for itself."""
        self._own = self._held_bytes()
        self._grown = {}

    @property
    def limit_bytes(self) -> int:
        """What the process may hold."""
        limit = min(self._own + self._growth_bytes, int(self._machine_bytes * _MOST_OF_MACHINE))
        return max(limit, self._own + self._least_bytes)

    def look(self) -> Eaten | None:
        """Put down what has changed since the last look; what is wrong, once it is too much.

        Growth that came while plugins hardly used the processor is the box's own (weights that are loaded late): no
        reason to end.
        """
        held, used = self._held_bytes(), self._processor_seconds()
        self._put_down(held - self._before, used - self._used_before)
        self._before, self._used_before = held, used
        grown = held - self._own
        if held <= self.limit_bytes:
            return None
        if sum(self._grown.values()) < grown / 2:
            if not self._is_told:
                self._is_told = True
                _LOG.warning("the box holds %d MB, and plugins are not the reason", held // MEGABYTE)
            return None
        return Eaten(self._eater(grown), held // MEGABYTE, grown // MEGABYTE)

    def _put_down(self, change: float, all_seconds: float) -> None:
        seconds = self._notes.processor_seconds()
        together = sum(seconds.values())
        if change > 0 and together > 0:
            # Whoever used half of the processor has, beside what the box always does, done it all.
            theirs = change * min(1.0, 2 * together / max(all_seconds, together))
            for plugin, used in seconds.items():
                self._grown[plugin] = self._grown.get(plugin, 0.0) + theirs * used / together
        elif change < 0 and (total := sum(self._grown.values())):
            # Nobody knows whose memory was given back.
            left = max(0.0, total + change) / total
            self._grown = {plugin: grown * left for plugin, grown in self._grown.items()}

    def _eater(self, grown: float) -> str:
        """Who took most; on a thread that several share, the one that is still at it."""
        chief = [plugin for plugin, taken in self._grown.items() if taken >= grown / 2]
        part = {plugin for plugin, taken in self._grown.items() if taken >= grown / 5}
        at_work = {running.plugin for running in self._notes.now() if running.doing is not Doing.THREAD} & part
        suspects = chief if len(chief) == 1 else [*at_work]
        return suspects[0] if len(suspects) == 1 else ""


class WatchThread:
    """Looks twice a second, from a thread, for our loop may be slow; calls ``end`` there once it is too much."""

    def __init__(self, watch: MemoryWatch, end: Callable[[Eaten], None], each_time: Callable[[], None]) -> None:
        self._watch = watch
        self._end = end
        self._each_time = each_time
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory watch", daemon=True)

    def start(self) -> None:
        """Watch from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Watch no more."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(_LOOK_SECONDS):
            eaten = self._watch.look()
            if eaten is not None:
                self._end(eaten)
            self._each_time()


def end_process(eaten: Eaten, notes: RunningNotes, crash_folder: Path) -> None:
    """End this process at once, having written down why and where everything was."""
    if eaten.plugin:
        notes.accuse(eaten.plugin, Doing.MEMORY)
    whose = f"the plugin {eaten.plugin} took most of it" if eaten.plugin else "several plugins took it"
    sentence = f"the box held {eaten.held_mb} MB, {eaten.grown_mb} MB more than it needs itself; {whose}"
    _LOG.critical("%s; it starts anew", sentence)
    try:
        with new_crash_file(crash_folder).open("r+b") as file:
            file.write(f"Out of memory: {sentence}.\n\n".encode())
            file.flush()
            faulthandler.dump_traceback(file)
    except OSError as error:
        _LOG.warning("a crash cannot be kept: %s", error)
    os._exit(EXIT_CODE)


def _held_by_us() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _of_machine() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
