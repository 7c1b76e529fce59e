"""The whole product as a child process on a real sound server, and a person beside it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from appliance.adapters.control_client import ControlClient
from appliance.box import GREETED
from appliance.clock import SystemClock
from appliance.home import Home
from appliance.records import open_records
from appliance.wiring import credentials_of
from tests.e2e.board import Board
from tests.sound_server import SoundServer

#: A loaded test machine loads weights and answers slowly; nothing here waits longer than needed.
PATIENCE_SECONDS = 60.0

Fact = dict[str, Any]


class Device:
    """``appliance run`` in a home of its own; use it as a context manager."""

    def __init__(
        self,
        server: SoundServer,
        home: Path,
        settings: Mapping[str, str] | None = None,
        *,
        is_first_start: bool = False,
        has_keyboard: bool = False,
        board: Board | None = None,
        program: str = "",
        notes: Path | None = None,
        may_complain: bool = False,
    ) -> None:
        self.home = Home(home)
        #: Both ends of its terminal: what is typed at the first is its Enter key, which is a button.
        self._keyboard = os.openpty() if has_keyboard else None
        self._board = board
        #: The module that is the device.
        self._program = program or ("appliance.cli.main" if board is None else "tests.e2e.board")
        self._is_first_start = is_first_start
        #: Where this test's end keeps what it was told: a home whose disk fills up is no place for it.
        self._notes = notes or home
        #: Whether plugins of this test break in ways whose tracebacks belong into the log.
        self._may_complain = may_complain
        self._trace = self._notes / "trace.jsonl"
        pins = board.environment if board is not None else {}
        self._environment = {**server.environment, "APPLIANCE_HOME": str(home), **pins, **(settings or {})}
        self._process: subprocess.Popen[str] | None = None
        self.introduction = ""

    def __enter__(self) -> Device:
        self.home.folder.mkdir(parents=True, exist_ok=True)
        self._trace.write_text("")
        if not self._is_first_start:
            asyncio.run(_pretend_to_have_greeted(self.home))
        with (self._notes / "stderr").open("w") as complaints:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._program, "run", "--stay", "--trace", str(self._trace)],
                env=self._environment,
                stdin=self._keyboard[1] if self._keyboard else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                pass_fds=self._board.descriptors if self._board is not None else (),
            )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.introduction += line
            if line.strip() == "listening" or line.startswith("Enter talks"):
                return self
        raise AssertionError(f"the device did not start:\n{self.introduction}\n{self.complaints}")

    def __exit__(self, *_error: object) -> None:
        assert self._process is not None and self._process.stdout is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(timeout=20)
        finally:
            self._process.kill()
            self._process.stdout.close()
            for end in self._keyboard or ():
                os.close(end)
        if _error[0] is None:
            assert code == 0, f"it ended with {code}:\n{self.complaints}"
            assert self._may_complain or "Traceback" not in self.complaints, self.complaints

    def type_line(self, text: str = "") -> None:
        """Type at its terminal and press Enter."""
        assert self._keyboard is not None
        os.write(self._keyboard[0], text.encode() + b"\n")

    def kill(self) -> None:
        """Pull the plug."""
        assert self._process is not None and self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    @property
    def complaints(self) -> str:
        """What it wrote to standard error."""
        return (self._notes / "stderr").read_text()

    @property
    def facts(self) -> list[Fact]:
        """Every event until now; a line that is being written is left for later."""
        return [json.loads(line) for line in self._trace.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def wait_for(self, event: str, *, behind: int = 0, **fields: object) -> Fact:
        """The first such event after the first ``behind`` events. Raises ``AssertionError`` with what there was."""

        def found() -> Fact | None:
            for fact in self.facts[behind:]:
                if fact["event"] == event and all(fact.get(key) == value for key, value in fields.items()):
                    return fact
            return None

        return wait_until(found, lambda: f"no {event} {fields} in {self.facts[behind:]}\n{self.complaints}")

    @property
    def memory_kilobytes(self) -> int:
        """What it holds in memory."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))

    @property
    def processor_seconds(self) -> float:
        """What it used of all cores together since its start."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def call(self, method: str, **params: object) -> Any:
        """Ask the device over its control socket."""

        async def ask() -> Any:
            async with ControlClient(self.home.control_socket) as client:
                return await client.call(method, params)

        return asyncio.run(ask())

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command line, in the same home."""
        return subprocess.run(
            [sys.executable, "-m", "appliance.cli.main", *words],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )


def wait_until(look: Callable[[], Any], otherwise: Callable[[], str]) -> Any:
    """Look again until there is something; the device is another process, so its clock is not ours to move."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(otherwise())
        time.sleep(0.02)


async def _pretend_to_have_greeted(home: Home) -> None:
    """The introduction takes a quarter of a minute; one test hears it."""
    async with open_records(home, SystemClock(), credentials_of(home)) as records:
        await records.documents.put(*GREETED, "before this test")


def environment_without_sound() -> dict[str, str]:
    """A machine without any sound device."""
    nothing = Path(__file__).with_name("no-sound.conf")
    return {**os.environ, "ALSA_CONFIG_PATH": str(nothing), "PULSE_SERVER": "unix:/nonexistent"}
