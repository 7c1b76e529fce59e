"""What the page may ask of plugins that bring addresses and a page of their own."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping

from appliance.contracts.sapphire.beside import Beside
from appliance.contracts.sapphire.discover import FoundPlugin
from appliance.contracts.sapphire.routes import RouteRequest
from appliance.contracts.sapphire.web_pages import has_page, page_file
from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.ports import Json


class PluginPageService:
    """Serves the loaded plugins of a running box."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {
            "plugin.route": self.plugin_route,
            "plugin.has_page": self.plugin_has_page,
            "plugin.page_file": self.plugin_page_file,
        }

    async def plugin_route(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """What the plugin ``{"name"}`` answers to ``{"method", "path", "query", "body"}``; the answer in base64."""
        query = params.get("query") or {}
        if not isinstance(query, dict):
            raise UsageError("query is an object")
        request = RouteRequest(
            method=str(params.get("method") or "GET").upper(),
            path=_text(params, "path"),
            query_params={str(key): str(value) for key, value in query.items()},
            body=params.get("body"),
        )
        answer = await self._beside.routes.call(_text(params, "name"), request)
        body = base64.b64encode(answer.body).decode("ascii")
        return {"status": answer.status, "media_type": answer.media_type, "body": body}

    async def plugin_has_page(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Whether the plugin ``{"name"}`` brings a settings page."""
        plugin = self._beside.loaded(_text(params, "name"))
        return plugin is not None and await asyncio.to_thread(has_page, plugin)

    async def plugin_page_file(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The file ``{"file"}`` of the page of the plugin ``{"name"}``, in base64."""
        plugin = self._plugin(params)
        kind, data = await asyncio.to_thread(page_file, plugin, str(params.get("file") or ""))
        return {"media_type": kind, "data": base64.b64encode(data).decode("ascii")}

    def _plugin(self, params: Mapping[str, Json]) -> FoundPlugin:
        name = _text(params, "name")
        plugin = self._beside.loaded(name)
        if plugin is None or not has_page(plugin):
            raise UsageError(f"no plugin {name!r} with a page is loaded")
        return plugin


def _text(params: Mapping[str, Json], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} is missing, or is not a text")
    return value
