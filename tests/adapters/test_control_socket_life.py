"""The control socket with good clients, hostile ones and several at once."""

# ruff: noqa: ASYNC221, ASYNC240 - a test may look at a file while its loop waits

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.adapters.control_client import ControlClient
from appliance.adapters.control_socket import ControlSocket
from appliance.adapters.control_wire import short_path
from appliance.adapters.fakes.control import FakeControl
from appliance.control import Control
from appliance.errors import (
    ApplianceError,
    HomeLockedError,
    NotRunningError,
    RefusedError,
    UsageError,
)
from appliance.ports import Json
from tests.adapters.control_rig import Device, assert_alive

# ----------------------------------------------------------------------------------------- coming and going


async def test_without_a_device_the_client_says_how_to_start_it(file: Path) -> None:
    with pytest.raises(NotRunningError, match="appliance run"):
        async with ControlClient(file):
            pass


async def test_a_device_that_stops_in_mid_call_is_told_to_the_client(file: Path) -> None:
    device = Device()
    server = ControlSocket(file, device.handlers)
    await server.start()
    async with ControlClient(file) as client:
        call = asyncio.create_task(client.call("wait"))
        await device.started.wait()
        await server.close()
        with pytest.raises(ApplianceError, match="stopped before it had answered"):
            await call
        with pytest.raises(ApplianceError, match="stopped before it had answered"):
            await client.call("echo")
    assert device.ended.is_set()
    assert not file.exists()
    await server.close()


async def test_a_socket_left_by_a_killed_device_is_replaced(file: Path) -> None:
    file.parent.mkdir()
    script = "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); os._exit(9)"
    subprocess.run([sys.executable, "-c", script, str(file)], check=False)
    assert file.is_socket()
    async with ControlSocket(file, Device().handlers):
        await assert_alive(file)


async def test_a_second_device_on_the_same_home_is_refused_and_the_first_goes_on(file: Path, device: Device) -> None:
    with pytest.raises(HomeLockedError, match="already answers"):
        await ControlSocket(file, {}).start()
    await assert_alive(file)


async def test_another_file_in_its_place_is_not_deleted(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("somebody's notes")
    with pytest.raises(ApplianceError, match="in the way"):
        await ControlSocket(file, {}).start()
    assert file.read_text() == "somebody's notes"


async def test_a_device_that_stops_late_does_not_remove_the_socket_of_the_next(file: Path) -> None:
    old = ControlSocket(file, {})
    await old.start()
    file.unlink()
    async with ControlSocket(file, Device().handlers):
        await old.close()
        await assert_alive(file)


async def test_a_home_deep_down_works_too(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60) / "control.sock"
    async with ControlSocket(deep, Device().handlers):
        await assert_alive(deep)
        with pytest.raises(HomeLockedError):
            await ControlSocket(deep, {}).start()
    assert not deep.exists()


# ---------------------------------------------------------------------------------------------- who may call


async def test_only_the_owner_and_a_group_can_reach_the_socket(file: Path, device: Device) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o660
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_a_folder_that_everybody_can_write_is_refused(file: Path) -> None:
    file.parent.mkdir()
    file.parent.chmod(0o777)
    with pytest.raises(ApplianceError, match="false control socket"):
        await ControlSocket(file, {}).start()


_STRANGER = """
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[3]))
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b'{"id": 1, "method": "echo", "params": {"a": 1}}\\n')
print(client.makefile().readline())
"""


@pytest.fixture
def public_file() -> Iterator[Path]:
    """A place that other users can reach; pytest's own folders are closed to them."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "run" / "control.sock"


async def answer_to_stranger(file: Path, gid: int, uid: int) -> Json:
    command = (sys.executable, "-c", _STRANGER, str(file), str(gid), str(uid))
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    return json.loads(out)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_members_of_the_group_may_call(public_file: Path) -> None:
    async with ControlSocket(public_file, Device().handlers, group=12345):
        assert (public_file.stat().st_gid, public_file.parent.stat().st_gid) == (12345, 12345)
        assert stat.S_IMODE(public_file.parent.stat().st_mode) == 0o750
        assert await answer_to_stranger(public_file, gid=12345, uid=54321) == {"id": 1, "result": {"a": 1}}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_a_stranger_is_refused_even_where_the_rights_of_the_file_let_them_in(public_file: Path) -> None:
    async with ControlSocket(public_file, Device().handlers):
        public_file.parent.chmod(0o755)
        public_file.chmod(0o666)
        answer = await answer_to_stranger(public_file, gid=12345, uid=54321)
        assert answer["error"] == {"message": "this user may not control the appliance; ask its owner", "exit_code": 3}
        await assert_alive(public_file)


# ------------------------------------------------------------------------------------------------- small things


def test_a_short_path_stays_as_it_is_and_a_long_one_leads_to_the_same_place(tmp_path: Path) -> None:
    with short_path(Path("/run/control.sock")) as path:
        assert path == "/run/control.sock"
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    with socket.socket(socket.AF_UNIX) as listener, short_path(deep / "control.sock") as path:
        listener.bind(path)
    assert (deep / "control.sock").is_socket()


async def test_the_fake_serves_the_same_calls_as_the_socket(file: Path, device: Device) -> None:
    async with ControlClient(file) as real:
        for control in (real, FakeControl(device.handlers)):
            port: Control = control
            events: list[Json] = []
            assert await port.call("count", {"to": 2}, events.append) == 2
            assert events == [{"number": 0}, {"number": 1}]
            with pytest.raises(UsageError, match="'dance'"):
                await port.call("dance")
            with pytest.raises(RefusedError):
                await port.call("fail", {"code": 3})
