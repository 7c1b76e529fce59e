"""Fixtures of the firmware's tests; ``face_firmware`` is in tests/conftest.py, since others use it too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.firmware.core import Core, HostBuild, built_for_host
from tests.firmware.rig import Board, Firmware, running_board


@pytest.fixture(scope="session")
def host_build(tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    """The portable core for this computer."""
    if not (shutil.which("gcc") and shutil.which("make")):
        pytest.skip("the firmware's core cannot be built; as root: apt-get install gcc libc6-dev make")
    return built_for_host(tmp_path_factory.mktemp("core"))


@pytest.fixture
def core(host_build: HostBuild, capfd: pytest.CaptureFixture[str]) -> Iterator[Core]:
    """A board without a chip. Fails when something in it was undefined behaviour, which UBSan tells on stderr."""
    yield Core(host_build)
    assert "runtime error" not in capfd.readouterr().err


@pytest.fixture
def stepped(face_firmware: Firmware, tmp_path: Path) -> Iterator[Board]:
    """A simulated board whose time passes only in ``run``."""
    with running_board(face_firmware, tmp_path, is_stepped=True) as board:
        board.run(50)
        yield board


@pytest.fixture
def board(face_firmware: Firmware, tmp_path: Path) -> Iterator[Board]:
    """A simulated board at the wall clock's pace, for whatever opens its port."""
    with running_board(face_firmware, tmp_path) as made:
        yield made
