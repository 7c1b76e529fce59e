"""A real systemd runs our units: it waits, is pinged, kills what hangs, gives up in the end, and makes sandboxes."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from appliance.adapters.worker_link import PROGRAM as WORKER_PROGRAM
from appliance.adapters.worker_link import StreamLink
from appliance.adapters.worker_socket import SocketWorkers
from appliance.crash_file import crash_files
from appliance.errors import SandboxError
from appliance.ports import Json
from tests.systemd import small_box
from tests.systemd.unit_files import BEYOND_A_USER, PROGRAM, copy_unit, settings_of
from tests.systemd.user_manager import UserManager, skip_without_manager

CHECKOUT = Path(__file__).resolve().parent.parent.parent
#: How many starts this test waits for; the real number takes longer.
BURST = 3


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[UserManager]:
    skip_without_manager()
    with UserManager(tmp_path) as manager:
        yield manager


class Service:
    """The unit of the box, with another program and a faster clock."""

    def __init__(self, manager: UserManager, folder: Path, mode: str) -> None:
        self.manager = manager
        self.folder = folder
        for mark in ("parked", "stopped"):
            (folder / mark).mkdir()
        command = f"{sys.executable} {small_box.__file__} {mode} {folder}"
        swaps = {
            f"{PROGRAM}/bin/appliance run --stay": command,
            f"{PROGRAM}/bin/appliance face park": f"/bin/sh -c 'echo $SERVICE_RESULT >> {folder}/parked/all'",
            "WatchdogSec=30": "WatchdogSec=1",
            "TimeoutStartSec=60": "TimeoutStartSec=1",
            "RestartSec=2": "RestartSec=100ms",
            "StartLimitBurst=6": f"StartLimitBurst={BURST}",
        }
        # The checkout may lie where the real program never does.
        about = ["ProtectHome=no", "PrivateTmp=no", f"ReadWritePaths={folder}"]
        about += [f"Environment=PYTHONPATH={CHECKOUT}", f"WorkingDirectory={CHECKOUT}"]
        beyond = (*BEYOND_A_USER, "ReadOnlyPaths", "ReadWritePaths")
        copy_unit("appliance.service", manager.units, swaps=swaps, without=beyond, service=about)
        stopped = {f"-{PROGRAM}/bin/appliance face park": f"/bin/touch {folder}/stopped/yes"}
        copy_unit("appliance-stopped.service", manager.units, swaps=stopped, without=beyond, service=about)
        copy_unit("appliance-worker.socket", manager.units, without=("SocketUser", "SocketGroup"))
        manager("daemon-reload")

    def start(self, *, waits: bool = True) -> int:
        """Start it; what systemctl ended with."""
        return self.manager("start", "appliance", *([] if waits else ["--no-block"])).returncode

    def fact(self, name: str) -> str:
        return self.manager.fact("appliance.service", name)

    @property
    def starts(self) -> int:
        file = self.folder / "starts"
        return len(file.read_text().splitlines()) if file.exists() else 0

    @property
    def ends(self) -> list[str]:
        """Result of each run that is over, as what parks the face is told it."""
        file = self.folder / "parked/all"
        return file.read_text().split() if file.exists() else []


def test_it_is_ready_pinged_and_stopped(manager: UserManager, tmp_path: Path) -> None:
    service = Service(manager, tmp_path, "fine")
    assert service.start() == 0, manager.log
    assert service.fact("ActiveState") == "active"
    manager.wait_for(lambda: service.fact("StatusText") == "being fine", "its words")
    pinged = service.fact("WatchdogTimestampMonotonic")
    manager.wait_for(lambda: service.fact("WatchdogTimestampMonotonic") != pinged, "a ping")
    environment = json.loads((tmp_path / "environment").read_text())
    assert not {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} & set(environment)
    assert environment["GPIOZERO_PIN_FACTORY"] == "lgpio" and "RUNTIME_DIRECTORY" in environment
    manager("stop", "appliance")
    assert service.starts == 1 and len(service.ends) == 1


def test_a_slow_start_survives_when_it_asks_for_time_and_only_then(manager: UserManager, tmp_path: Path) -> None:
    service = Service(manager, tmp_path, "slow")
    assert service.start() == 0, manager.log
    assert service.starts == 1
    manager("stop", "appliance")
    (silent := tmp_path / "silent").mkdir()
    other = Service(manager, silent, "silent")
    assert other.start() != 0
    manager.wait_for(lambda: "timeout" in other.ends, "the end of a start that took too long")


def test_a_hang_is_killed_and_started_anew_until_it_is_given_up_and_shown(manager: UserManager, tmp_path: Path) -> None:
    service = Service(manager, tmp_path, "hang")
    assert service.start() == 0, manager.log
    manager.wait_for((tmp_path / "stopped/yes").exists, "the unit that shows that it has stopped")
    assert service.fact("ActiveState") == "failed"
    assert service.starts == BURST
    assert service.ends == ["watchdog"] * BURST
    stacks = [file.read_text() for file in crash_files(tmp_path / "crashes")]
    assert len(stacks) == BURST
    assert all("Fatal Python error: Aborted" in text and "hang_in_the_loop" in text for text in stacks)


def test_a_microphone_that_is_open_and_gives_nothing_is_a_hang(manager: UserManager, tmp_path: Path) -> None:
    service = Service(manager, tmp_path, "deaf")
    assert service.start() == 0, manager.log
    manager.wait_for(lambda: service.starts > 1, "another start")
    assert service.ends[0] == "watchdog"
    manager("stop", "appliance")


def test_a_microphone_that_is_gone_is_waited_for(manager: UserManager, tmp_path: Path) -> None:
    service = Service(manager, tmp_path, "unplugged")
    assert service.start() == 0, manager.log
    first = int(service.fact("WatchdogTimestampMonotonic"))
    # Longer than silence is put up with.
    manager.wait_for(lambda: int(service.fact("WatchdogTimestampMonotonic")) - first > 6_500_000, "many pings")
    assert (service.starts, service.ends) == (1, [])


# ------------------------------------------------------------------------------------------------- the sandbox


class Sandboxes:
    """The worker's units in a manager; the work folder and a secret of the box beside it."""

    def __init__(self, manager: UserManager, folder: Path, *, most: str = "65min") -> None:
        self.manager = manager
        self.workdir = folder / "var/cache/workdir"
        self.workdir.mkdir(parents=True)
        self.secret = folder / "var/secret"
        self.secret.write_text("a chat")
        self.path = folder / "worker.sock"
        real = settings_of("appliance-worker@.service", "Service")
        swaps = {
            f"{PROGRAM}/bin/python": sys.executable,
            f"{PROGRAM}/libexec/worker_program.py": str(WORKER_PROGRAM),
            "TemporaryFileSystem=/var:ro": f"TemporaryFileSystem={folder}/var:ro /var:ro",
            "/var/cache/appliance/workdir": str(self.workdir),
            f"RuntimeMaxSec={real['RuntimeMaxSec'][0]}": f"RuntimeMaxSec={most}",
        }
        about = ["PrivateTmp=no", f"BindReadOnlyPaths={CHECKOUT} {sys.prefix} {sys.base_prefix}"]
        copy_unit("appliance-worker@.service", manager.units, swaps=swaps, without=BEYOND_A_USER, service=about)
        copy_unit(
            "appliance-worker.socket",
            manager.units,
            swaps={"/run/appliance/worker.sock": str(self.path)},
            without=("SocketUser", "SocketGroup"),
        )
        manager("daemon-reload")
        started = manager("start", "appliance-worker.socket")
        assert started.returncode == 0, started.stderr + manager.log
        self.launcher = SocketWorkers(self.path, self.secret)

    async def open(self) -> StreamLink:
        return await self.launcher.launch(self.workdir)


