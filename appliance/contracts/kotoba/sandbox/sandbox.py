"""The sandbox as a tool sees it: ``start``, ``run``, ``run_code``, ``read``, ``write``, ``kill``."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from appliance.contracts.kotoba.path_security import PathSecurityError
from appliance.contracts.kotoba.sandbox.place import Place
from appliance.contracts.kotoba.sandbox.sandboxes import AtHome, Sandboxes
from appliance.contracts.kotoba.witness import note_exit_code, running_call_id
from appliance.errors import SandboxError
from appliance.ports import Json

#: As a shell says that a command was killed.
_KILLED = 137
_LONGEST_SECONDS = 3600.0


@dataclass(frozen=True)
class ExecResult:
    """What a command wrote, and how it ended."""

    stdout: str
    stderr: str
    exit_code: int

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return self.exit_code == 0


class Sandbox:
    """A place to run programs in. Its methods are for the plugin loop.

    ``folder`` is all that programs can write to. A command's exit code is noted for the call that ran it.
    """

    def __init__(self, sandboxes: Sandboxes, place: Place, at_home: AtHome) -> None:
        self._sandboxes = sandboxes
        self._place = place
        self._at_home = at_home

    @property
    def workdir(self) -> Any:
        """Its folder."""
        return self._place.folder

    async def start(self) -> None:
        """Have it ready. Raises ``SandboxError``; ``run`` does the same when it is needed."""
        call_id = running_call_id()
        await self._at_home(lambda: self._sandboxes.open(self._place, call_id))

    async def run(self, command: str | Sequence[str], cwd: str = ".", timeout: float = 60) -> ExecResult:
        """Run a line of the shell, or a program with its words, in the folder ``cwd`` of the sandbox.

        At most ``timeout`` seconds: then it is killed, and its exit code is 124. Raises ``PathSecurityError`` for
        a ``cwd`` that leads out.
        """
        line: Json = command if isinstance(command, str) else [str(word) for word in command]
        return await self._execute({"do": "run", "command": line, "cwd": str(cwd)}, timeout)

    async def run_code(self, code: str, lang: str = "python", timeout: float = 60) -> ExecResult:
        """Run a piece of code: python, sh, bash or javascript."""
        return await self._execute({"do": "code", "code": code, "lang": lang}, timeout)

    async def read(self, path: str | PathLike[str]) -> bytes:
        """What is in a file. Raises ``PathSecurityError`` when it leads out, ``OSError`` when it cannot be read."""
        answer = await self._ask({"do": "read", "path": str(path)})
        return base64.b64decode(answer["data"])

    async def write(self, path: str | PathLike[str], data: bytes | str) -> None:
        """Write a file, folders and all; a text as UTF-8. Raises as ``read`` does."""
        content = data.encode() if isinstance(data, str) else bytes(data)
        await self._ask({"do": "write", "path": str(path), "data": base64.b64encode(content).decode()})

    async def kill(self) -> None:
        """End everything that runs in it; its files stay. What is asked of it next starts anew."""

        async def end() -> None:
            await self._place.close()

        await self._at_home(end)

    async def _execute(self, request: Mapping[str, Json], timeout: float) -> ExecResult:
        seconds = min(max(float(timeout), 0.1), _LONGEST_SECONDS)
        try:
            answer = await self._ask({**request, "seconds": seconds}, seconds)
            result = ExecResult(str(answer["stdout"]), str(answer["stderr"]), int(answer["exit_code"]))
        except SandboxError as error:
            result = ExecResult("", f"the command did not come to its end: {error}", _KILLED)
        note_exit_code(result.exit_code)
        return result

    async def _ask(self, request: Mapping[str, Json], seconds: float = 0.0) -> Mapping[str, Any]:
        call_id = running_call_id()
        answer: Mapping[str, Any] = await self._at_home(
            lambda: self._sandboxes.ask(self._place, call_id, request, seconds)
        )
        if "error" in answer:
            sentence = str(answer.get("sentence"))
            raise PathSecurityError(sentence) if answer["error"] == "outside" else OSError(sentence)
        return answer
