"""What is logged while a command runs: on standard error, one line each, and never with a secret in it.

A person sees sentences. Where something broke is shown with ``--debug``, and always to systemd's journal. A command
says itself how it went, so only errors are logged; the device runs for weeks and logs warnings too. What it does, and
what plugins print, goes to the journal, and into its memory for ``appliance logs``.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from appliance.errors import ApplianceError
from appliance.log_ring import LineMaker, LogRing
from appliance.ports_logs import LogLine

_LOG = logging.getLogger("appliance")

Redact = Callable[[str], str]


class SafeLog(logging.Formatter):
    """Lines for people. ``redact`` masks secrets; set it as soon as they are known.

    ``ring`` is what a device keeps in memory; None for a command. ``lines`` knows what must not be in a line.
    """

    def __init__(self, *, is_debug: bool, is_device: bool = False) -> None:
        super().__init__()
        self.lines = LineMaker()
        self.ring = LogRing(self.lines) if is_device else None
        self._is_debug = is_debug
        self._is_journal = _is_journal()
        self._shows_where = is_debug or self._is_journal
        self._level = logging.DEBUG if is_debug else logging.WARNING if is_device else logging.ERROR

    @property
    def redact(self) -> Redact:
        """Masks secrets."""
        return self.lines.redact

    @redact.setter
    def redact(self, redact: Redact) -> None:
        self.lines.redact = redact

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Inside the block, everything that is logged comes out on standard error."""
        handler, root = logging.StreamHandler(), logging.getLogger()
        handler.setFormatter(self)
        handler.setLevel(self._level)
        level, hook = root.level, threading.excepthook
        root.addHandler(handler)
        root.setLevel(self._level)
        if self.ring is not None:
            self._keep(handler)
        threading.excepthook = _thread_broke
        try:
            yield
        finally:
            threading.excepthook = hook
            root.setLevel(level)
            root.removeHandler(handler)
            if self.ring is not None:
                root.removeHandler(self.ring)

    def _keep(self, handler: logging.Handler) -> None:
        """A device: what it and its plugins tell goes into the ring, and to the journal."""
        from appliance.contracts.plugin_call import current_plugin

        self.lines.plugin = current_plugin
        root = logging.getLogger()
        root.addHandler(self.ring or logging.NullHandler())
        root.setLevel(min(self._level, logging.INFO))
        if self._is_journal and not self._is_debug:
            handler.setLevel(logging.INFO)
            handler.addFilter(self.lines.is_kept)

    def format(self, record: logging.LogRecord) -> str:
        """One record; with everything, or as one sentence."""
        if self._is_journal:
            return _for_journal(record.levelno, self.lines.make(record))
        if self._shows_where:
            line = self.lines.make(record)
            return f"{line.level} {line.source}: {line.text}"
        return self.redact(f"appliance: {self.lines.sentence(record)}")

    def tell(self, error: Exception) -> int:
        """Say why the command failed; its exit code. An error of ours is meant for a person: debugging shows where."""
        error = _single(error)
        if self._is_debug or (self._shows_where and not isinstance(error, ApplianceError)):
            print(self.redact("".join(traceback.format_exception(error))), end="", file=sys.stderr)
        print(self.redact(f"appliance: {self._sentence(error)}"), file=sys.stderr)
        return error.exit_code if isinstance(error, ApplianceError) else 1

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, ApplianceError):
            return str(error)
        hint = "" if self._shows_where else "; run the same command with --debug to see where"
        if isinstance(error, OSError) and error.strerror:
            where = f"{error.filename}: " if error.filename else ""
            return f"the system says: {where}{error.strerror}{hint}"
        return f"something went wrong that should not ({type(error).__name__}: {error}){hint}"


def _for_journal(level: int, line: LogLine) -> str:
    """Each line of it is an entry of its own there, so each has the level that systemd reads, and the tags."""
    priority = 3 if level >= logging.ERROR else 4 if level >= logging.WARNING else 6 if level >= logging.INFO else 7
    return "\n".join(f"<{priority}>{replace(line, text=text).written}" for text in line.text.splitlines() or [""])


def _single(error: Exception) -> Exception:
    """What happened, out of the groups in which parallel tasks wrap it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _is_journal() -> bool:
    """Whether standard error goes to systemd's journal, which the owner reads when something went wrong."""
    try:
        target = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError):
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{target.st_dev}:{target.st_ino}"


def _thread_broke(broken: threading.ExceptHookArgs) -> None:
    """A thread that a plugin began raised; Python would print a traceback."""
    if broken.exc_value is not None:
        name = broken.thread.name if broken.thread is not None else "unknown"
        _LOG.error("the thread %s broke", name, exc_info=broken.exc_value)