async def ask(link: StreamLink, **request: Json) -> dict[str, Json]:
    return dict(json.loads(await link.ask(json.dumps(request).encode())))


async def shell(link: StreamLink, line: str, seconds: float = 20.0) -> dict[str, Json]:
    return await ask(link, do="run", command=line, seconds=seconds)


@pytest.fixture
async def worker(manager: UserManager, tmp_path: Path) -> AsyncIterator[tuple[Sandboxes, StreamLink]]:
    sandboxes = Sandboxes(manager, tmp_path)
    link = await sandboxes.open()
    yield sandboxes, link
    link.kill()
    await link.ended()


async def test_the_sandbox_says_that_it_reaches_nothing(manager: UserManager, tmp_path: Path) -> None:
    shelter = await asyncio.to_thread(Sandboxes(manager, tmp_path).launcher.examine)
    assert shelter is not None, manager.log
    assert (shelter.is_contained, shelter.has_network) == (True, False)


async def test_a_program_in_it_has_the_work_folder_and_no_more(worker: tuple[Sandboxes, StreamLink]) -> None:
    sandboxes, link = worker
    (sandboxes.workdir / "given").write_text("from the box")
    assert (await shell(link, "cat given && echo back > made"))["stdout"] == "from the box"
    assert (sandboxes.workdir / "made").read_text() == "back\n"
    await ask(link, do="write", path="deep/file", data="aGk=")
    assert (await ask(link, do="read", path="deep/file"))["data"] == "aGk="
    for place in ("/usr", "/etc", "/var", "/var/lib", "/opt", "/run", str(sandboxes.secret.parent), "/"):
        tried = await shell(link, f"touch {place}/x 2>&1")
        assert tried["exit_code"] != 0, f"{place} can be written to"
    assert "No such file" in str((await shell(link, f"cat {sandboxes.secret} 2>&1"))["stdout"])


