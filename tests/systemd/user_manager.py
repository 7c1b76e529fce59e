"""A real systemd for one test, on a machine that another init started.

It runs as a user's manager in namespaces of its own: mounts (it refuses without an empty ``/run/systemd/system`` and a
cgroup2 of its own), processes (what it starts ends with it) and cgroups. That takes root. What such a manager cannot do
is taken out of the units (``unit_files.BEYOND_A_USER``).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_SECONDS = 30.0

_SYSTEMD = "/lib/systemd/systemd"
_BEGIN = f"""
set -e
mount --make-rprivate /
mkdir -p /run/systemd
mount -t tmpfs tmpfs /run/systemd
mkdir /run/systemd/system
mount -t cgroup2 cgroup2 /sys/fs/cgroup
{_SYSTEMD} --user --unit=empty.target --log-target=console --log-level=info &
wait
"""


class UserManager:
    """Use it as a context manager; units lie in ``units``."""

    def __init__(self, folder: Path) -> None:
        self.units = folder / "units"
        self._runtime = folder / "runtime"
        self._log = folder / "log"
        self._outer: subprocess.Popen[bytes] | None = None
        self._enter: list[str] = []

    def __enter__(self) -> UserManager:
        self.units.mkdir(exist_ok=True)
        (self.units / "empty.target").write_text("[Unit]\nDescription=Nothing\n")
        self._runtime.mkdir(mode=0o700)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._runtime.parent),
            "XDG_RUNTIME_DIR": str(self._runtime),
            "SYSTEMD_UNIT_PATH": f"{self.units}:/usr/lib/systemd/user",
        }
        apart = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--cgroup", "--kill-child"]
        with self._log.open("wb") as log:
            self._outer = subprocess.Popen(
                [*apart, "sh", "-c", _BEGIN], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        inside = self.wait_for(self._child, "the namespaces")
        # Whoever talks to it must be in its namespaces, else it does not know who that is.
        self._enter = ["nsenter", "--target", inside, "--mount", "--pid", "--cgroup"]
        self._enter += ["env", f"XDG_RUNTIME_DIR={self._runtime}"]
        self.wait_for(lambda: self("is-active", "empty.target").stdout == "active\n", "the manager")
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._outer is not None
        self._outer.send_signal(signal.SIGKILL)
        self._outer.wait()

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """``systemctl`` with these words."""
        command = [*self._enter, "systemctl", "--user", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)

    def fact(self, unit: str, name: str) -> str:
        """One property of a unit."""
        return self("show", unit, "--property", name, "--value").stdout.strip()

    def wait_for(self, look: Callable[[], object], what: str) -> str:
        """Look again until there is something; its time is not ours to move."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := look()):
            assert time.monotonic() < deadline, f"waited in vain for {what}:\n{self.log}"
            time.sleep(0.02)
        return str(found)

    @property
    def log(self) -> str:
        """What the manager and its units said."""
        return self._log.read_text(errors="replace")

    def _child(self) -> str:
        assert self._outer is not None
        assert self._outer.poll() is None, f"no namespaces here:\n{self.log}"
        tasks = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
        return tasks.read_text().strip()


def skip_without_manager() -> None:
    """Skip the test that asks, where there can be none."""
    lacking = [name for name in (_SYSTEMD, "unshare", "nsenter") if not shutil.which(name)]
    if lacking or os.geteuid() != 0:
        pytest.skip(f"needs {' and '.join(lacking) or 'root'} for a systemd of its own")
