"""A plugins' door for tests, and a real web server to try it and ``requests`` against."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from appliance.adapters.fakes.exchange import FakeExchange, FakeIncoming
from appliance.clock import FakeClock
from appliance.network.classifier import Classifier
from appliance.network.direct_hosts import DirectHosts
from appliance.network.exchange import Exchange
from appliance.network.facade import Facade
from appliance.network.lane_client import LaneClient
from appliance.network.peer import PeerRule


@contextlib.contextmanager
def facade_over(exchange: Exchange, **options: Any) -> Iterator[Facade]:
    """A door that sends through ``exchange``."""
    hosts = DirectHosts(FakeClock())
    facade = Facade(lambda: exchange, Classifier(hosts.known_hosts), hosts, **options)
    try:
        yield facade
    finally:
        facade.close()


@contextlib.contextmanager
def real_facade(**options: Any) -> Iterator[Facade]:
    """A door that really sends."""
    with facade_over(LaneClient(Classifier(), peers=PeerRule()), **options) as facade:
        yield facade


def answer(body: bytes = b"", status: int = 200, **headers: str) -> FakeIncoming:
    """A scripted answer; ``content_type="text/html"`` becomes that header."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return FakeIncoming(status=status, headers=named, steps=(body,), reason="Words")


def moved_to(location: str, status: int = 302, **headers: str) -> FakeIncoming:
    """A scripted redirect."""
    return answer(b"moved", status, location=location, **headers)


def exchange_of(*answers: FakeIncoming) -> FakeExchange:
    """An exchange that gives these answers one by one."""
    return FakeExchange(*answers)


class WebServer:
    """A real HTTP/1.1 server on a loopback address; counts its connections."""

    def __init__(self) -> None:
        self._server = _Counting(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def connections(self) -> int:
        """How many were opened."""
        return self._server.connections

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Counting(ThreadingHTTPServer):
    request_queue_size = 128
    block_on_close = False
    daemon_threads = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.connections = 0
        self._crowds: dict[int, threading.Barrier] = {}
        self._lock = threading.Lock()

    def crowd(self, size: int) -> threading.Barrier:
        with self._lock:
            return self._crowds.setdefault(size, threading.Barrier(size))

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Counting

    def log_message(self, *_words: Any) -> None:
        return

    def setup(self) -> None:
        super().setup()
        self.wfile = self.connection.makefile("wb")

    def _answer(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        special = getattr(self, "_answer_" + path.strip("/").partition("/")[0].replace("-", "_"), None)
        if special is not None:
            special()
        else:
            heard = {name: value for name, value in self.headers.items() if name not in ("Host", "User-Agent")}
            told = {"method": self.command, "path": self.path, "headers": heard, "body": body.decode("latin-1")}
            self._send(json.dumps(told).encode(), ("Content-Type", "application/json"))
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _answer

    def _answer_status(self) -> None:
        status = int(self.path.rpartition("/")[2])
        self._send(b"" if status == 204 else b"so be it", status=status)

    def _answer_text(self) -> None:
        self._send("größer\r\nsecond\n\nlast".encode("latin-1"), ("Content-Type", "text/plain; charset=iso-8859-1"))

    def _answer_gzip(self) -> None:
        self._send(gzip.compress(b"unpacked " * 1_000), ("Content-Encoding", "gzip"), ("Content-Type", "text/plain"))

    def _answer_cookies(self) -> None:
        self._send(b"sweet", ("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/"))

    def _answer_repeated(self) -> None:
        self._send(b"", ("X-Twice", "one"), ("X-Twice", "two"))

    def _answer_redirect(self) -> None:
        status = int(self.path.rpartition("/")[2])
        self._send(b"there", ("Location", "/echo/there?x=a b"), ("Set-Cookie", "seen=1; Path=/"), status=status)

    def _answer_digest(self) -> None:
        if self.headers.get("Authorization", "").startswith("Digest "):
            self._send(b"welcome")
        else:
            self._send(b"who?", ("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"'), status=401)

    def _answer_big(self) -> None:
        self._send(b"0123456789" * 500_000)

    def _answer_together(self) -> None:
        """Answers nobody before ``/together/<n>`` has been asked by n at once."""
        self.server.crowd(int(self.path.rpartition("/")[2])).wait(30)
        self._send(b"all here")

    def _answer_chunked(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"first\nsec", b"ond\n", b"third"):
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _answer_cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"only this")
        self.close_connection = True

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, body: bytes, *headers: tuple[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
