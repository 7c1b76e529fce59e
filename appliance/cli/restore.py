"""``appliance restore``: a home from a backup, on this box or on a new one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.consent import ask
from appliance.cli.passphrase import add_passphrase_argument, given_passphrase
from appliance.cli.shared import config_of, home_of, print_json, read_secret
from appliance.clock import SystemClock
from appliance.errors import UsageError
from appliance.home import Home

if TYPE_CHECKING:
    from appliance.keeping.archive import Manifest
    from appliance.keeping.restore import RestoreReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", nargs="?", help="a file that `appliance backup` wrote")
    add_passphrase_argument(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="only look whether it can be done")
    parser.add_argument("--purge-old", action="store_true", help="remove homes from before a restore, now")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when the home is in place."""
    from appliance.keeping.restore import look_into, restore
    from appliance.keeping.swap import forget_old_homes
    from appliance.wiring_keeping import chat_cipher

    home = home_of(arguments)
    if arguments.file is None:
        if not arguments.purge_old:
            raise UsageError("restore wants the file of a backup, or --purge-old")
        return _purge(arguments, home)
    file = arguments.file.absolute()
    manifest = look_into(file, home)
    if arguments.dry_run:
        _show_plan(arguments, manifest)
        return 0
    replaced = f"{home.folder} is replaced by it; what is there now is kept beside it" if home.folder.exists() else ""
    ask(arguments, f"A backup of {manifest.made_at}, {len(manifest.members)} files. {replaced or 'Restore it'}?")
    passphrase = _passphrase(arguments, manifest)
    report = restore(file, home, cipher=chat_cipher(), now=SystemClock().now(), passphrase=passphrase)
    if arguments.purge_old:
        forget_old_homes(home)
    _show(arguments, home, report)
    return 0


def _passphrase(arguments: argparse.Namespace, manifest: Manifest) -> str:
    given = given_passphrase(arguments) if manifest.has_keys else ""
    if manifest.has_keys and not given and sys.stdin.isatty():
        return read_secret("passphrase of the keys in it; nothing leaves them out")
    return given


def _purge(arguments: argparse.Namespace, home: Home) -> int:
    from appliance.keeping.swap import forget_old_homes

    gone = [str(path) for path in forget_old_homes(home)]
    if arguments.json:
        print_json({"removed": gone})
    else:
        print("\n".join(f"removed {path}" for path in gone) or "there is nothing from before a restore")
    return 0


def _show_plan(arguments: argparse.Namespace, manifest: Manifest) -> None:
    if arguments.json:
        print_json({"made_at": manifest.made_at, "schema": manifest.schema, "members": len(manifest.members)})
    else:
        print(f"A backup of {manifest.made_at}, {len(manifest.members)} files; it can be restored here.")


def _show(arguments: argparse.Namespace, home: Home, report: RestoreReport) -> None:
    from appliance.wiring_keeping import strange_devices

    old = report.old_home if report.old_home is not None and report.old_home.exists() else None
    devices = strange_devices(config_of(arguments, keep_going=True))
    if arguments.json:
        print_json(
            {
                "home": str(home.folder),
                "old_home": str(old or ""),
                "credentials": report.has_credentials,
                "lost_chats": report.lost_chats,
                "devices": devices,
                "other_python": report.other_python,
            }
        )
        return
    print(f"{home.folder} is as it was on {report.manifest.made_at}.")
    if old is not None:
        print(f"What was there is {old}; it goes with the next good start, or with appliance restore --purge-old.")
    if not report.has_credentials:
        print("There are no credentials in it; set them with: appliance credential set NAME")
    if report.lost_chats:
        print(f"{report.lost_chats} private chats could not be opened by anything any more and are not in it.")
    for sentence in devices:
        print(f"On this machine {sentence}.")
    for plugin, python in report.other_python.items():
        print(f"The packages of {plugin} are for Python {python}; install it anew: appliance plugin update {plugin}")
