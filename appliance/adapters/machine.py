"""The machine as Linux shows it: files below /proc, /sys and /etc, and commands that only look."""

from __future__ import annotations

import glob
import grp
import importlib.util
import os
import pwd
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from appliance.ports_doctor import Disk, Ended, Program

#: Commands that look take far less; one that hangs must not keep a thread for ever.
_PATIENCE_SECONDS = 5.0
#: More of a file in /proc or of a command's output is not looked at.
_MOST_CHARACTERS = 200_000
#: As much as a row in the store: what has to reach the disk while somebody waits.
_TRIAL_BYTES = 4096
#: Without a pager and without colours; sentences are looked for in English.
_PLAIN = {"LC_ALL": "C", "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"}


class SystemMachine:
    """Meets ``Machine``."""

    @property
    def user(self) -> str:
        return _user_name(os.geteuid())

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(filter(None, map(_group_name, {os.getegid(), *os.getgroups()})))

    @property
    def known_groups(self) -> frozenset[str]:
        return frozenset(group.gr_name for group in grp.getgrall())

    @property
    def is_root(self) -> bool:
        return os.geteuid() == 0

    @property
    def pointer_bits(self) -> int:
        return 64 if sys.maxsize > 2**32 else 32

    def variable(self, name: str) -> str:
        return os.environ.get(name, "")

    def has_module(self, name: str) -> bool:
        return importlib.util.find_spec(name) is not None

    def read(self, path: str) -> str:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            # The device tree ends its texts with a zero byte.
            return file.read(_MOST_CHARACTERS).strip("\0 \t\r\n")

    def find(self, pattern: str) -> tuple[str, ...]:
        return tuple(sorted(glob.glob(pattern)))  # noqa: PTH207 (a pattern from the root, which Path cannot take)

    def may_use(self, path: str) -> bool:
        return os.access(path, os.R_OK | os.W_OK)

    def disk(self, folder: str) -> Disk:
        told = os.statvfs(folder)
        return Disk(
            total_bytes=told.f_blocks * told.f_frsize,
            free_bytes=told.f_bavail * told.f_frsize,
            most_files=told.f_files,
            free_files=told.f_favail,
            is_read_only=bool(told.f_flag & os.ST_RDONLY),
        )

    def write_seconds(self, folder: str) -> float:
        begun = time.monotonic()
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(b"\0" * _TRIAL_BYTES)
            file.flush()
            os.fsync(file.fileno())
            return time.monotonic() - begun

    def programs(self) -> tuple[Program, ...]:
        return tuple(_programs())

    def holders(self, prefix: str) -> tuple[tuple[Program, str], ...]:
        return tuple((program, path) for program in _programs() for path in _open_files(program.pid, prefix))

    def run(self, *command: str) -> Ended:
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **_PLAIN},
                timeout=_PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{command[0]} does not answer") from error
        return Ended(ended.returncode, ended.stdout.decode(errors="replace")[:_MOST_CHARACTERS].strip())


def _programs() -> Iterator[Program]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                name = (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
                yield Program(int(folder.name), name, _user_name(folder.stat().st_uid))
            except OSError:
                continue  # it has ended meanwhile


def _open_files(pid: int, prefix: str) -> Iterator[str]:
    found = set()
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            found.add(str(link.readlink()))
    except OSError:
        pass  # it is somebody else's, or has ended meanwhile
    yield from sorted(path for path in found if path.startswith(prefix))


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return ""
