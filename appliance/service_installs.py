"""Changes plugins under a device that may be running: swapped, loaded there at once, and put back when that fails."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from appliance.control import Control
from appliance.errors import ApplianceError
from appliance.install.journal import Change
from appliance.install.manager import PluginManager

#: How the sentences about a file that could not be loaded begin.
_NOT_LOADED = "it is not loaded"


class Live(enum.StrEnum):
    """What a change came to in the device."""

    LOADED = "loaded"
    OFF = "off"
    NEXT_START = "next start"
    GONE = "gone"
    #: It is on, but none of the owner's plugins is loaded now.
    SAFE_MODE = "safe mode"
    #: The new version did not work, so everything is as before.
    PUT_BACK = "put back"


@dataclass(frozen=True)
class Done:
    """A change that was made. ``why`` is what was wrong, "" when nothing was; ``tools`` are those that it offers now.

    ``version`` is "" when nothing of it is there any more, or when its author gave it none.
    """

    name: str
    live: Live
    version: str = ""
    version_before: str = ""
    is_installed: bool = True
    tools: tuple[str, ...] = ()
    why: str = ""
    origin: str = ""
    digest: str = ""
    remarks: tuple[str, ...] = field(default=())


class Installs:
    """``device`` gives the running device, or None with the home locked for us."""

    def __init__(
        self, manager: PluginManager, device: Callable[[], AbstractAsyncContextManager[Control | None]]
    ) -> None:
        self._manager = manager
        self._device = device

    async def carry_out(self, change: Change) -> Done:
        """Make a prepared change; the caller is ``at_work``. Raises ``ApplianceError`` when the disk takes nothing."""
        async with self._device() as device:
            await asyncio.to_thread(self._manager.carry_out, change)
            if device is None:
                is_off = change.after.is_on is False
                return _done(change, Live.OFF if is_off else Live.NEXT_START if change.after.place else Live.GONE)
            row, why = await _load(device, change)
            if not why:
                return _done(change, _live(row, change), row)
            await asyncio.to_thread(self._manager.put_back, change)
            row, why_not_back = await _load(device, change.backwards())
            more = f"; loading it as it was did not work either: {why_not_back}" if why_not_back else ""
            return _done(change.backwards(), Live.PUT_BACK, row, f"{why}{more}")


async def _load(device: Control, change: Change) -> tuple[Any, str]:
    """How the plugin is in the device after it was loaded anew, and why that is not as it should be."""
    try:
        row = await device.call("plugin.reload", {"name": change.name})
    except ApplianceError as error:
        return None, str(error)
    if not change.after.place or (row is not None and (not row["is_on"] or row["withheld"] == Live.SAFE_MODE.value)):
        return row, ""
    if row is None:
        return None, "" if change.after.is_on is False else "nothing in it offers a tool"
    broken = [problem for problem in row["problems"] if _NOT_LOADED in problem]
    if broken or not row["is_loaded"]:
        return row, "; ".join(broken or row["problems"]) or "it did not load, and did not say why"
    return row, ""


def _live(row: Any, change: Change) -> Live:
    if not change.after.place:
        return Live.GONE
    if row is not None and row["is_on"] and row["withheld"] == Live.SAFE_MODE.value:
        return Live.SAFE_MODE
    return Live.LOADED if row is not None and row["is_loaded"] else Live.OFF


def _done(change: Change, live: Live, row: Any = None, why: str = "") -> Done:
    pin, before = change.after.pin, change.before.pin
    return Done(
        name=change.name,
        live=live,
        version=pin.version if pin is not None else "",
        version_before=before.version if before is not None else "",
        is_installed=bool(change.after.place),
        tools=tuple(row["tools"]) if row is not None and live is Live.LOADED else (),
        why=why,
        origin=pin.origin if pin is not None else "",
        digest=pin.digest if pin is not None else "",
    )
