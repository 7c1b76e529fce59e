"""What every command shares: the home, the settings, printing for people or as JSON."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.config import Config, load
from appliance.errors import ApplianceError, UsageError
from appliance.home import Home

if TYPE_CHECKING:
    from appliance.store.credentials import Credentials


def home_of(_arguments: argparse.Namespace) -> Home:
    """The home that this call works on."""
    return Home.find()


def credentials_of(arguments: argparse.Namespace) -> Credentials:
    """The secrets of the home, read once for this call."""
    if arguments.credentials is None:
        # Not by way of the wiring: each command needs them before anything else, and a device is heard only then.
        from appliance.store.credentials import credentials_of as read_credentials

        arguments.credentials = read_credentials(home_of(arguments))
    credentials: Credentials = arguments.credentials
    return credentials


def config_of(arguments: argparse.Namespace, *, keep_going: bool = False) -> Config:
    """The settings for this call. Raises ``ConfigError`` for a wrong one, unless told to keep going."""
    overrides: dict[str, str] = {}
    for pair in arguments.set:
        name, equals, value = pair.partition("=")
        if not equals or "." not in name:
            raise UsageError(f"--set wants SECTION.KEY=VALUE, not {pair!r}; appliance config lists the keys")
        overrides[name.strip()] = value.strip()
    return load(home_of(arguments).config_file, os.environ, overrides, keep_going=keep_going)


def check_writable(*files: Path | None) -> None:
    """Find out before the work is done whether its results can be written. Raises ``ApplianceError``."""
    for file in files:
        problem = _write_problem(file) if file is not None else ""
        if problem:
            raise ApplianceError(f"{file} cannot be written: {problem}; name a file elsewhere")


def complain(sentence: str) -> None:
    """Why a command that ran to its end has not succeeded, on standard error."""
    print(f"appliance: {sentence}", file=sys.stderr)


def read_secret(what: str) -> str:
    """A secret that is typed without being shown; from a pipe it is the first line."""
    try:
        return (getpass.getpass(f"{what} (hidden): ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
    except EOFError:
        return ""


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_table(rows: Sequence[tuple[str, ...]], *, indent: str = "") -> None:
    """Columns wide enough for what is in them; the last one runs free."""
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print((indent + "  ".join([*cells, row[-1]])).rstrip())


def _write_problem(file: Path) -> str:
    if os.access(file, os.F_OK):
        if file.is_dir():
            return "it is a folder"
        return "" if os.access(file, os.W_OK) else "it is write-protected"
    try:
        # Only trying tells: rights are not all that can be in the way.
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        file.unlink()
    except OSError as error:
        return "its folder does not exist" if not os.access(file.parent, os.F_OK) else f"{error.strerror}"
    return ""
