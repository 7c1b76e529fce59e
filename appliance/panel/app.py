"""The page's addresses: files, the methods of the box, what happens now, pictures.

Behind ``guard.Guard``; nothing here checks again who asks.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from appliance.control import Caller, Peer
from appliance.errors import ApplianceError, RefusedError, UsageError
from appliance.panel.methods import ON_THE_PAGE
from appliance.panel.sources import Sources

PAGES = Path(__file__).parent / "pages"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: A page of a plugin is a stranger in its frame: an origin of its own, no way to the box but through our page's ear.
FRAME_HEADERS = {
    "content-security-policy": "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'self' "
    "'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
    "cross-origin-resource-policy": "cross-origin",
}
#: What a picture of the store may be; anything else is not shown as one.
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def page_files() -> dict[str, Path]:
    """Address to file, of everything that makes up the page; read once, so that no address can name another file."""
    found = {f"/{file.name}": file for file in sorted(PAGES.iterdir()) if file.suffix in _KINDS}
    return {"/": found.pop("/index.html"), **found}


def make_app(sources: Sources, files: Mapping[str, Path], frames: str) -> Starlette:
    """The application, for a server on the running loop; pages of plugins lie under ``frames``."""
    pages = _Pages(sources, frames)
    routes = [Route(address, _file(file)) for address, file in files.items()]
    routes += [
        Route("/api/{method}", pages.call, methods=["POST"]),
        Route("/events", pages.events),
        Route("/picture/{handle}", pages.picture),
        Route("/outside", pages.outside),
        Route("/face", pages.face),
        Route("/page-of/{name}", pages.page_of),
        Route("/api/plugin/{name}/{path:path}", pages.plugin, methods=["GET", "POST", "PUT", "DELETE"]),
        Route(frames + "/{name}/{file:path}", pages.frame),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return app


class _Pages:
    def __init__(self, sources: Sources, frames: str) -> None:
        self._sources = sources
        self._frames = frames
        self._caller = Caller(Peer(os.geteuid(), os.getegid(), os.getpid()), emit=lambda _event: None)

    async def call(self, request: Request) -> Response:
        """One method; its parameters are the body, a JSON object."""
        method = request.path_params["method"]
        handler = self._sources.handlers.get(method) if method in ON_THE_PAGE else None
        if handler is None:
            return _problem(404, f"the page cannot ask for {method!r}")
        try:
            params = await request.json()
        except (ValueError, RecursionError):
            return _problem(400, "that is no JSON")
        if not isinstance(params, dict):
            return _problem(400, "parameters are one JSON object")
        try:
            return JSONResponse({"result": await handler(params, self._caller)})
        except ApplianceError as error:
            return _problem(_status_of(error), str(error))

    async def events(self, _request: Request) -> Response:
        """What happens from now on."""
        return StreamingResponse(self._sources.feed.lines(), media_type="text/event-stream")

    async def picture(self, request: Request) -> Response:
        """A picture of the store by its handle."""
        try:
            found = await self._sources.handlers["chat.image"]({"handle": request.path_params["handle"]}, self._caller)
        except ApplianceError as error:
            return _problem(404, str(error))
        return _picture(found["media_type"], base64.b64decode(found["data"]))

    async def outside(self, request: Request) -> Response:
        """A picture of the internet, so that its owner sees the box and not the person who looks."""
        try:
            return _picture(*await asyncio.to_thread(self._sources.outside, request.query_params.get("url", "")))
        except ApplianceError as error:
            return _problem(404, str(error))

    async def plugin(self, request: Request) -> Response:
        """An address that a plugin serves itself."""
        has_body = request.method in ("POST", "PUT")
        try:
            body = await request.json() if has_body else None
        except (ValueError, RecursionError):
            return _problem(400, "that is no JSON")
        asked = {**request.path_params, "method": request.method, "query": dict(request.query_params), "body": body}
        try:
            answer = await self._sources.handlers["plugin.route"](asked, self._caller)
        except ApplianceError as error:
            return _problem(404, str(error))
        return Response(base64.b64decode(answer["body"]), answer["status"], media_type=answer["media_type"])

    async def page_of(self, request: Request) -> Response:
        """Where the page of a plugin is, "" when it has none."""
        asked = {"name": request.path_params["name"]}
        has_page = await self._sources.handlers["plugin.has_page"](asked, self._caller)
        address = f"{self._frames}/{quote(asked['name'])}/index.html" if has_page else ""
        return JSONResponse({"address": address})

    async def frame(self, request: Request) -> Response:
        """A file of a plugin's own page, for a frame that has nothing to do with ours."""
        asked = {"name": request.path_params["name"], "file": request.path_params["file"]}
        try:
            found = await self._sources.handlers["plugin.page_file"](asked, self._caller)
        except ApplianceError as error:
            return _problem(404, str(error))
        headers = {"content-type": found["media_type"], **FRAME_HEADERS}
        return Response(base64.b64decode(found["data"]), headers=headers)

    async def face(self, _request: Request) -> Response:
        """The poses of all moods and activities."""
        return JSONResponse(self._sources.face())


def _file(file: Path) -> Callable[[Request], Response]:
    body, kind = file.read_bytes(), _KINDS[file.suffix]
    return lambda _request: Response(body, headers={"content-type": kind, "cache-control": "no-cache"})


def _picture(media_type: str, data: bytes) -> Response:
    if media_type not in _PICTURES:
        return _problem(415, "this kind of picture is not shown")
    return Response(data, media_type=media_type, headers={"content-disposition": "inline"})


def _status_of(error: ApplianceError) -> int:
    return 400 if isinstance(error, UsageError) else 403 if isinstance(error, RefusedError) else 409


def _problem(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"problem": sentence}, status_code=status)
