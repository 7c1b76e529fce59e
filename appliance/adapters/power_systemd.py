"""Switches the machine off by asking systemd, which then ends us and everything else in good order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from appliance.errors import PowerError

#: Without the last word it would ask for a password on a terminal that nobody looks at.
_COMMAND = ("systemctl", "poweroff", "--no-ask-password")
#: It answers at once; what takes longer hangs.
_PATIENCE_SECONDS = 15.0
_MOST_CHARACTERS = 300


class SystemdPower:
    """A ``Power``. ``command`` is run without a shell."""

    def __init__(self, command: Sequence[str] = _COMMAND, *, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self._command = tuple(command)
        self._patience_seconds = patience_seconds

    async def off(self) -> None:
        words = " ".join(self._command)
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
        except OSError as error:
            raise PowerError(f"{words} cannot be run: {error.strerror}; this needs a system with systemd") from error
        try:
            told, _ = await asyncio.wait_for(process.communicate(), self._patience_seconds)
        except TimeoutError as error:
            raise PowerError(f"{words} did not come to an end in {self._patience_seconds:g} s") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            reason = told.decode(errors="replace").strip()[:_MOST_CHARACTERS] or f"it ended with {process.returncode}"
            raise PowerError(
                f"{words} did not work: {reason}. A service needs a polkit rule for org.freedesktop.login1.power-off"
            )
