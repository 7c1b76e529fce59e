"""What is on the network, for the page: the one tool that it may run, which only looks."""

from __future__ import annotations

import json
from collections.abc import Mapping

from appliance.control import Caller, Handler
from appliance.ports import Json

_TOOL = "lan_gear_look"


class House:
    """Asks the shipped plugin, and remembers what it found until the device ends. ``run`` is the method "tool.run"."""

    def __init__(self, run: Handler) -> None:
        self._run = run
        self._found: Json = None

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {"house.gear": self.gear, "house.known": self.known}

    async def gear(self, _params: Mapping[str, Json], caller: Caller) -> Json:
        """Look now; ``{"things"}``, or ``{"problem"}`` in a sentence."""
        arguments = {"form": "data", "scan": False}
        result = await self._run({"name": _TOOL, "arguments": arguments, "yes": False}, caller)
        if result["outcome"] != "ok":
            return {"problem": f"the network could not be looked at: {result['text'] or result['error']}"}
        self._found = json.loads(result["text"])
        return self._found

    async def known(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """What was found last; None when nobody has looked yet."""
        return self._found
