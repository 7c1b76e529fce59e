"""Real processes that write down their own number, and a look at whether they still live."""

from __future__ import annotations

import gc
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.contracts.gate import until

#: For tests whose plugins are as careless as real ones: nobody waits for what they start.
CARELESS = pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <function (BaseSubprocessTransport|Popen)\.:pytest.PytestUnraisableExceptionWarning",
    "ignore:.*use of fork:DeprecationWarning",
)


class Cradle:
    """A folder in which every process that a plugin starts leaves its number, in a file named after it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def line(self, name: str, then: str = "exec sleep 600") -> str:
        """A shell's line: write the number down whole, then live."""
        file = self.folder / name
        return f"echo $$ > {file}.new; mv {file}.new {file}; {then}"

    def write(self, name: str, pid: int | None = None) -> None:
        """The same, from Python, for the process that this is."""
        fresh = self.folder / f"{name}.new"
        fresh.write_text(str(pid or os.getpid()), encoding="ascii")
        fresh.replace(self.folder / name)

    def pid(self, name: str) -> int:
        return int((self.folder / name).read_text(encoding="ascii"))

    async def born(self, *names: str) -> None:
        """Wait until all of these have lived."""
        await until(lambda: all((self.folder / name).exists() for name in names))

    async def gone(self, *names: str) -> None:
        """Wait until none of these lives any more."""
        await until(lambda: not any(is_alive(self.pid(name)) for name in names))

    def living(self) -> list[str]:
        return [file.name for file in self.folder.iterdir() if file.suffix != ".new" and is_alive(self.pid(file.name))]

    def end_all(self) -> None:
        """What a test has left on purpose, or by failing; also in memory, where Python would complain later."""
        for name in self.living():
            with suppress(ProcessLookupError):
                os.kill(self.pid(name), signal.SIGKILL)
        gc.collect()


def state_of(pid: int) -> str:
    """One letter, as in ``ps``; "" when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_alive(pid: int) -> bool:
    """Whether it runs, sleeps or is stopped; a dead one that nobody has collected does not live."""
    return state_of(pid) not in ("", "Z", "X")
