"""The passphrase of a backup: from a file, from the environment, or typed; never from the command line."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from appliance.cli.shared import read_secret
from appliance.errors import UsageError

_VARIABLE = "APPLIANCE_BACKUP_PASSPHRASE"


def add_passphrase_argument(parser: argparse.ArgumentParser) -> None:
    """The option that names the file."""
    help_text = f"read the passphrase from the first line of a file; else {_VARIABLE}, else it is asked for"
    parser.add_argument("--passphrase-file", type=Path, metavar="FILE", help=help_text)


def given_passphrase(arguments: argparse.Namespace) -> str:
    """The one from the file or the environment; "" when there is none. Raises ``UsageError``."""
    file: Path | None = arguments.passphrase_file
    if file is None:
        return os.environ.get(_VARIABLE, "")
    try:
        return file.read_text(encoding="utf-8").split("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {getattr(error, 'strerror', '') or 'it is no text'}") from error


def new_passphrase(arguments: argparse.Namespace) -> str:
    """One that is to be kept in mind: typed twice at a terminal. Raises ``UsageError``."""
    given = given_passphrase(arguments)
    if given:
        return given
    typed = read_secret("passphrase for the keys in this backup")
    if not typed:
        raise UsageError("with --with-keys a backup needs a passphrase, and none was given")
    if sys.stdin.isatty() and read_secret("once more") != typed:
        raise UsageError("those were two different passphrases; nothing was written")
    return typed
