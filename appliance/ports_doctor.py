"""The needs of the doctor: a look at the machine, and at the sound as a device gives it.

What is said in ``ports.py`` holds here too, except that a ``Machine`` blocks and is asked on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from appliance.audio import AudioChunk


@dataclass(frozen=True)
class Disk:
    """How much room there is; a file system without a fixed number of files has 0 ``most_files``."""

    total_bytes: int
    free_bytes: int
    most_files: int
    free_files: int
    is_read_only: bool = False


@dataclass(frozen=True)
class Program:
    """A running process; ``user`` is the name of its owner, or their number."""

    pid: int
    name: str
    user: str


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, and what it printed on both outputs."""

    code: int
    text: str


class Machine(Protocol):
    """A look at the machine. Reads only, ``write_seconds`` apart; any thread but that of the loop."""

    @property
    def user(self) -> str:
        """Name of the user who runs this, or their number."""
        ...

    @property
    def groups(self) -> frozenset[str]:
        """Names of the groups that this process has."""
        ...

    @property
    def known_groups(self) -> frozenset[str]:
        """Names of all groups of the system."""
        ...

    @property
    def is_root(self) -> bool:
        """Whether this process may do everything."""
        ...

    @property
    def pointer_bits(self) -> int:
        """64 or 32: what this program was made for."""
        ...

    def variable(self, name: str) -> str:
        """An environment variable; "" when it is not set."""
        ...

    def has_module(self, name: str) -> bool:
        """Whether that Python module is installed; it is not imported."""
        ...

    def read(self, path: str) -> str:
        """A small text file, without blanks around it. Raises ``OSError``."""
        ...

    def find(self, pattern: str) -> tuple[str, ...]:
        """Paths that fit a shell pattern, sorted."""
        ...

    def may_use(self, path: str) -> bool:
        """Whether this user may read and write that path."""
        ...

    def disk(self, folder: str) -> Disk:
        """The file system under a folder. Raises ``OSError``."""
        ...

    def write_seconds(self, folder: str) -> float:
        """Write a small file there, bring it to the disk and remove it; how long that took. Raises ``OSError``."""
        ...

    def programs(self) -> tuple[Program, ...]:
        """Every process that may be seen."""
        ...

    def holders(self, prefix: str) -> tuple[tuple[Program, str], ...]:
        """Which processes have a file open whose path begins so; those of other users are seen by root only."""
        ...

    def run(self, *command: str) -> Ended:
        """Run a command that only looks. Raises ``OSError``: it is not there, or does not end in some seconds."""
        ...


@runtime_checkable
class TappedSound(Protocol):
    """A sound card whose microphone can be listened in on, before one of its channels is chosen."""

    def tap(self, heard: Callable[[AudioChunk], None]) -> Callable[[], None]:
        """Call ``heard``, on the loop, with every run of sound at the device's own rate, with all its channels.

        That goes on while somebody takes ``chunks`` of the card, until what is given back is called.
        """
        ...
