"""What a client may ask about toolsets."""

from __future__ import annotations

from collections.abc import Mapping

from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.ports import Json
from appliance.tools.toolsets import Toolsets, described


class ToolsetService:
    """Serves the toolsets of a box."""

    def __init__(self, toolsets: Toolsets) -> None:
        self._toolsets = toolsets

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {
            "toolset.list": self.list_all,
            "toolset.show": self.show,
            "toolset.use": self.use,
            "toolset.save": self.save,
            "toolset.delete": self.delete,
        }

    async def list_all(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """``{"toolsets", "dangling"}``: all of them, and what is in use and means nothing."""
        return {
            "toolsets": [described(row) for row in self._toolsets.rows()],
            "dangling": list(self._toolsets.dangling),
        }

    async def show(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The toolset ``{"name"}``, "" for the one in use."""
        return described(self._toolsets.row(str(params.get("name") or "") or self._toolsets.in_use))

    async def use(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Use ``{"names"}`` together."""
        name = await self._toolsets.use(_names(params, "names"))
        return {"name": name, "tools": list(self._toolsets.tools_in_use()), "dangling": list(self._toolsets.dangling)}

    async def save(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Keep ``{"name", "tools"}``."""
        return described(await self._toolsets.save(str(params.get("name") or ""), _names(params, "tools")))

    async def delete(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Forget ``{"name"}``."""
        await self._toolsets.delete(str(params.get("name") or ""))
        return {"in_use": self._toolsets.in_use}


def _names(params: Mapping[str, Json], key: str) -> list[str]:
    value = params.get(key)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise UsageError(f"{key} is missing, or is not a list of names")
    return value
