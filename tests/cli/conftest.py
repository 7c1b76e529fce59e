"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.home import shipped
from tests.cli.shell import Process, Shell
from tests.e2e.conftest import understand

__all__ = ["understand"]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell with an empty home."""
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """Commands as processes of their own, on a machine without sound."""
    return Process(tmp_path)


@pytest.fixture(scope="session")
def question() -> Path:
    """A recording of somebody asking what time it is."""
    return shipped("soul") / "demo.wav"