async def test_a_program_in_it_has_no_network_and_no_devices(worker: tuple[Sandboxes, StreamLink]) -> None:
    _, link = worker
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        tried = await ask(link, do="code", lang="python", code=code, seconds=20)
    assert tried["exit_code"] == 1 and "Address family not supported" in str(tried["stderr"])
    assert (await shell(link, "ls /sys/class/net /proc/net/dev >/dev/null; cat /proc/net/dev | tail -n +3 | wc -l"))[
        "stdout"
    ] == "1\n"
    assert (await shell(link, "ls /dev/snd /dev/vda /dev/mem 2>/dev/null; true"))["stdout"] == ""
    assert (await shell(link, "unshare --user true 2>&1"))["exit_code"] != 0


async def test_memory_files_and_processes_have_limits(worker: tuple[Sandboxes, StreamLink]) -> None:
    _, link = worker
    eater = "x = bytearray(2 << 30)"
    assert "MemoryError" in str((await ask(link, do="code", lang="python", code=eater, seconds=20))["stderr"])
    assert (await shell(link, "head -c 100M /dev/zero > big"))["exit_code"] != 0


async def test_two_calls_have_two_sandboxes_which_end_with_them(worker: tuple[Sandboxes, StreamLink]) -> None:
    sandboxes, first = worker
    second = await sandboxes.open()
    count = "appliance-worker@*.service"
    assert len(_running(sandboxes.manager, count)) == 2
    await shell(second, "sleep 1000 & disown; true")
    second.kill()
    await second.ended()
    await asyncio.to_thread(
        sandboxes.manager.wait_for, lambda: len(_running(sandboxes.manager, count)) == 1, "the end of a sandbox"
    )
    assert (await shell(first, "echo alive"))["stdout"] == "alive\n"


async def test_a_sandbox_that_is_forgotten_ends_by_itself(manager: UserManager, tmp_path: Path) -> None:
    link = await Sandboxes(manager, tmp_path, most="1s").open()
    with pytest.raises(SandboxError, match="ended by itself"):
        await shell(link, "sleep 1000", seconds=1000)
    link.kill()
    await link.ended()


def _running(manager: UserManager, pattern: str) -> list[str]:
    return manager("list-units", "--plain", "--no-legend", "--state=active", pattern).stdout.splitlines()
