"""Arguments of the actions of the plugin manager, apart from what they do: ``--help`` loads none of that."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_actions(actions: Any) -> None:
    """Every action of the plugin manager; ``actions`` is what ``add_subparsers`` gave."""
    for name, help_text, add in (
        ("install", "bring a plugin: a folder, an archive, a URL, a git repository", add_install),
        ("update", "bring newer versions from where the plugins came from", add_update),
        ("rollback", "go back to the version before", add_rollback),
        ("remove", "take a plugin out; its settings stay unless --purge", add_remove),
        ("verify", "whether the plugins are what was installed", add_verify),
        ("pack", "make a zip of a plugin's folder", add_pack),
        ("sign", "vouch for a plugin's folder with your key", add_sign),
        ("safe-mode", "start without the owner's plugins: on, off, status", add_safe_mode),
    ):
        add(actions.add_parser(name, help=help_text))


def add_install(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``install``."""
    parser.add_argument("source", help="a folder, .py, zip, tar, wheel, the URL of one, or of a git repository")
    parser.add_argument("--enable", action="store_true", help="switch it on at once; otherwise it stays off")
    parser.add_argument("--name", default="", help="what to call a tool module whose source says no name")
    _add_common(parser)


def add_update(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``update``."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="which plugins")
    parser.add_argument("--all", action="store_true", help="every plugin that was installed from somewhere")
    _add_common(parser)


def add_rollback(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``rollback``."""
    parser.add_argument("name")


def add_remove(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``remove``."""
    parser.add_argument("name")
    parser.add_argument("--purge", action="store_true", help="for good: also its settings, what it stored, its keys")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``verify``."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="which plugins; all without")


def add_pack(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``pack``."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, metavar="FILE", help="the zip (NAME.zip here)")


def add_sign(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``sign``."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="your private key; keep it to yourself")
    parser.add_argument("--new-key", action="store_true", help="make the key, and its public half (.pub) beside it")


def add_safe_mode(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``safe-mode``."""
    parser.add_argument("wanted", choices=("on", "off", "status"), nargs="?", default="status")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--downgrade", action="store_true", help="take an older version than the one that is here")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")
