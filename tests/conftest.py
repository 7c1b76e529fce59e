"""What every test may use, and what a skipped test means."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator

import pytest

from tests.firmware.rig import Firmware, built
from tests.sound_server import SoundServer
from tests.system_packages import firmware_packages, missing, sound_packages

# A shell starts what runs in its background deaf to Ctrl-C, and children inherit that; some tests type it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sound_server() -> Iterator[SoundServer]:
    """A private sound server with a virtual mouth and a virtual speaker, shared by the tests of one run."""
    lacking = missing(sound_packages())
    if lacking:
        pytest.skip(f"no sound server; as root: apt-get install {' '.join(package.name for package in lacking)}")
    with SoundServer() as server:
        yield server


@pytest.fixture(scope="session")
def face_firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    """The face's firmware with the simulator that runs it (tests/firmware/rig.py), built once for a run."""
    lacking = missing(firmware_packages())
    if lacking:
        names = " ".join(package.name for package in lacking)
        pytest.skip(f"the firmware cannot be built; as root: apt-get install {names}")
    return built(tmp_path_factory.mktemp("firmware"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a skipped test is a failed one: whatever it lacked could have been installed."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a test file that skips itself as a whole."""
    report = yield
    if os.environ.get("CI") and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
