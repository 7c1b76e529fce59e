"""What the tests of the doctor share: an owner's shell."""

from __future__ import annotations

from tests.cli.conftest import process, shell

__all__ = ["process", "shell"]
