"""Runs a program in the sandbox of the conversation."""

import shlex

from kotoba.core.approval import detect_dangerous
from kotoba.core.interaction import no_run_result
from kotoba.core.loop import note_tool_failure, note_tool_refusal
from kotoba.core.sandbox import backend_name, sandbox_available_sync

from . import plain_reading

SCHEMA = {
    "type": "function",
    "name": "run_command",
    "description": "Run a program in the work folder and get what it prints. It has no network, and it ends with the "
    "call: nothing goes on in the background.",
    "parameters": {
        "type": "object",
        "properties": {
            "command": {
                "type": "array",
                "items": {"type": "string"},
                "description": 'The program and its words, one by one: ["wc", "-l", "my notes.txt"].',
            },
            "shell": {
                "type": "string",
                "description": "Instead of command: a line for sh, only when pipes or redirections are needed.",
            },
            "timeout": {"type": "integer", "description": "Seconds that it may take, at most 500. Default 60."},
        },
        "required": [],
        "additionalProperties": False,
    },
}

RISK = "exec"
# The budget follows the argument, with time for the person's answer on top; so the program may use less of it.
ARG_TIMEOUT = True
MAX_TIMEOUT = 600

ANNOUNCE = "Let me run that."
HEARTBEAT = ["It is still running.", "Still running. I will tell you when it is done."]
COMPLETE = "That has run."
FAIL = "That command did not work."

EXPRESSIONS = {"focus": "determined", "fail": "confused"}

MOST_SECONDS = 500
#: Of each of what it prints and what it complains.
MOST_CHARACTERS = 7_000


def check():
    return sandbox_available_sync()


async def execute(args, ctx):
    try:
        words, line, seconds = _read(args or {})
    except ValueError as error:
        note_tool_refusal(ctx)
        return str(error)
    if not _is_harmless(words, line, ctx.workdir) and not await _is_allowed(line, ctx):
        return no_run_result(ctx, f"running {line}", "Nobody could be asked, so the command was not run.")
    sandbox = await ctx.ensure_sandbox()
    if sandbox is None:
        note_tool_failure("no sandbox")
        return "There is no sandbox on this box now, so the command was not run."
    return _report(await sandbox.run(line, timeout=seconds))


def _read(args):
    """Words (none when a shell is needed), line and seconds. Raises ``ValueError`` with a sentence."""
    command, shell = args.get("command"), args.get("shell")
    if bool(command) == bool(shell):
        raise ValueError("I need either command, the program with its words, or shell, a line.")
    try:
        seconds = min(MOST_SECONDS, max(1, int(args.get("timeout") or 60)))
    except (TypeError, ValueError):
        raise ValueError("I need timeout as a number of seconds.") from None
    if shell:
        if not isinstance(shell, str):
            raise ValueError("I need shell as one line of text.")
        return plain_reading.words_of(shell), shell, seconds
    if isinstance(command, str):
        raise ValueError("I need command as a list of words; for a line there is shell.")
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        raise ValueError("I need command as a list of words.")
    # Quoted, so that sh sees the same words and nothing else.
    return command, shlex.join(command), seconds


def _is_harmless(words, line, folder):
    """Whether nobody need be asked: in a closed sandbox all but what is dangerous, else only a look around."""
    if detect_dangerous(line) is not None:
        return False
    return backend_name() != "local" or plain_reading.only_reads(words, folder)


async def _is_allowed(line, ctx):
    return ctx.approval is not None and await ctx.approval.confirm(line, "exec")


def _report(result):
    parts = [f"It ended with exit code {result.exit_code}."]
    if result.stdout.strip():
        parts.append(f"Output:\n{_shortened(result.stdout)}")
    if result.stderr.strip():
        parts.append(f"Errors:\n{_shortened(result.stderr)}")
    if len(parts) == 1:
        parts.append("It printed nothing.")
    return "\n".join(parts)


def _shortened(text):
    """The beginning and the end: that is where results and errors stand."""
    if len(text) <= MOST_CHARACTERS:
        return text.rstrip()
    cut = len(text) - MOST_CHARACTERS
    half = MOST_CHARACTERS // 2
    return f"{text[:half]}\n[… {cut} characters left out …]\n{text[-half:].rstrip()}"
