"""``appliance reset``: before the box is given away."""

from __future__ import annotations

import argparse
import sys

from appliance.cli.shared import complain, home_of, print_json
from appliance.clock import SystemClock
from appliance.errors import ApplianceError, RefusedError
from appliance.home import Home

_WORD = "reset"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--keep-plugins", action="store_true", help="leave the plugins, without what they have kept")
    parser.add_argument("--yes", action="store_true", help="do not ask for the word")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when nothing of the owner is left."""
    from appliance.keeping.reset import reset

    home, now = home_of(arguments), SystemClock().now()
    if not home.folder.is_dir():
        raise ApplianceError(f"there is no home at {home.folder}, so there is nothing to remove")
    with home.lock():
        _ask(arguments, home)
        try:
            gone = reset(home, now, keep_plugins=arguments.keep_plugins)
        except OSError as error:
            where = f"{error.strerror}: {error.filename}"
            raise ApplianceError(f"not all of it is removed ({where}); run the same again as its owner") from error
    if arguments.json:
        print_json({"home": str(home.folder), "removed": [str(path) for path in gone]})
        return 0
    print(f"Nothing of yours is in {home.folder} any more. The program and the speech weights are still there.")
    print("A memory card may keep old blocks that no program reaches: private chats are closed for good, all else is")
    print("safe from a look, not from a laboratory.")
    return 0


def _ask(arguments: argparse.Namespace, home: Home) -> None:
    """Return when the owner has typed the word. Raises ``RefusedError``."""
    from appliance.keeping.backup import known_backups

    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise RefusedError("nobody can be asked here, and nothing was changed; --yes says yes ahead")
    complain(f"this removes conversations, settings, secrets and plugins of {home.folder} for good")
    for backup in known_backups(home, SystemClock().now()):
        if backup.exists():
            complain(f"and the backup {backup}; copy it elsewhere if you want to keep it")
    print(f"Type {_WORD} to do it: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != _WORD:
        raise RefusedError("nothing was changed")
