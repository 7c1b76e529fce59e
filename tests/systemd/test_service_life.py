"""The real device as a service: what it tells its manager, in which order, and that it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Process
from tests.e2e.device import PATIENCE_SECONDS
from tests.systemd.notify_socket import NotifySocket
from tests.systemd.unit_files import settings_of

#: A plugin that leaves a thread behind which Python would wait for at its end.
_NEVER_ENDS = """
import threading, time
threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()
SCHEMA = {"type": "function", "name": "ping", "description": "Reply with pong."}
async def execute(args, ctx):
    import os
    return " ".join(name for name in os.environ if "NOTIFY" in name or "WATCHDOG" in name) or "nothing"
"""


class ServiceRun:
    """``appliance run --stay`` as a service manager starts it."""

    def __init__(self, folder: Path, *, plugin: str = "") -> None:
        self.manager = NotifySocket(str(folder / "notify"))
        service = {"NOTIFY_SOCKET": self.manager.address, "WATCHDOG_USEC": "3000000"}
        self.process = Process(folder, variables={"APPLIANCE_SPEAK_LINE_CACHE_MEGABYTES": "0", **service})
        if plugin:
            (place := self.process.home / "plugins" / "strange").mkdir(parents=True)
            (place / "strange.py").write_text(plugin)
        with (folder / "stderr").open("w") as complaints:
            self.device = subprocess.Popen(
                self.process.command("run", "--stay"),
                env=self.process.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
            )
        for name in service:
            del self.process.environment[name]  # They are not for who looks from outside.

    def close(self) -> None:
        self.device.kill()
        self.device.wait()
        self.manager.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceRun]:
    run = ServiceRun(tmp_path, plugin=_NEVER_ENDS)
    yield run
    run.close()


def test_ready_comes_when_it_answers_then_pings_then_a_quick_end(service: ServiceRun) -> None:
    manager, device = service.manager, service.device
    manager.wait_for("READY=1")
    # No weights are waited for, but whoever asks now is answered.
    assert service.process("status", "--json").json["state"] == "idle"
    manager.wait_for("WATCHDOG=1")
    manager.wait_for("WATCHDOG=1")
    assert service.process("tool", "run", "ping").out.strip() == "nothing"

    began = time.monotonic()
    device.send_signal(signal.SIGTERM)
    assert device.wait(timeout=PATIENCE_SECONDS) == 0
    took_seconds = time.monotonic() - began
    (most,) = settings_of("appliance.service", "Service")["TimeoutStopSec"]
    assert took_seconds < float(most), "a thread of a plugin held it back"

    told = [line for line in manager.rest() if not line.startswith("STATUS=")]
    assert told[0].startswith("EXTEND_TIMEOUT_USEC=")
    first = [told.index(line) for line in ("READY=1", "WATCHDOG=1", "STOPPING=1")]
    assert first == sorted(first) and told[-1] == "STOPPING=1"
    assert "STATUS=waiting for a microphone" in manager.told
    assert not (service.process.home / "run" / "control.sock").exists()
    assert not list((service.process.home / "crashes").iterdir())


def test_a_clean_up_that_hangs_is_cut_off_and_shown() -> None:
    script = (
        "import time\nfrom appliance.cli.leaving import leave_within\n"
        "def hang_at_the_end():\n    time.sleep(3600)\n"
        "leave_within(0.2, 3)\nprint('kept')\nhang_at_the_end()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert (ran.returncode, ran.stdout) == (3, "kept\n")
    assert "hang_at_the_end" in ran.stderr


def test_wrong_settings_end_a_service_with_the_code_that_keeps_it_down(tmp_path: Path) -> None:
    process = Process(tmp_path, variables={"NOTIFY_SOCKET": "@nobody-listens-here"})
    process.home.mkdir()
    (process.home / "config.toml").write_text("[speak\n")
    ended = process("run", "--stay")
    assert str(ended.code) in settings_of("appliance.service", "Service")["RestartPreventExitStatus"]


@pytest.mark.parametrize("settings", ["", '[face]\nbackends = ["serial"]\n'], ids=["no face", "no board"])
def test_parking_the_face_behind_a_crash_is_no_failure_whatever_there_is(tmp_path: Path, settings: str) -> None:
    process = Process(tmp_path, variables={"SERVICE_RESULT": "watchdog"})
    process.home.mkdir()
    (process.home / "config.toml").write_text(settings)
    ended = process("face", "park")
    assert ended.code == 0 and ended.out.startswith(("no face", "serial: not parked")), ended


def test_behind_a_clean_end_there_is_nothing_to_park(tmp_path: Path) -> None:
    ended = Process(tmp_path, variables={"SERVICE_RESULT": "success"})("face", "park")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
