"""``appliance COMMAND``: finds the command's file, runs it, turns failures into one sentence and an exit code.

Only the chosen command's module is imported: ``--help`` answers at once on a slow board.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import io
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from appliance import __version__
from appliance.cli.logs import SafeLog
from appliance.cli.shared import credentials_of
from appliance.promptness import keep_algebra_on_one_thread


@dataclass(frozen=True)
class Command:
    """A command: the module that has ``add_arguments(parser)`` and ``run(arguments)``, and its one-line help."""

    module: str
    help: str


COMMANDS: dict[str, Command] = {
    "run": Command("run", "the device: listen, answer, until stopped"),
    "talk": Command("talk", "the same conversation typed, spoken on the speaker too"),
    "ask": Command("ask", "one whole turn from a WAV or a text"),
    "say": Command("say", "speak a text"),
    "status": Command("status", "what the box is, has and does now"),
    "logs": Command("logs_command", "what the device logged: -f follows it, of one turn, of one plugin"),
    "plugin": Command("plugin", "plugins: list, info, on, off, set; install, update, remove; for authors: new, dev"),
    "tool": Command("tool", "the tools as a model sees them: list, run, why"),
    "toolset": Command("toolset", "which plugins' tools take part: list, show, use, new, delete"),
    "chat": Command("chat", "conversations: list, show, new, use, rename, clear, delete; private ones"),
    "turns": Command("turns", "the last turns with their times; what a model got and answered"),
    "model": Command("model", "the model endpoint: show, set URL, off"),
    "credential": Command("credential", "secrets: list names, set [PLUGIN] NAME, remove [PLUGIN] NAME"),
    "models": Command("models", "speech weights: list, verify, fetch"),
    "face": Command("face", "show moods; calibrate, monitor, flash and park a robot's face"),
    "approval": Command("approval", "answer what the device asks; what it need not ask about"),
    "answer": Command("answer", "type what a tool waits for, above all secrets"),
    "audit": Command("audit", "who did what with whose permission; verify the trail"),
    "net": Command("net", "which way requests go: classify URLs, test the lanes, seen hosts"),
    "config": Command("config", "every setting with its value and where it comes from; set and unset one"),
    "setup": Command("setup", "guided: microphone, speaker, wake word, voice, model, button, face"),
    "completion": Command("completion", "what makes the Tab key of bash, zsh or fish know these commands"),
    "devices": Command("devices", "microphones and speakers by name"),
    "doctor": Command("doctor", "what is wrong with the box, and the one thing to do about each"),
    "backup": Command("backup", "put everything you would miss into one file, while the device runs"),
    "restore": Command("restore", "bring a home back from a backup, also on a new card"),
    "reset": Command("reset", "before the box is given away: remove all that is yours"),
    "panel": Command("panel", "the page for a browser: how to open it"),
    "bench": Command("bench", "what things cost on this machine"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    keep_algebra_on_one_thread()
    _accept_any_character()
    try:
        arguments = _parse(list(sys.argv[1:] if argv is None else argv))
    except SystemExit as end:  # argparse has printed the help, or what is wrong
        return int(end.code or 0)
    if not arguments.command:
        return 0
    log = SafeLog(is_debug=arguments.debug, is_device=arguments.command == "run")
    arguments.log = log
    with log.shown():
        return _run(arguments, log)


def _run(arguments: argparse.Namespace, log: SafeLog) -> int:
    try:
        log.redact = credentials_of(arguments).redact
        code = int(_module(arguments.command).run(arguments))
        sys.stdout.flush()  # While we can still say that it cannot be written.
        return code
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    except BrokenPipeError:
        # The reader (head, less) went away: nothing is wrong.
        _drop_output()
        return 0
    except Exception as error:
        if isinstance(error, OSError):
            _drop_output()
        return log.tell(error)


def _drop_output() -> None:
    """Give up what cannot be written: Python would try once more at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parse(words: list[str]) -> argparse.Namespace:
    """Options of every command are taken out first: they may stand anywhere."""
    everywhere = _options_of_every_command()
    given = argparse.Namespace(json=False, debug=bool(os.environ.get("APPLIANCE_DEBUG")), set=[], credentials=None)
    given, words = everywhere.parse_known_args(words, given)
    name = next((word for word in words if not word.startswith("-")), "")
    parser = _parser(everywhere, [name])
    arguments = parser.parse_args(words, given)
    if not arguments.command:
        parser.print_help()
    return arguments


def whole_parser() -> argparse.ArgumentParser:
    """Every command with all its arguments; imports them all, which takes a moment."""
    return _parser(_options_of_every_command(), COMMANDS)


def _parser(everywhere: argparse.ArgumentParser, whole: Collection[str]) -> argparse.ArgumentParser:
    """Every command, those of ``whole`` with their arguments."""
    description = "A voice assistant for a small box."
    parser = argparse.ArgumentParser(prog="appliance", description=description, parents=[everywhere])
    parser.add_argument("--version", action="version", version=f"appliance {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for known, command in COMMANDS.items():
        sub = commands.add_parser(known, help=command.help, description=command.help, parents=[everywhere])
        if known in whole:
            _module(known).add_arguments(sub)
    return parser


def _options_of_every_command() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="appliance", add_help=False, allow_abbrev=False)
    group = parser.add_argument_group("options of every command", argument_default=argparse.SUPPRESS)
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument("--debug", action="store_true", help="log everything, and show where something broke")
    group.add_argument("--set", action="append", metavar="SECTION.KEY=VALUE", help="a setting for this call only")
    return parser


def _module(command: str) -> Any:
    return importlib.import_module(f"appliance.cli.{COMMANDS[command].module}")


def _accept_any_character() -> None:
    """A terminal that lacks a character shows a question mark; it must not end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
