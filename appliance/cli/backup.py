"""``appliance backup``: everything that the owner would miss, in one file, while the device runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from appliance import __version__
from appliance.cli.consent import ask
from appliance.cli.passphrase import add_passphrase_argument, new_passphrase
from appliance.cli.shared import home_of, print_json
from appliance.clock import SystemClock

if TYPE_CHECKING:
    from appliance.keeping.backup import BackupReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write, best on another disk")
    parser.add_argument("--with-keys", action="store_true", help="credentials and keys too, under a passphrase")
    add_passphrase_argument(parser)
    parser.add_argument("--yes", action="store_true", help="replace a file that is there")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when the file is written."""
    from appliance.keeping.backup import make_backup
    from appliance.wiring_keeping import chat_cipher

    target = arguments.file.absolute()
    if target.exists():
        ask(arguments, f"{target} is there already. Replace it?")
    report = make_backup(
        home_of(arguments),
        target,
        cipher=chat_cipher(),
        version=__version__,
        now=SystemClock().now(),
        passphrase=new_passphrase(arguments) if arguments.with_keys else "",
    )
    _show(arguments, report)
    return 0


def _show(arguments: argparse.Namespace, report: BackupReport) -> None:
    manifest = report.manifest
    if arguments.json:
        print_json(
            {
                "file": str(report.file),
                "bytes": report.size_bytes,
                "members": len(manifest.members),
                "schema": manifest.schema,
                "private_chats": manifest.private_chats,
                "has_keys": manifest.has_keys,
            }
        )
        return
    print(f"{report.file}: {len(manifest.members)} files, {report.size_bytes / 1e6:.1f} MB.")
    if manifest.has_keys:
        print("The keys are in it, under your passphrase: without that nobody opens them, you neither.")
        return
    print("Credentials are not in it; --with-keys puts them in, under a passphrase.")
    if manifest.private_chats:
        print(
            f"{manifest.private_chats} private chats are in it, sealed: only this home can open them, "
            "not a new one. --with-keys changes that."
        )
