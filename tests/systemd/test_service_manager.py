"""What systemd hears from us, on the wire."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.adapters.service_manager import SystemdManager
from tests.systemd.notify_socket import NotifySocket


@pytest.fixture(params=["path", "abstract"])
def manager_side(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NotifySocket]:
    name = f"@appliance-test-{secrets.token_hex(8)}"
    side = NotifySocket(str(tmp_path / "notify") if request.param == "path" else name)
    yield side
    side.close()


def test_each_thing_is_one_message(manager_side: NotifySocket) -> None:
    manager = SystemdManager({"NOTIFY_SOCKET": manager_side.address})
    manager.status("two\nlines")
    manager.extend(2.5)
    manager.ready()
    manager.ping()
    manager.stopping()
    manager.stopping()
    told = manager_side.rest()
    assert told == ["STATUS=two lines", "EXTEND_TIMEOUT_USEC=2500000", "READY=1", "WATCHDOG=1", "STOPPING=1"]


def test_nobody_else_can_speak_in_our_name() -> None:
    environment = {"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1", "HOME": "/root"}
    SystemdManager(environment)
    assert environment == {"HOME": "/root"}


@pytest.mark.parametrize(
    ("variables", "seconds"),
    [
        ({"WATCHDOG_USEC": "30000000"}, 10.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 10.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid() + 1)}, 0.0),
        ({"WATCHDOG_USEC": "soon"}, 0.0),
        ({}, 0.0),
    ],
)
def test_it_is_pinged_three_times_in_its_patience(variables: dict[str, str], seconds: float) -> None:
    assert SystemdManager({"NOTIFY_SOCKET": "/run/x", **variables}).ping_seconds == seconds


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "relative"])
def test_without_a_manager_that_we_understand_nothing_happens(address: str) -> None:
    manager = SystemdManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000000"})
    assert (manager.is_there, manager.ping_seconds) == (False, 0.0)
    manager.ready()


def test_a_manager_that_has_gone_is_logged_and_no_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    manager = SystemdManager({"NOTIFY_SOCKET": str(tmp_path / "nobody")})
    assert manager.is_there
    manager.ready()
    assert "READY=1" in caplog.text


def test_a_manager_that_does_not_read_holds_nobody_up(manager_side: NotifySocket) -> None:
    manager = SystemdManager({"NOTIFY_SOCKET": manager_side.address})
    for _ in range(1000):
        manager.ping()
    assert "WATCHDOG=1" in manager_side.rest()
