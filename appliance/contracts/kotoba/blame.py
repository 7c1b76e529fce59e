"""A stranger's exceptions in words. Runs their ``__str__``, so it belongs on the plugin's side."""

from __future__ import annotations

import asyncio
import logging
import traceback

from appliance.contracts.kotoba.imports import OFFERED
from appliance.tools.current_chat import is_private_call
from appliance.tools.redact import without_secrets


def describe(error: BaseException) -> str:
    """Kind and text of an exception, for the log and the audit row."""
    if isinstance(error, SystemExit):
        return "it called sys.exit"
    return f"{type(error).__name__}: {_text(error)}".removesuffix(": ")


def why_not_loaded(error: BaseException) -> str:
    """Half a sentence for the person: why a file could not be loaded, and what to do where that is clear."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno} is not Python: {error.msg}"
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] in OFFERED:
        return f"it imports what this box does not offer: {_text(error)}"
    if isinstance(error, ModuleNotFoundError):
        return f"it needs the Python package {error.name}, which is not installed"
    if isinstance(error, SystemExit | KeyboardInterrupt | asyncio.CancelledError):
        return f"it tried to end the program while it was being loaded ({type(error).__name__})"
    return describe(error)


def log_traceback(logger: logging.Logger, level: int, sentence: str, error: BaseException) -> None:
    """Log with the place of the fault; in a private chat only its kind, for its words may be those of the chat.

    The text is made before the logger is asked: a handler that formats a stranger's exception under its lock would
    let a ``__str__`` that hangs silence the whole program.
    """
    if is_private_call():
        logger.log(level, "%s %s in a private chat", sentence, type(error).__name__)
        return
    trace = "".join(traceback.format_exception(error))
    logger.log(level, "%s\n%s", sentence, without_secrets(trace).rstrip())


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"(its text cannot be read: {type(broken).__name__})"
