"""Whose code runs at this moment, written down so that it is known when the process is gone.

The file is written without a flush: what a process has written outlives it, however it ends. A power cut may take it,
and nobody is to blame for that. One note costs a few microseconds, so there is one for every piece of plugin work.
"""

from __future__ import annotations

import enum
import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LOG = logging.getLogger(__name__)

#: More pieces of plugin work at once go unnoted.
_NOTES = 256
#: One line of the file: what is done, a tab, the plugin, a line end, spaces. File names have at most 255 bytes.
_LINE_BYTES = 288
_BLANK = b" " * _LINE_BYTES


class Doing(enum.StrEnum):
    """What a plugin does."""

    IMPORT = "import"
    #: Its daemon begins.
    START = "start"
    CALL = "call"
    #: A thread that it has made.
    THREAD = "thread"
    #: It has ended the program.
    EXIT = "exit"
    #: It has taken more memory than there is for plugins.
    MEMORY = "memory"


@dataclass(frozen=True)
class Running:
    """A plugin at work."""

    plugin: str
    doing: Doing


class Phase(enum.StrEnum):
    """How far a start has come."""

    STARTING = "starting"
    READY = "ready"
    #: Ready for so long that it is no crash loop.
    SETTLED = "settled"


@dataclass(frozen=True)
class Left:
    """What a process that did not end by itself has left behind."""

    boot: str
    phase: Phase
    is_device: bool
    #: Name of the file that its stack is in, if it crashed.
    crash_file: str
    #: Whom the process itself has blamed before it went.
    accused: Running | None
    running: Sequence[Running]


@dataclass
class _AtWork:
    running: Running
    #: The clock that counts the processor time of its thread, and what it showed when it was last looked at.
    clock: int
    seconds: float


class RunningNotes:
    """The notes of one process. Any thread, and no call of it raises: a card that takes nothing costs only the notes.

    Without a file they are not kept, and still tell who has been at work.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._handle = -1
        self._head = ("", "", "")
        self._now: dict[int, _AtWork] = {}
        # Taken from and put back to without a lock: both are one step of Python.
        self._free = list(range(_NOTES + 1, 1, -1))
        #: Processor seconds by plugin.
        self._used: dict[str, float] = {}

    def left(self) -> Left | None:
        """What the process before has left; None when it ended well, and when there is none."""
        try:
            data = self._file.read_bytes() if self._file is not None else b""
        except OSError:
            return None
        lines = [data[start : start + _LINE_BYTES] for start in range(0, len(data), _LINE_BYTES)]
        head = _fields(lines[0]) if lines else []
        if len(head) != 4 or head[1] not in set(Phase):
            return None
        accused, *running = [_running(line) for line in lines[1:]] or [None]
        kept = tuple(entry for entry in running if entry is not None)
        return Left(head[0], Phase(head[1]), head[2] == "device", head[3], accused, kept)

    def begin(self, boot: str, *, is_device: bool, crash_file: str = "") -> None:
        """This process takes the file over."""
        self._head = (boot, "device" if is_device else "command", crash_file)
        try:
            if self._file is not None:
                flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
                self._handle = os.open(self._file, flags, 0o600)
        except OSError as error:
            _LOG.warning("%s cannot be written: %s", self._file, error.strerror)
        self.reach(Phase.STARTING)

    def reach(self, phase: Phase) -> None:
        """The start has come so far."""
        boot, kind, crash_file = self._head
        self._write(0, f"{boot}\t{phase}\t{kind}\t{crash_file}")

    def end(self) -> None:
        """A good end: nothing is left behind."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            try:
                os.ftruncate(handle, 0)
            except OSError as error:
                _LOG.warning("%s cannot be emptied: %s", self._file, error.strerror)
            finally:
                os.close(handle)

    def enter(self, plugin: str, doing: Doing) -> int:
        """Note that code of this plugin runs from now on; the number of the note, for ``leave``."""
        try:
            number = self._free.pop()
        except IndexError:
            return 0
        self._now[number] = _AtWork(Running(plugin, doing), _clock_of_this_thread(), time.thread_time())
        self._write(number, f"{doing}\t{plugin}")
        return number

    def leave(self, number: int) -> None:
        """It has ended."""
        if number:
            self._write(number, "")
            self._settle(self._now.pop(number))
            self._free.append(number)

    @contextmanager
    def during(self, plugin: str, doing: Doing) -> Iterator[None]:
        """Code of this plugin runs inside the block."""
        number = self.enter(plugin, doing)
        try:
            yield
        finally:
            self.leave(number)

    def accuse(self, plugin: str, doing: Doing) -> None:
        """The process is about to end because of this plugin."""
        self._write(1, f"{doing}\t{plugin}")

    def now(self) -> tuple[Running, ...]:
        """All that is at work at this moment."""
        return tuple(entry.running for entry in self._now.copy().values())

    def processor_seconds(self) -> dict[str, float]:
        """What each plugin has used of the processor since this was last asked.

        Of several that share a thread (the plugin loop) each may be charged for all of them.
        """
        for entry in self._now.copy().values():
            self._settle(entry)
        used, self._used = self._used, {}
        return used

    def _settle(self, entry: _AtWork) -> None:
        try:
            now = time.clock_gettime(entry.clock)
        except OSError:
            return  # the thread has ended meanwhile
        plugin = entry.running.plugin
        self._used[plugin] = self._used.get(plugin, 0.0) + max(0.0, now - entry.seconds)
        entry.seconds = now

    def _write(self, number: int, text: str) -> None:
        if self._handle < 0:
            return
        line = f"{text}\n".encode("utf-8", "surrogateescape")
        try:
            os.pwrite(self._handle, (line + _BLANK)[:_LINE_BYTES], number * _LINE_BYTES)
        except OSError:
            # A full card, or one that has gone read-only: other places say so.
            return


def _clock_of_this_thread() -> int:
    """As Linux numbers them: unlike the one for a thread of Python, it may be asked after the thread's end."""
    return (~threading.get_native_id() << 3) | 0b110


def _fields(line: bytes) -> list[str]:
    text, end, _ = line.partition(b"\n")
    return text.decode("utf-8", "surrogateescape").split("\t") if end else []


def _running(line: bytes) -> Running | None:
    fields = _fields(line)
    if len(fields) != 2 or fields[0] not in set(Doing):
        return None
    return Running(fields[1], Doing(fields[0]))
