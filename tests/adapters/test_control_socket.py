"""The control socket with good clients, hostile ones and several at once."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from appliance.adapters.control_client import ControlClient
from appliance.adapters.control_wire import REQUEST_LIMIT_BYTES
from appliance.errors import (
    ApplianceError,
    ConfigError,
    RefusedError,
    UsageError,
)
from appliance.ports import Json
from tests.adapters.control_rig import Device, RawClient, assert_alive

# ------------------------------------------------------------------------------------------------ good clients


async def test_a_call_gets_its_result_after_its_events_and_the_device_knows_who_called(
    file: Path, device: Device
) -> None:
    events: list[Json] = []
    async with ControlClient(file) as client:
        assert await client.call("count", {"to": 3}, events.append) == 3
        assert events == [{"number": 0}, {"number": 1}, {"number": 2}]
        assert await client.call("echo", {"text": "Grüße\n😀"}) == {"text": "Grüße\n😀"}
        assert await client.call("echo") == {}
    peer = device.callers[0].peer
    assert (peer.uid, peer.gid, peer.pid) == (os.getuid(), os.getgid(), os.getpid())


async def test_two_clients_and_two_calls_of_one_client_do_not_wait_for_each_other(file: Path, device: Device) -> None:
    async with ControlClient(file) as one, ControlClient(file) as two:
        waiting = asyncio.create_task(one.call("wait"))
        await device.started.wait()
        numbers = await asyncio.gather(two.call("count", {"to": 50}), one.call("count", {"to": 40}))
        assert list(numbers) == [50, 40]
        device.go_on.set()
        assert await waiting == "went on"


async def test_a_large_answer_arrives_whole(file: Path, device: Device) -> None:
    async with ControlClient(file) as client:
        assert await client.call("count", {"to": 200}) == 200
        text = "x" * (REQUEST_LIMIT_BYTES - 1000)
        assert await client.call("echo", {"text": text}) == {"text": text}


@pytest.mark.parametrize(("code", "kind"), [(1, ApplianceError), (2, UsageError), (3, RefusedError), (78, ConfigError)])
async def test_an_error_arrives_as_its_kind_with_its_sentence(
    file: Path, device: Device, code: int, kind: type[ApplianceError]
) -> None:
    async with ControlClient(file) as client:
        with pytest.raises(kind, match=r"^what to do$") as caught:
            await client.call("fail", {"code": code})
        assert caught.value.exit_code == code
        assert await client.call("echo") == {}


@pytest.mark.parametrize("method", ["crash", "rubbish"])
async def test_a_fault_of_the_device_is_a_sentence_without_details(file: Path, device: Device, method: str) -> None:
    async with ControlClient(file) as client:
        with pytest.raises(ApplianceError, match="inside the device") as caught:
            await client.call(method)
        assert "secret detail" not in str(caught.value)
        assert await client.call("echo") == {}


async def test_a_call_that_the_device_itself_stopped_is_told_so(file: Path, device: Device) -> None:
    async with ControlClient(file) as client:
        with pytest.raises(ApplianceError, match="stopped before"):
            await client.call("cancelled")


async def test_an_unknown_method_is_wrong_usage(file: Path, device: Device) -> None:
    async with ControlClient(file) as client:
        with pytest.raises(UsageError, match="'dance'"):
            await client.call("dance")


async def test_a_listener_that_fails_ends_its_own_call_only(file: Path, device: Device) -> None:
    def closed_terminal(_event: Json) -> None:
        raise BrokenPipeError

    async with ControlClient(file) as client:
        with pytest.raises(BrokenPipeError):
            await client.call("count", {"to": 3}, closed_terminal)
        assert await client.call("echo") == {}


async def test_events_after_the_result_go_nowhere(file: Path, device: Device) -> None:
    async with RawClient(file) as client:
        await client.send(b'{"id": 1, "method": "echo"}\n')
        assert await client.answer() == {"id": 1, "result": {}}
        device.callers[0].emit("too late")
        await client.send(b'{"id": 2, "method": "echo"}\n')
        assert await client.answer() == {"id": 2, "result": {}}


# --------------------------------------------------------------------------------------------- hostile clients


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b"not json", None),
        (b"\xff\xfe\x00", None),
        (b"", None),
        (b"[1, 2]", None),
        (b"null", None),
        (b"[" * 100_000, None),
        (b"{}", None),
        (b'{"method": "echo"}', None),
        (b'{"id": true, "method": "echo"}', True),
        (b'{"id": 7}', 7),
        (b'{"id": "a", "method": 5}', "a"),
        (b'{"id": 7, "method": "echo", "params": [1]}', 7),
        (b'{"id": 7, "method": "__class__"}', 7),
    ],
)
async def test_rubbish_is_answered_with_an_error_and_the_next_call_works(
    file: Path, device: Device, line: bytes, number: Json
) -> None:
    async with RawClient(file) as client:
        await client.send(line + b"\n")
        answer = await client.answer()
        assert answer["id"] == number
        assert answer["error"]["exit_code"] == 2
        await client.send(b'{"id": 8, "method": "echo", "params": {"a": 1}}\n')
        assert await client.answer() == {"id": 8, "result": {"a": 1}}


async def test_a_huge_line_is_refused_and_the_connection_closed(file: Path, device: Device) -> None:
    async with RawClient(file) as client:
        await client.send(b'{"id": 1, "method": "' + b"x" * 3 * REQUEST_LIMIT_BYTES)
        answer = await client.answer()
        assert "1000000 bytes" in answer["error"]["message"]
        assert await client.reader.read() == b""
    await assert_alive(file)


async def test_half_a_line_and_gone_harms_nobody(file: Path, device: Device) -> None:
    async with RawClient(file) as client:
        await client.send(b'{"id": 1, "method": "ec')
    await assert_alive(file)


@pytest.mark.parametrize("method", [b"wait", b"flood"])
async def test_a_client_that_vanishes_in_mid_call_ends_that_call(file: Path, device: Device, method: bytes) -> None:
    async with RawClient(file) as client:
        await client.send(b'{"id": 1, "method": "%s"}\n' % method)
        await device.started.wait()
    await device.ended.wait()
    await assert_alive(file)


async def test_a_client_that_does_not_read_is_dropped_and_never_waited_for(file: Path, device: Device) -> None:
    async with RawClient(file) as client:
        client.reader._transport.pause_reading()  # type: ignore[attr-defined]
        await client.send(b'{"id": 1, "method": "flood"}\n')
        await device.ended.wait()
        await assert_alive(file)


async def test_no_client_can_have_more_than_16_calls_open(file: Path, device: Device) -> None:
    async with RawClient(file) as client:
        await client.send(b"".join(b'{"id": %d, "method": "wait"}\n' % number for number in range(17)))
        answer = await client.answer()
        assert (answer["id"], "16 calls" in answer["error"]["message"]) == (16, True)


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (b'{"id": null, "error": {"message": "ask its owner", "exit_code": 3}}\n', RefusedError, "ask its owner"),
        (b"rubbish\n", ApplianceError, "cannot be read"),
        (b'{"id": 1, "error": "odd"}\n', ApplianceError, "without a word"),
        (b"", ApplianceError, "stopped before"),
    ],
)
async def test_the_client_understands_a_device_that_hangs_up_or_talks_rubbish(
    file: Path, answer: bytes, kind: type[ApplianceError], says: str
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer:
            await reader.readline()
            writer.write(answer)
        writer.close()

    file.parent.mkdir()
    async with await asyncio.start_unix_server(serve, str(file)), ControlClient(file) as client:
        with pytest.raises(kind, match=says):
            await client.call("echo")
