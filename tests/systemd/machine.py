"""A whole Debian for one test: a tree of files of its own, and a real systemd that has started it.

The tree is made by debootstrap, once (pytest keeps it in its cache folder); a test sees it through an overlay and
never changes it. The machine runs in namespaces of its own (mounts, processes, cgroups, network), which takes root.
Other than a user's manager (``user_manager.py``) it knows users, credentials, devices and every protection of a unit.
"""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

PATIENCE_SECONDS = 60.0

#: What the appliance needs of a system, so that an installation fetches nothing, and systemd itself.
_PACKAGES = "ca-certificates,libportaudio2,python3,python3-venv,systemd,tzdata"
_USUAL_MIRROR = "http://deb.debian.org/debian"

#: $1: the tree below; $2: a folder for what changes; the rest in pairs: a folder, and where it is to be seen.
_OVERLAY = """
set -eu
below=$1 own=$2
shift 2
mount --make-rprivate /
mkdir -p "$own/up" "$own/work" "$own/tree"
mount -t overlay overlay -o "lowerdir=$below,upperdir=$own/up,workdir=$own/work" "$own/tree"
cd "$own/tree"
while [ $# -gt 0 ]; do
    mkdir -p ".$2"
    mount --bind "$1" ".$2"
    shift 2
done
"""

#: What a boot loader and a kernel do for systemd. Without shared mounts it could not hand out credentials.
_BOOT = """
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
    touch dev/$name
    mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ip link set lo up
mount --make-rshared /
exec chroot . env -i container=lxc PATH="$PATH" /lib/systemd/systemd --log-target=journal --unit=multi-user.target
"""

_NAMESPACES = ["--mount", "--pid", "--fork", "--kill-child", "--cgroup", "--ipc", "--uts", "--net"]
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def make_system(folder: Path) -> Path:
    """A fresh Debian of this machine's release under ``folder``, made if it is not there whole."""
    tree, whole = folder / "tree", folder / "whole"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Somebody else may be testing at the same time.
        if not whole.exists():
            shutil.rmtree(tree, ignore_errors=True)
            command = ["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", _release(), str(tree), _mirror()]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr
            whole.touch()
    return tree


def _release() -> str:
    facts = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return facts["VERSION_CODENAME"].strip('"')


def _mirror() -> str:
    """Where this machine gets its packages from."""
    lists = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.*")]
    text = "\n".join(file.read_text() for file in lists if file.is_file())
    found = re.search(r"^(?:URIs:|deb )\s*(?:\[.*\] )?(https?://\S+/debian)/?\s", text, re.MULTILINE)
    return found[1] if found else _USUAL_MIRROR


class Machine:
    """Files under ``folder``; ``shown`` are folders of ours that it sees, by where it sees them."""

    def __init__(self, below: Path, folder: Path, shown: Mapping[str, Path]) -> None:
        self._overlay = [str(below), str(folder)]
        for place, ours in shown.items():
            self._overlay += [str(ours), place]
        self._folder = folder
        self._outer: subprocess.Popen[bytes] | None = None
        self._enter: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.cut_power()
        shutil.rmtree(self._folder, ignore_errors=True)  # the program may be in it, which is large

    def boot(self) -> None:
        """Start it; returns when everything that starts with it has started, or has failed to."""
        command = ["unshare", *_NAMESPACES, "sh", "-c", _OVERLAY + _BOOT, "sh", *self._overlay]
        self._folder.mkdir(exist_ok=True)
        with (self._folder / "console").open("wb") as console:
            self._outer = subprocess.Popen(
                command, env={"PATH": _PATH}, stdin=subprocess.DEVNULL, stdout=console, stderr=console
            )
        ends = time.monotonic() + PATIENCE_SECONDS
        while self._state() not in ("running", "degraded"):
            assert self._outer.poll() is None, (self._folder / "console").read_text()
            assert time.monotonic() < ends, "the machine did not come up"
            time.sleep(0.05)

    def cut_power(self) -> None:
        """Everything in it ends at once."""
        if self._outer is not None:
            self._outer.kill()
            self._outer.wait()
            self._outer = None

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command as root in the running machine."""
        command = [*self._enter, "env", "-i", f"PATH={_PATH}", "HOME=/root"]
        command += [f"{name}={value}" for name, value in variables.items()]
        return subprocess.run(
            [*command, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=4 * PATIENCE_SECONDS,
        )

    def shell(self, line: str) -> str:
        """What a line of shell prints; it must succeed."""
        done = self.run("sh", "-euc", line)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def from_outside(self, script: str) -> subprocess.CompletedProcess[str]:
        """A shell script of this system's, in the tree's top folder; nothing of the machine runs."""
        command = ["unshare", "--mount", "sh", "-c", _OVERLAY + script, "sh", *self._overlay]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def _state(self) -> str:
        assert self._outer is not None
        try:
            children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text().split()
        except OSError:
            children = []
        if not children:
            return ""
        spaces = ["--mount", "--pid", "--cgroup", "--ipc", "--uts", "--net", "--root", "--wd"]
        self._enter = ["nsenter", "--target", children[0], *spaces]
        return self.run("systemctl", "is-system-running").stdout.strip()
