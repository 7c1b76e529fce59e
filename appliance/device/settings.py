"""Volume, pace and mute: what lasts over a restart."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from appliance.ports import Json
from appliance.store.shapes import Documents

_LOG = logging.getLogger(__name__)

COLLECTION = "settings"

DEFAULT_VOLUME_PERCENT = 60
SLOWEST, FASTEST = 0.5, 2.0

#: Fields of ``Settings`` that the settings file has a value for too.
_WITH_USUAL = ("volume_percent", "speed")


@dataclass(frozen=True)
class Settings:
    """What the owner set by voice."""

    volume_percent: int = DEFAULT_VOLUME_PERCENT
    speed: float = 1.0
    is_muted: bool = False


class BoxSettings:
    """The settings in the store; a value that makes no sense counts as not set, and ``usual`` says what then holds.

    What was set by voice holds until the owner changes ``usual`` in the settings file, whenever that is noticed.
    """

    def __init__(self, documents: Documents, usual: Settings | None = None) -> None:
        self._documents = documents
        self.usual = usual or Settings()

    async def load(self) -> Settings:
        """What was set. Raises ``StoreError``."""
        stored = await self._documents.all(COLLECTION)
        return Settings(
            volume_percent=round(_within(stored, "volume_percent", self.usual.volume_percent, 0, 100)),
            speed=_within(stored, "speed", self.usual.speed, SLOWEST, FASTEST),
            is_muted=stored.get("is_muted") is True,
        )

    async def keep(self, name: str, value: Json) -> None:
        """Store one setting, by its field name in ``Settings``. Raises ``StoreError``."""
        await self._documents.put(COLLECTION, name, value)
        if name in _WITH_USUAL:
            await self._documents.put(COLLECTION, _usual_key(name), getattr(self.usual, name))


def alert_percent(volume_percent: int, floor_percent: int) -> int:
    """How loud alarms are: as loud as speech, but never below the floor."""
    return max(volume_percent, floor_percent)


def _within(stored: dict[str, Json], name: str, default: float, lowest: float, highest: float) -> float:
    if stored.get(_usual_key(name), default) != default:
        return default  # The owner has changed the settings file since.
    value = stored.get(name, default)
    if isinstance(value, int | float) and not isinstance(value, bool) and lowest <= value <= highest:
        return float(value)
    _LOG.warning("stored setting %s = %r makes no sense; %g is used", name, value, default)
    return default


def _usual_key(name: str) -> str:
    """Of the value in the settings file that was in force when ``name`` was set by voice."""
    return f"usual_{name}"
