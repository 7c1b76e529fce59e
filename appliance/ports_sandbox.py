"""The needs of running what strangers wrote in a room of its own; what is said in ``ports.py`` holds here too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Shelter:
    """What one kind of sandbox holds off; found out by trying, not by belief.

    In one that is ``is_contained`` a program cannot reach the files of the box. ``gaps`` is what it does not
    protect from, in a sentence for the owner.
    """

    name: str
    is_contained: bool
    has_network: bool
    gaps: str


class WorkerLink(Protocol):
    """The line to one running worker program, which ends together with everything that it has started."""

    async def ask(self, message: bytes) -> bytes:
        """Send a message and wait for its answer. Raises ``SandboxError`` when the worker has gone."""
        ...

    def kill(self) -> None:
        """Begin to end it now; safe to call twice."""
        ...

    async def ended(self) -> None:
        """Wait until nothing of it is left; after ``kill``."""
        ...


class WorkerLauncher(Protocol):
    """Starts worker programs in one kind of sandbox."""

    def examine(self) -> Shelter | None:
        """Try it; None when it cannot be had here. Blocks, for a thread; the first answer stands."""
        ...

    async def launch(self, folder: Path) -> WorkerLink:
        """A worker that may write in ``folder`` only, where the kind can hold to that. Raises ``SandboxError``."""
        ...
