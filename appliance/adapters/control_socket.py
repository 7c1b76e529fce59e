"""The control socket: how the command line reaches the running device.

Only the device's own user, root and one group may call. A client that sends rubbish, stops reading or vanishes costs
itself its connection and nobody else anything.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pwd
import socket
import stat
import struct
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType

from appliance.adapters.control_wire import (
    REQUEST_LIMIT_BYTES,
    Request,
    decode_answer,
    decode_request,
    encode,
    error_message,
    short_path,
)
from appliance.control import Caller, Handler, Peer
from appliance.errors import ApplianceError, HomeLockedError, RefusedError, UsageError
from appliance.ports import Json

_LOG = logging.getLogger(__name__)

#: Lines that wait for a client that reads slowly; one more, and it is dropped.
_LONGEST_QUEUE = 256
_CALLS_PER_CLIENT = 16
#: For a client to take the last lines when we hang up.
_PARTING_SECONDS = 1.0


class ControlSocket:
    """Serves ``handlers`` at ``file`` from ``start`` to ``close``, or inside ``async with``.

    ``group`` (a gid) may call as well; its members need the right to enter the folder.
    """

    def __init__(self, file: Path, handlers: Mapping[str, Handler], *, group: int | None = None) -> None:
        self._file = file
        self._handlers = handlers
        self._group = group
        self._server: asyncio.Server | None = None
        self._is_closing = False
        self._inode = 0
        self._clients: set[_Client] = set()
        self._path = ExitStack()

    async def start(self) -> None:
        """Begin to answer. Raises ``HomeLockedError`` when another device answers there, ``ApplianceError``."""
        try:
            listener = self._bind()
        except OSError as error:
            raise ApplianceError(f"the control socket {self._file} cannot be made: {error.strerror}") from error
        self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=REQUEST_LIMIT_BYTES)

    async def close(self) -> None:
        """Drop every client, cancelling what it asked for, and remove the socket; safe to call twice."""
        if self._server is None:
            return
        server, self._server = self._server, None
        self._is_closing = True
        server.close()
        self._path.close()
        clients = list(self._clients)
        for client in clients:
            client.drop()
        await asyncio.gather(*(client.gone.wait() for client in clients))
        with suppress(OSError):
            if self._file.stat().st_ino == self._inode:
                self._file.unlink()

    async def __aenter__(self) -> ControlSocket:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _bind(self) -> socket.socket:
        self._make_folder()
        self._remove_stale()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # asyncio looks at the path again when it closes the server.
            listener.bind(self._path.enter_context(short_path(self._file)))
            # Nobody can connect before ``listen``, so the rights are right from the first connection on.
            self._file.chmod(0o660)
            self._give_to_group(self._file)
            listener.listen(64)
        except BaseException:
            listener.close()
            self._path.close()
            raise
        self._inode = self._file.stat().st_ino
        return listener

    def _make_folder(self) -> None:
        folder = self._file.parent
        if not folder.exists():
            folder.mkdir(parents=True, mode=0o700)
            if self._group is not None:
                self._give_to_group(folder)
                folder.chmod(0o750)
        if folder.stat().st_mode & stat.S_IWOTH:
            raise ApplianceError(f"{folder} can be written by everybody: a false control socket could be put there")

    def _give_to_group(self, path: Path) -> None:
        # A service has it already as its own group, and may not call chown at all.
        if self._group is not None and path.stat().st_gid != self._group:
            os.chown(path, -1, self._group)

    def _remove_stale(self) -> None:
        """What a killed device left behind goes; a socket where somebody answers stays, and so does any other file."""
        if not self._file.is_socket():
            if self._file.exists():
                raise ApplianceError(f"{self._file} is in the way of the control socket; move it elsewhere")
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, short_path(self._file) as path:
            probe.settimeout(1.0)
            try:
                probe.connect(path)
            except (ConnectionRefusedError, FileNotFoundError):
                self._file.unlink(missing_ok=True)
                return
            except TimeoutError:
                pass
        raise HomeLockedError(f"a device already answers at {self._file}; stop it first, or use another home")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = _peer_of(writer)
        client = _Client(reader, writer, peer, self._handlers)
        self._clients.add(client)
        try:
            if self._is_closing:
                client.drop()
            elif self._may_call(peer):
                await client.serve()
            else:
                _LOG.warning("user %d may not use the control socket", peer.uid)
                await client.refuse(RefusedError("this user may not control the appliance; ask its owner"))
        finally:
            self._clients.discard(client)

    def _may_call(self, peer: Peer) -> bool:
        return peer.uid in (0, os.geteuid()) or (self._group is not None and self._group in _groups_of(peer))


class _Client:
    """One connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: Peer, handlers: Mapping[str, Handler]
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._peer = peer
        self._handlers = handlers
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(_LONGEST_QUEUE)
        self._calls: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()

    async def serve(self) -> None:
        """Answer until the client goes away; whatever it asked for ends with it."""
        sending = asyncio.create_task(self._send_lines())
        self._reading = asyncio.create_task(self._read_requests())
        try:
            await asyncio.wait({self._reading, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end({self._reading, *self._calls})
            await self._finish(sending)

    async def refuse(self, error: ApplianceError) -> None:
        """Say why there is no service, and hang up."""
        with suppress(OSError):
            self._writer.write(encode({"id": None, "error": error_message(error)}))
            await self._writer.drain()
        await self._hang_up()

    def drop(self) -> None:
        """Hang up at once; nothing more is sent."""
        self._writer.transport.abort()
        if self._reading is not None:
            self._reading.cancel()

    async def _read_requests(self) -> None:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                # Where the next request begins in a line this long cannot be known.
                error = UsageError(f"a request may have {REQUEST_LIMIT_BYTES} bytes; the connection is closed")
                self._send({"id": None, "error": error_message(error)})
                return
            except OSError:
                return
            if not line.endswith(b"\n"):
                return
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            request = decode_request(line)
            handler = self._handlers.get(request.method)
            if handler is None:
                raise UsageError(f"the device knows no method {request.method!r}; is it an older version?")
            if len(self._calls) >= _CALLS_PER_CLIENT:
                raise ApplianceError(f"{_CALLS_PER_CLIENT} calls are open on this connection; wait for one to end")
        except ApplianceError as error:
            self._send({"id": _number_in(line), "error": error_message(error)})
            return
        task = asyncio.create_task(self._answer(request, handler), name=f"control {request.method}")
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _answer(self, request: Request, handler: Handler) -> None:
        is_open = True

        def emit(event: Json) -> None:
            if is_open:
                self._send({"id": request.number, "event": event})

        try:
            result = await handler(request.params, Caller(self._peer, emit))
            answer: dict[str, Json] = {"result": result}
        except ApplianceError as error:
            answer = {"error": error_message(error)}
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            answer = {"error": error_message(ApplianceError("it was stopped before it was done"))}
        except Exception:
            _LOG.exception("serving %s failed", request.method)
            answer = {"error": error_message(_INTERNAL)}
        is_open = False
        self._send({"id": request.number, **answer})

    def _send(self, message: Mapping[str, Json]) -> None:
        try:
            line = encode(message)
        except (ValueError, TypeError, RecursionError):
            _LOG.exception("an answer cannot be written as JSON")
            line = encode({"id": message["id"], "error": error_message(_INTERNAL)})
        try:
            self._lines.put_nowait(line)
        except asyncio.QueueFull:
            _LOG.warning("a client of the control socket does not read; it is dropped")
            self.drop()

    async def _send_lines(self) -> None:
        """Ends when the connection does."""
        with suppress(OSError):
            while True:
                line = await self._lines.get()
                self._writer.write(line)
                await self._writer.drain()
                self._lines.task_done()

    async def _finish(self, sending: asyncio.Task[None]) -> None:
        """Let what is queued go out, for a client that is still there, and hang up."""
        if not sending.done() and not self._writer.transport.is_closing():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._lines.join(), _PARTING_SECONDS)
        await _end({sending})
        await self._hang_up()

    async def _hang_up(self) -> None:
        """Let the client read our last words: the kernel throws them away when input of its own is left unread."""
        if not self._writer.transport.is_closing():
            with suppress(OSError, TimeoutError):
                self._writer.write_eof()
                await asyncio.wait_for(self._ignore_input(), _PARTING_SECONDS)
        self._writer.transport.abort()
        with suppress(OSError):
            await self._writer.wait_closed()
        self.gone.set()

    async def _ignore_input(self) -> None:
        while await self._reader.read(65_536):
            pass


_INTERNAL = ApplianceError("something went wrong inside the device that should not; its log says what")


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _number_in(line: bytes) -> Json:
    """The id of a request that is wrong in some other way, so that its client knows which it was."""
    with suppress(UsageError):
        return decode_answer(line).get("id")
    return None


def _peer_of(writer: asyncio.StreamWriter) -> Peer:
    connection = writer.get_extra_info("socket")
    size = struct.calcsize("3i")
    pid, uid, gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return Peer(uid, gid, pid)


def _groups_of(peer: Peer) -> list[int]:
    """The kernel tells only a process's main group; the others come from the user database."""
    try:
        name = pwd.getpwuid(peer.uid).pw_name
    except KeyError:
        return [peer.gid]
    return os.getgrouplist(name, peer.gid)
