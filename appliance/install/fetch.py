"""What lies on another machine, brought here: through the door of the box, bounded in size."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from appliance.errors import NetworkError, RefusedError
from appliance.network.proxy import Proxy
from appliance.ports_think import HttpDoor

_CONNECT_SECONDS, _READ_SECONDS = 20.0, 60.0
_OK = 200
_WORDS = {401: "wants a key", 403: "does not let us in", 404: "has nothing there", 410: "has nothing there any more"}


class Fetch(Protocol):
    """Brings one file. Blocks."""

    def download(self, url: str, file: Path, most_bytes: int) -> None:
        """Write what is at ``url``, redirects followed. Raises ``NetworkError`` and its kinds, ``RefusedError``."""
        ...

    def proxy_for(self, url: str) -> Proxy | None:
        """The proxy that another program shall use for ``url``, None for none. Raises ``LaneRefusedError``."""
        ...


class NoFetch:
    """``Fetch`` of what may only come from this machine."""

    def download(self, url: str, file: Path, most_bytes: int) -> None:
        """Always ``RefusedError``."""
        raise RefusedError(f"{url} is refused: here only what lies on this machine is taken")

    def proxy_for(self, url: str) -> Proxy | None:
        """None."""
        return None


class DoorFetch:
    """``Fetch`` through the door of the box, which keeps the lanes.

    ``run`` waits for a coroutine on the loop that owns the door, from any other thread. ``proxy_for`` is the way out
    of the lane that a URL takes.
    """

    def __init__(
        self,
        door: HttpDoor,
        run: Callable[[Coroutine[Any, Any, bytes]], bytes],
        proxy_for: Callable[[str], Proxy | None],
    ) -> None:
        self._door = door
        self._run = run
        self._proxy_for = proxy_for

    def download(self, url: str, file: Path, most_bytes: int) -> None:
        """See ``Fetch``."""
        body = self._run(self._body(url, most_bytes))
        file.write_bytes(body)

    def proxy_for(self, url: str) -> Proxy | None:
        """See ``Fetch``."""
        return self._proxy_for(url)

    async def _body(self, url: str, most_bytes: int) -> bytes:
        host = urlsplit(url).hostname
        opening = self._door.stream(
            "GET", url, connect_seconds=_CONNECT_SECONDS, read_seconds=_READ_SECONDS, follow_redirects=True
        )
        async with opening as answer:
            if answer.status != _OK:
                raise NetworkError(f"{host} {_WORDS.get(answer.status, f'answers with status {answer.status}')}")
            body = await answer.read(most_bytes + 1)
            announced = answer.headers.get("content-length", "")
        if len(body) > most_bytes:
            raise RefusedError(f"what {host} sends is refused: it is larger than {most_bytes // 1_000_000} MB")
        if announced.isdecimal() and len(body) < int(announced):
            raise NetworkError(f"{host} sent {len(body)} of {announced} bytes; try again")
        return body
