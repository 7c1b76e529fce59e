"""A machine with a checkout on it, and what a person does there with ``systemd/install``."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from tests.systemd.machine import Machine
from tests.systemd.small_version import make_version

INSTALL = "/mnt/checkout/systemd/install"
HOME = "/var/lib/appliance"

#: What an installation makes beside the program: kind, mode, owner, link, size, time of the last change.
_FACTS = "%p %y %m %u:%g %l %s %T@"
#: Changes by itself while a machine runs.
_RESTLESS = (
    r"/var/(log|cache/(apt|debconf)|lib/(systemd|apt|private))|/etc/(machine-id|\.pwd\.lock|(passwd|group|g?shadow)-?) "
)


class Box(Machine):
    """A running machine, and the checkout that lies on it."""

    def __init__(self, system: Path, folder: Path) -> None:
        self.checkout = folder / "checkout"
        self.checkout.mkdir()
        super().__init__(system, folder / "machine", {"/mnt/checkout": self.checkout})

    def gets(self, **traits: bool | int | str) -> str:
        """Another version lies in the checkout now; the name that the installer will give it."""
        number = make_version(self.checkout, **traits)  # type: ignore[arg-type]
        said = self.run(INSTALL, "--dry-run").stderr
        found = re.search(rf"versions/({re.escape(number)}-[0-9a-f]+)", said)
        assert found, said
        return found[1]

    def installs(self, *options: str, **variables: str) -> str:
        """What the installer says when all goes well."""
        done = self.run(INSTALL, "--yes", *options, **variables)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def fails_to_install(self, *options: str, **variables: str) -> str:
        """What it says when it does not."""
        done = self.run(INSTALL, "--yes", *options, **variables)
        assert done.returncode == 1, done.stderr
        return done.stderr

    @property
    def current(self) -> str:
        """The version in force."""
        return self.shell("basename $(readlink /opt/appliance/current)")

    @property
    def versions(self) -> set[str]:
        """Those that are there."""
        return set(self.shell("ls /opt/appliance/versions").split())

    @property
    def process(self) -> str:
        """The service's main process; fails when it does not run."""
        self.shell("systemctl is-active appliance.service appliance-worker.socket")
        return self.shell("systemctl show appliance.service --property MainPID --value")

    @property
    def visits(self) -> list[str]:
        """Numbers of the versions that opened the store."""
        return self.query("SELECT version FROM visits").split()

    def query(self, sql: str) -> str:
        """What the store answers."""
        script = f"import sqlite3; [print(*row) for row in sqlite3.connect('{HOME}/appliance.db').execute('{sql}')]"
        return self.shell(f'python3 -c "{script}"')

    def is_killed(self, after: int, *options: str) -> bool:
        """Kill the installer after so many of its changes; False when it came to its end before that."""
        done = self.run(INSTALL, "--yes", *options, APPLIANCE_INSTALL_KILL_AFTER=str(after))
        return done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)

    def starts_anew(self) -> None:
        """What systemd does with the service when the computer is started, without the rest."""
        self.shell("systemctl stop appliance.service; systemctl daemon-reload; systemctl start appliance.service")

    def has_come_back(self) -> bool:
        """Whether the service runs and no change of versions is unfinished, some time after a start that failed."""
        settled = "systemctl --quiet is-active appliance.service && test ! -e /opt/appliance/unfinished"
        return self.run("timeout", "120", "sh", "-c", f"until {settled}; do sleep 0.2; done").returncode == 0

    def tree(self) -> set[str]:
        """Everything on the disk, but for what no installation is answerable for."""
        found = self.shell(f"find / -xdev -printf '{_FACTS}\\n'").splitlines()
        return {line for line in found if not re.match(_RESTLESS, line)}
