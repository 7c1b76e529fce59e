"""What the tests of the plugin manager share."""

from __future__ import annotations

from tests.cli.conftest import process, shell

__all__ = ["process", "shell"]
