"""The owner's yes."""

from __future__ import annotations

import argparse
import sys

from appliance.errors import RefusedError


def ask(arguments: argparse.Namespace, question: str) -> None:
    """Return when the owner says yes, or has said it with ``--yes``. Raises ``RefusedError`` for everything else."""
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise RefusedError("nobody can be asked here, and nothing was changed; --yes says yes ahead")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RefusedError("nothing was changed")
