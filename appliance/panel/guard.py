"""Who may ask the page for anything: the owner's own browser, through their own tunnel, with the token from SSH.

Loopback alone protects nothing: every page that the owner has open can send requests to it, and a name that its
owner points at 127.0.0.1 makes the browser think it is the same site. So the ``Host`` must be one of ours to the
letter, what changes something must come from our own pages, and everything but the pages themselves needs a token
that never stands in a URL.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Carries the token; a header that no form and no other site can send without being asked about first.
TOKEN_HEADER = b"x-panel-token"
#: Settings are short.
MOST_BODY_BYTES = 1_000_000
_SAFE_METHODS = ("GET", "HEAD")

#: On every answer: nothing comes from elsewhere, nothing runs that is not a file of ours, nobody may frame it.
PAGE_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        b"frame-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; "
        b"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"microphone=(), camera=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """Stands before the whole application.

    ``open_paths`` are the files that hold no data (pages, scripts, styles). What lies under ``frames`` may be asked for
    by a frame without an origin, which can send no header: a part of it is as secret as the token.
    """

    def __init__(
        self, app: App, *, token: str, hosts: Iterable[str], open_paths: Callable[[str], bool], frames: str
    ) -> None:
        self._app = app
        self._frames = frames
        self._token = token.encode("ascii")
        self._hosts = frozenset(host.encode("ascii") for host in hosts)
        self._is_open = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it. Websockets are not spoken here."""
        if scope["type"] != "http":
            raise RuntimeError(f"the panel speaks HTTP only, not {scope['type']}")

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message.get("headers", ())}
                message["headers"] = [
                    *message.get("headers", ()),
                    *(header for header in PAGE_HEADERS if header[0] not in own),
                ]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send_guarded, *refusal)
            return
        await self._app(scope, _bounded(receive), send_guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = _by_name(scope["headers"])
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return 400, "this is not the address of the panel; appliance panel tells it"
        if scope["method"] in _SAFE_METHODS and scope["path"].startswith(self._frames):
            return None
        origin, is_safe = headers.get(b"origin", []), scope["method"] in _SAFE_METHODS
        if origin and origin != [b"http://" + host[0].lower()]:
            return 403, "another site sent this"
        if headers.get(b"sec-fetch-site", [b"none"])[0] not in (b"same-origin", b"none"):
            return 403, "another site sent this"
        if not is_safe:
            if not origin:
                return 403, "it does not say which page sent it"
            has_body = scope["method"] != "DELETE"
            if (
                has_body
                and headers.get(b"content-type", [b""])[0].partition(b";")[0].strip().lower() != b"application/json"
            ):
                return 415, "only JSON is taken here"
        if is_safe and self._is_open(scope["path"]):
            return None
        given = headers.get(TOKEN_HEADER, [b""])
        if len(given) != 1 or not hmac.compare_digest(given[0], self._token):
            return 401, "the token is missing or an old one; appliance panel prints the address with the token"
        if int(_number(headers.get(b"content-length", [b"0"])[0])) > MOST_BODY_BYTES:
            return 413, "this is too much at once"
        return None


def _by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    return found


def _number(text: bytes) -> int:
    return int(text) if text.isdigit() else MOST_BODY_BYTES + 1


def _bounded(receive: Receive) -> Receive:
    """A body that does not say how long it is must stay within the same bound."""
    taken = 0

    async def bounded() -> MutableMapping[str, Any]:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MOST_BODY_BYTES:
            return {"type": "http.disconnect"}
        return message

    return bounded


async def _refuse(send: Send, status: int, why: str) -> None:
    body = why.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
