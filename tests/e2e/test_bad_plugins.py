"""Plugins that bring the whole process down: the box comes back, answers, and leaves that one plugin out."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.control_client import ControlClient
from appliance.crash_file import crash_files
from appliance.errors import ApplianceError
from appliance.home import Home
from appliance.memory_watch import EXIT_CODE
from tests.contracts.rig import PING, tool_source
from tests.e2e.device import environment_without_sound, wait_until

#: So much may a plugin take here: the machine that runs the tests is not to swap.
_MEMORY_MB = 200


class Supervised:
    """``appliance run`` under somebody who starts it anew whenever it fails, as the service manager does."""

    def __init__(self, home: Home) -> None:
        self.home = home
        #: How each process ended.
        self.codes: list[int] = []
        self._is_over = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep_running)
        self._environment = {
            **environment_without_sound(),
            "APPLIANCE_HOME": str(home.folder),
            "APPLIANCE_FACE_BACKENDS": "",
            "APPLIANCE_TOOLS_PLUGIN_MEMORY_MB": str(_MEMORY_MB),
        }

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        if self._process is not None:
            self._process.kill()  # its home goes with it
        self._thread.join(30)

    def call(self, method: str, **params: object) -> Any:
        """Ask the device; None when there is none, or when it goes under the question."""

        async def ask() -> Any:
            async with ControlClient(self.home.control_socket) as client:
                return await client.call(method, params)

        try:
            return asyncio.run(ask())
        except (ApplianceError, OSError):
            return None

    def wait_until_it_answers(self) -> None:
        """A typed turn with an answer."""
        wait_until(
            lambda: (self.call("ask", text="what time is it?") or {}).get("reason") == "answered", lambda: self.log
        )

    def wait_for_ends(self, count: int) -> None:
        wait_until(lambda: len(self.codes) >= count, lambda: f"it ended {self.codes}\n{self.log}")

    def row(self, plugin: str) -> dict[str, Any]:
        """How the plugin is, in the list."""
        rows = wait_until(lambda: self.call("plugin.list"), lambda: self.log)
        return next(row for row in rows if row["name"] == plugin)

    @property
    def log(self) -> str:
        return (self.home.folder / "log").read_text(errors="replace")

    def _keep_running(self) -> None:
        while not self._is_over.is_set():
            with (self.home.folder / "log").open("ab") as log:
                words = [sys.executable, "-m", "appliance.cli.main", "run", "--stay"]
                self._process = subprocess.Popen(
                    words, env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
                code = self._process.wait()
            self.codes.append(code)
            if code == 0:
                return


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Supervised]:
    """A box with one plugin that works; start it yourself."""
    home = Home(tmp_path)
    home.make()
    write(home, "good/ping.py", PING)
    supervised = Supervised(home)
    yield supervised
    supervised.stop()


def write(home: Home, place: str, text: str) -> None:
    """Write a file of a plugin."""
    file = home.plugins_folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def check_it_is_back(box: Supervised, *, ends: int, quarantined: str = "bad") -> None:
    """It answers, that plugin is out, its neighbour works, and nothing ends any more."""
    box.wait_for_ends(ends)
    box.wait_until_it_answers()
    bad, good = box.row(quarantined), box.row("good")
    assert (bad["withheld"], bad["is_loaded"], bad["is_on"]) == ("quarantined", False, True), box.log
    assert good["is_loaded"] and not good["withheld"]
    assert box.call("tool.run", name="ping")["text"] == "pong"
    assert len(box.codes) == ends, box.log
    status = box.call("status")
    assert status["safe mode"] == "off"
    assert any(quarantined in problem for problem in status["plugin problems"])


CRASHES = {
    "ends the process": "import os\nos._exit(1)\n",
    "reads where nothing is": "import ctypes\nctypes.string_at(0)\n",
    "crashes in a thread of its own a moment later": (
        "import ctypes, threading, time\n"
        "def crash():\n    time.sleep(0.2)\n    ctypes.string_at(0)\n"
        "threading.Thread(target=crash).start()\n"
    ),
}


@pytest.mark.parametrize("crash", CRASHES)
def test_a_plugin_that_crashes_the_box_when_it_is_imported(box: Supervised, crash: str) -> None:
    write(box.home, "bad/bad.py", f"{CRASHES[crash]}{tool_source('bad', 'return 1')}")
    box.start()
    check_it_is_back(box, ends=1)
    assert "bad" in told_aloud(box)


def test_a_plugin_that_only_raises_when_it_is_imported_costs_no_restart(box: Supervised) -> None:
    write(box.home, "bad/bad.py", "raise RuntimeError('no')\n")
    source = "import threading\nthreading.Thread(target=lambda: 1 / 0).start()\n"
    write(box.home, "thready/thready.py", f"{source}{tool_source('thready', 'return 1')}")
    box.start()
    check_it_is_back(box, ends=0)
    assert box.row("thready")["is_loaded"], "a thread that dies by an exception takes nobody along"


@pytest.mark.parametrize("where", ["in its start", "in its thread"])
def test_a_plugin_whose_daemon_crashes_the_box(box: Supervised, where: str) -> None:
    lines = {
        "in its start": "def start(loader, settings):\n    os.abort()\n",
        "in its thread": (
            "def work():\n    time.sleep(0.2)\n    os._exit(3)\n"
            "def start(loader, settings):\n    threading.Thread(target=work).start()\n"
        ),
    }
    manifest = {"name": "bad", "default_enabled": True, "capabilities": {"daemon": {"entry": "daemon.py"}}}
    write(box.home, "bad/plugin.json", json.dumps(manifest))
    write(box.home, "bad/daemon.py", f"import os, threading, time\n{lines[where]}def stop():\n    pass\n")
    box.start()
    check_it_is_back(box, ends=1)


def test_a_plugin_that_aborts_in_its_calls_is_out_after_the_third(box: Supervised) -> None:
    write(box.home, "bad/bad.py", tool_source("bad", "import os\nos.abort()"))
    box.start()
    for ends in range(1, 4):
        wait_until(lambda: box.call("tool.list"), lambda: box.log)
        assert box.row("bad")["is_loaded"], "twice may be by chance"
        assert box.call("tool.run", name="bad") is None
        box.wait_for_ends(ends)
    check_it_is_back(box, ends=3)
    [last, *_] = reversed([file for file in crash_files(box.home.crash_folder) if file.stat().st_size])
    assert "bad/bad.py" in last.read_text()

    assert box.call("plugin.switch", name="bad", on=True)["is_loaded"], "its owner tries it again"


def test_a_plugin_that_eats_the_memory(box: Supervised) -> None:
    body = f"eaten = []\nfor _ in range({_MEMORY_MB * 3}):\n    eaten.append(bytearray(b'x') * (1 << 20))\n"
    write(box.home, "bad/bad.py", tool_source("bad", f"{body}import asyncio\nawait asyncio.sleep(60)", "TIMEOUT = 90"))
    box.start()
    wait_until(lambda: box.call("tool.list"), lambda: box.log)
    assert box.call("tool.run", name="bad") is None
    check_it_is_back(box, ends=1)
    assert box.codes == [EXIT_CODE]
    assert "more memory than the box has for plugins" in box.row("bad")["problems"][0]


def told_aloud(box: Supervised) -> list[str]:
    """About which plugins something was said."""
    told = json.loads(box.home.starts_file.read_text())["told"]
    return [about.partition(" ")[2] for about in told]
