"""Builds the pretend house and the box in it: two network namespaces with a cable between them. Needs root."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.lan_gear.pretend_house import BOX_INTERFACE, INTERFACE
from tests.lan_gear.records import Record

_ROOT = Path(__file__).resolve().parent.parent.parent


class Side:
    """A process in a network namespace of its own that does what it is told."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            ["unshare", "--net", sys.executable, "-m", module],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.hear("namespace")
        self.pid = self._process.pid

    def tell(self, order: dict[str, Any]) -> Any:
        """Its answer."""
        self.write(json.dumps(order))
        return self.hear()

    def write(self, line: str) -> None:
        assert self._process.stdin is not None
        print(line, file=self._process.stdin, flush=True)

    def hear(self, expected: Any = None) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process has ended; what it says stands above"
        answer = json.loads(line)
        assert expected in (None, answer)
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class Street:
    """The house, the box in it, and how a test speaks to both."""

    def __init__(self, house: Side, box: Side) -> None:
        self._house = house
        self._box = box
        self._count = 0

    def add(self, *devices: tuple[str, Record]) -> None:
        """Switch on devices: address and what they announce."""
        rows = []
        for address, record in devices:
            self._count += 1
            rows.append({"address": address, "number": self._count, "record": asdict(record)})
        self._house.tell({"do": "add", "devices": rows})

    def name(self, name: str) -> str:
        """The name of the device that was added last, as it announces it."""
        return f"{name} {self._count}"

    def call(self, name: str, **arguments: Any) -> str:
        """The text that the plugin's tool returns."""
        text, is_success = self._box.tell({"do": "call", "name": name, "arguments": arguments})
        assert is_success, text
        return str(text)

    def look(self, **arguments: Any) -> dict[str, dict[str, Any]]:
        """The things that the plugin sees, by address."""
        found = json.loads(self.call("lan_gear_look", form="data", **arguments))
        return {thing["address"]: thing for thing in found["things"]}

    def look_as_measured(self) -> dict[str, dict[str, Any]]:
        """The same with no rule but those that were written before the held back half was opened."""
        return {thing["address"]: thing for thing in self._box.tell({"do": "look as measured"})}

    def send_from_box(self, address: str) -> None:
        """One datagram, to see that the watch on packets works."""
        self._box.tell({"do": "send", "send to": address})

    def outside(self, least: int) -> list[str]:
        """Where packets of the box wanted to go outside of the house; waits, not for ever, until there are so many."""
        return list(self._house.tell({"do": "outside", "least": least}))


@contextlib.contextmanager
def open_street() -> Iterator[Street]:
    """Skips where namespaces cannot be made, but never in CI."""
    missing = [tool for tool in ("ip", "unshare") if shutil.which(tool) is None]
    reason = f"needs {' and '.join(missing)}" if missing else "needs root" if os.geteuid() != 0 else ""
    if not reason and subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0:
        reason = "this machine does not let us make network namespaces"
    if reason:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"a pretend house {reason}")
    with contextlib.ExitStack() as stack:
        house, box = Side("tests.lan_gear.pretend_house"), Side("tests.lan_gear.pretend_box")
        stack.callback(house.close)
        stack.callback(box.close)
        cable = f"link add {INTERFACE} netns {house.pid} type veth peer name {BOX_INTERFACE} netns {box.pid}"
        subprocess.run(["ip", *cable.split()], check=True)
        for side in (house, box):
            side.write("go")
            side.hear("ready")
        yield Street(house, box)
