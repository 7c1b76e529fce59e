"""What a client may ask of the plugins: how they are, on and off, their settings and keys."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Mapping

from appliance.contracts.shelf import PluginShelf, in_words
from appliance.control import Caller, Handler
from appliance.errors import StoreError, UsageError
from appliance.home import Home
from appliance.install.places import Places
from appliance.install.standing import standings, with_standing
from appliance.network.seen import Seen
from appliance.ports import Json

_LOG = logging.getLogger(__name__)


class PluginService:
    """Serves the plugins of a running box."""

    def __init__(self, shelf: PluginShelf, redact: Callable[[str], str], seen: Seen, home: Home) -> None:
        self._shelf = shelf
        self._places = Places(home)
        self._redact = redact
        self._seen = seen

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {
            "plugin.list": self.plugin_list,
            "plugin.info": self.plugin_info,
            "plugin.switch": self.plugin_switch,
            "plugin.set": self.plugin_set,
            "plugin.reload": self.plugin_reload,
            "plugin.forget": self.plugin_forget,
            "plugin.safe_mode": self.plugin_safe_mode,
            "credential.changed": self.credential_changed,
        }

    def problems(self) -> list[str]:
        """What is wrong with plugins now, in sentences."""
        return [self._redact(in_words(problem)) for problem in self._shelf.problems]

    async def explain(self, tool_name: str) -> list[str]:
        """Why a tool is not offered, or where one that is missing may be."""
        return [self._redact(sentence) for sentence in await self._shelf.explain(tool_name)]

    async def plugin_list(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """Every plugin of both contracts."""
        return await self._rows()

    async def plugin_info(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Everything about the plugin ``{"name"}``, and which hosts it asked today."""
        name = _name(params)
        details = dataclasses.asdict(await self._shelf.details(name))
        rows = [row for row in await self._seen.today() if row.who == f"plugin:{name}"]
        hosts = [dataclasses.asdict(row) for row in rows]
        return {**self._clean(details), "plugin": await self._row(name), "hosts_today": hosts}

    async def plugin_switch(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Switch ``{"name"}`` on or off (``{"on"}``; null: as its author wants it); how it is then."""
        is_on = params.get("on")
        if is_on is not None and not isinstance(is_on, bool):
            raise UsageError("on is true, false or null")
        await self._shelf.switch(_name(params), is_on)
        return await self._row(_name(params))

    async def plugin_set(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Keep ``{"values"}`` as settings of ``{"name"}``; the settings then, without secrets."""
        values = params.get("values")
        if not isinstance(values, dict) or not values:
            raise UsageError("which settings? appliance plugin info NAME shows them")
        described = await self._shelf.save_settings(_name(params), values)
        details = self._clean(dataclasses.asdict(await self._shelf.details(_name(params))))
        return {"settings": details["settings"], "described_anew": described}

    async def plugin_reload(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Load ``{"name"}`` anew from its files, and from what they are when ``{"dev"}``; how it is then, null if gone.

        The owner wants it tried: a quarantine is lifted.
        """
        self._shelf.admission.work_on(_name(params), bool(params.get("dev")))
        await self._shelf.forgive(_name(params))
        await self._shelf.reload(_name(params))
        return await self._row(_name(params))

    async def plugin_forget(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The plugin ``{"name"}`` has gone for good: let go of what it had stored."""
        await asyncio.to_thread(self._shelf.tools.states.forget, _name(params))
        return {}

    async def plugin_safe_mode(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Switch safe mode on or off (``{"on"}``; without it nothing changes); how it is then, and why."""
        is_on = params.get("on")
        if is_on is not None and not isinstance(is_on, bool):
            raise UsageError("on is true or false")
        if is_on is not None:
            await self._shelf.set_safe_mode(is_on)
        why = self._shelf.admission.starts.why_safe_mode
        return {"on": bool(why), "why": why}

    async def credential_changed(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The owner has changed the secrets, of ``{"plugin"}`` or of all."""
        await self._shelf.keys_changed(str(params.get("plugin") or ""))
        return {}

    async def _row(self, name: str) -> Json:
        return next((row for row in await self._rows() if row["name"] == name), None)

    async def _rows(self) -> list[Json]:
        """Every plugin, with what is known of its installation."""
        rows = await self._shelf.rows()
        try:
            found = await asyncio.to_thread(standings, self._places)
        except (OSError, StoreError) as error:
            _LOG.error("what was installed cannot be read: %s", error)
            found = {}
        return [self._clean(with_standing(dataclasses.asdict(row), found.get(row.name))) for row in rows]

    def _clean(self, value: Json) -> Json:
        """No secret goes out, wherever a plugin put it."""
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, dict):
            return {key: self._clean(entry) for key, entry in value.items()}
        return [self._clean(entry) for entry in value] if isinstance(value, list | tuple) else value


def _name(params: Mapping[str, Json]) -> str:
    name = params.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("which plugin? appliance plugin list shows their names")
    return name
