"""Addresses of a plugin's own on the page: a request goes to a function that its manifest names.

The function gets the parts of the path, the fields of the body, and ``settings``, ``credentials``, ``query`` and
``request``, by name: those that it can take. What it returns becomes JSON, unless it is an answer already (bytes, or
something with ``body`` and ``status_code``).
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any
from urllib.parse import unquote

from appliance.clock import Clock
from appliance.contracts.sapphire.discover import FoundPlugin
from appliance.contracts.sapphire.hooks import open_hook_file
from appliance.contracts.sapphire.imports import PluginImports
from appliance.contracts.sapphire.plugin_work import Failed, PluginWork
from appliance.errors import UsageError

_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})
_PARAMETER = re.compile(r"\\\{(\w+)\\\}")
#: Of one plugin, whatever its addresses.
_MOST_CALLS, _WINDOW_SECONDS = 30, 60.0
_MOST_ANSWER_BYTES = 10_000_000


@dataclass(frozen=True)
class RouteRequest:
    """What a function may ask about the request; named as the web frameworks name it."""

    method: str
    path: str
    query_params: Mapping[str, str]
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    async def json(self) -> Any:
        """The body."""
        return self.body


@dataclass(frozen=True)
class RouteAnswer:
    """``status`` is that of HTTP."""

    status: int
    media_type: str
    body: bytes


@dataclass(frozen=True)
class Route:
    """One declared address."""

    method: str
    pattern: re.Pattern[str]
    file: str
    function: str


class PluginRoutes:
    """The addresses of all plugins. On the loop.

    ``settings_of`` reads the disk. ``credentials`` are those that its tools get.
    """

    def __init__(
        self,
        work: PluginWork,
        clock: Clock,
        found: Callable[[str], FoundPlugin | None],
        settings_of: Callable[[FoundPlugin], Mapping[str, Any]],
        credentials: object,
        *,
        budget_seconds: float,
    ) -> None:
        self._work = work
        self._clock = clock
        self._found = found
        self._settings_of = settings_of
        self._credentials = credentials
        self._budget_seconds = budget_seconds
        self._imports: PluginImports | None = None
        #: Of each plugin: its files that are open, which its routes share, and when it was asked lately.
        self._modules: dict[tuple[str, str], ModuleType] = {}
        self._asked: dict[str, deque[float]] = {}

    def join(self, imports: PluginImports) -> None:
        """What loads their files."""
        self._imports = imports

    def forget(self, name: str) -> None:
        """The plugin goes."""
        self._modules = {key: module for key, module in self._modules.items() if key[0] != name}
        self._asked.pop(name, None)

    async def call(self, name: str, request: RouteRequest) -> RouteAnswer:
        """What the plugin ``name`` answers. Raises ``UsageError``: it has no such address, or was asked too often."""
        plugin = self._found(name)
        if plugin is None or self._imports is None:
            raise UsageError(f"no plugin {name!r} is loaded")
        for route in routes_of(plugin):
            fits = route.pattern.fullmatch(request.path.strip("/"))
            if fits and route.method == request.method:
                self._count(name)
                return await self._run(plugin, route, {k: unquote(v) for k, v in fits.groupdict().items()}, request)
        raise UsageError(f"the plugin {name} has no address {request.method} {request.path}")

    def _count(self, name: str) -> None:
        now, asked = self._clock.monotonic_seconds(), self._asked.setdefault(name, deque())
        while asked and asked[0] <= now - _WINDOW_SECONDS:
            asked.popleft()
        if len(asked) >= _MOST_CALLS:
            raise UsageError(f"the plugin {name} was asked {_MOST_CALLS} times within a minute; wait a little")
        asked.append(now)

    async def _run(
        self, plugin: FoundPlugin, route: Route, parts: Mapping[str, str], request: RouteRequest
    ) -> RouteAnswer:
        work = partial(self._on_its_side, plugin, route, parts, request)
        ran = await self._work.run(plugin.name, work, self._budget_seconds)
        if isinstance(ran, Failed):
            return _as_json({"error": ran.why}, 500)
        return ran

    def _on_its_side(
        self, plugin: FoundPlugin, route: Route, parts: Mapping[str, str], request: RouteRequest
    ) -> RouteAnswer:
        """Open the file, call the function, pack what it returns. On the plugin's thread; raises what it raises."""
        key = (plugin.name, route.file)
        if key not in self._modules:
            assert self._imports is not None
            self._modules[key] = open_hook_file(self._imports, plugin.folder, route.file)
        function = getattr(self._modules[key], route.function)
        given = {
            **(request.body if isinstance(request.body, dict) else {}),
            **parts,
            "settings": dict(self._settings_of(plugin)),
            "credentials": self._credentials,
            "query": dict(request.query_params),
            "request": request,
        }
        returned = function(**_taken(function, given))
        if inspect.iscoroutine(returned):
            returned = asyncio.run(returned)
        return _packed(returned)


def routes_of(plugin: FoundPlugin) -> list[Route]:
    """The declared addresses that make sense; what does not is told when the plugin is loaded (``problems_of``)."""
    return [route for route in map(_route, _declared(plugin)) if isinstance(route, Route)]


def problems_of(plugin: FoundPlugin) -> list[str]:
    """What is wrong with its addresses, in sentences for the author."""
    return [problem for problem in map(_route, _declared(plugin)) if isinstance(problem, str)]


def _declared(plugin: FoundPlugin) -> list[Any]:
    capabilities = plugin.manifest.raw.get("capabilities")
    routes = capabilities.get("routes") if isinstance(capabilities, Mapping) else None
    return routes if isinstance(routes, list) else []


def _route(raw: Any) -> Route | str:
    if not isinstance(raw, Mapping):
        return f"its route {raw!r} is not an object and is not used"
    method, path, handler = raw.get("method", "GET"), raw.get("path"), raw.get("handler")
    if not isinstance(method, str) or method.upper() not in _METHODS:
        return f"its route {path!r} is not used: its method is one of {', '.join(sorted(_METHODS))}"
    if not isinstance(path, str) or not path.strip("/") or not isinstance(handler, str):
        return f"its route {path!r} is not used: it needs a path and a handler"
    file, _, function = handler.partition(":")
    pattern = _PARAMETER.sub(r"(?P<\1>[^/]+)", re.escape(path.strip("/")))
    try:
        return Route(method.upper(), re.compile(pattern), file, function or "handle")
    except re.error as error:
        return f"its route {path!r} is not used: {error}"


def _taken(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the function can take; authors leave out what they do not need."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return dict(given)
    names = {parameter.name for parameter in parameters}
    return {name: value for name, value in given.items() if name in names}


def _packed(returned: Any) -> RouteAnswer:
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], int):
        return _as_json(*returned)
    body, status = getattr(returned, "body", None), getattr(returned, "status_code", 200)
    if isinstance(body, bytes) and isinstance(status, int):
        return _bounded(status, str(getattr(returned, "media_type", None) or "application/octet-stream"), body)
    if isinstance(returned, bytes):
        return _bounded(200, "application/octet-stream", returned)
    return _as_json(returned)


def _as_json(value: Any, status: int = 200) -> RouteAnswer:
    return _bounded(status, "application/json", json.dumps(value, default=str).encode())


def _bounded(status: int, media_type: str, body: bytes) -> RouteAnswer:
    if len(body) > _MOST_ANSWER_BYTES:
        raise ValueError(f"the answer is larger than {_MOST_ANSWER_BYTES // 1_000_000} MB")
    return RouteAnswer(status if 200 <= status <= 599 else 500, media_type, body)
