"""What is logged while a command runs: on standard error, one line each, and never with a secret in it.

A person sees sentences. Where something broke is shown with ``--debug``, and always to systemd's journal. A command
says itself how it went, so only errors are logged; the device runs for weeks and logs warnings too.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from appliance.errors import ApplianceError

_LOG = logging.getLogger("appliance")

Redact = Callable[[str], str]


class SafeLog(logging.Formatter):
    """Lines for people. ``redact`` masks secrets; set it as soon as they are known."""

    def __init__(self, *, is_debug: bool, is_device: bool = False) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self.redact: Redact = lambda text: text
        self._is_debug = is_debug
        self._shows_where = is_debug or _is_journal()
        self._level = logging.DEBUG if is_debug else logging.WARNING if is_device else logging.ERROR

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Inside the block, everything that is logged comes out on standard error."""
        handler, root = logging.StreamHandler(), logging.getLogger()
        handler.setFormatter(self)
        level, hook = root.level, threading.excepthook
        root.addHandler(handler)
        root.setLevel(self._level)
        threading.excepthook = _thread_broke
        try:
            yield
        finally:
            threading.excepthook = hook
            root.setLevel(level)
            root.removeHandler(handler)

    def format(self, record: logging.LogRecord) -> str:
        """One record; with everything, or as one sentence."""
        if self._shows_where:
            return self.redact(super().format(record))
        error = record.exc_info[1] if record.exc_info else None
        cause = f" ({type(error).__name__}: {error})" if error is not None else ""
        return self.redact(f"appliance: {record.getMessage()}{cause}")

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
