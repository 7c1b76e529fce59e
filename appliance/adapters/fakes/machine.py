"""A machine that a test describes: files, programs, commands, room on the disk."""

from __future__ import annotations

import fnmatch
from typing import TypeVar

from appliance.ports_doctor import Disk, Ended, Program

T = TypeVar("T")


class FakeMachine:
    """Meets ``Machine``; a healthy, empty one. Change what you need; what hangs or fails is an exception.

    ``files`` maps paths to texts or to what reading them raises; ``commands`` maps the words of a command, joined by
    spaces, to how it ends or to what it raises. ``held`` is what ``holders`` knows.
    """

    def __init__(self) -> None:
        self.user = "nabu"
        self.groups = frozenset({"nabu", "audio", "gpio", "spi", "i2c", "dialout"})
        self.known_groups = self.groups
        self.is_root = False
        self.pointer_bits = 64
        self.variables: dict[str, str] = {}
        self.modules: set[str] = set()
        self.files: dict[str, str | OSError] = {}
        self.forbidden: set[str] = set()
        self.room = Disk(30 * 10**9, 20 * 10**9, 2_000_000, 1_900_000)
        self.written_in: float | OSError = 0.01
        self.running: list[Program] = []
        self.held: list[tuple[Program, str]] = []
        self.commands: dict[str, Ended | OSError] = {}

    def variable(self, name: str) -> str:
        """From ``variables``."""
        return self.variables.get(name, "")

    def has_module(self, name: str) -> bool:
        """From ``modules``."""
        return name in self.modules

    def read(self, path: str) -> str:
        """From ``files``."""
        return _given(self.files.get(path, FileNotFoundError(2, "No such file or directory", path)))

    def find(self, pattern: str) -> tuple[str, ...]:
        """Files of ``files``, and folders on the way to them."""
        known = {str(path) for path in self.files}
        known |= {path[:end] for path in self.files for end, letter in enumerate(path) if letter == "/" and end}
        depth = pattern.count("/")
        return tuple(sorted(path for path in known if path.count("/") == depth and fnmatch.fnmatch(path, pattern)))

    def may_use(self, path: str) -> bool:
        """Everything but what is in ``forbidden``."""
        return path not in self.forbidden

    def disk(self, folder: str) -> Disk:
        """``room``."""
        return self.room

    def write_seconds(self, folder: str) -> float:
        """``written_in``."""
        return _given(self.written_in)

    def programs(self) -> tuple[Program, ...]:
        """``running``."""
        return tuple(self.running)

    def holders(self, prefix: str) -> tuple[tuple[Program, str], ...]:
        """From ``held``."""
        return tuple(entry for entry in self.held if entry[1].startswith(prefix))

    def run(self, *command: str) -> Ended:
        """From ``commands``."""
        name = " ".join(command)
        return _given(self.commands.get(name, FileNotFoundError(2, "No such file or directory", command[0])))


def _given(value: T | OSError) -> T:
    if isinstance(value, OSError):
        raise value
    return value
