"""Whether a plugin that is switched on may be loaded at all, and why not."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from appliance.contracts import pinned
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.store.plugin_pins import PluginPins
from appliance.store.starts import Starts


class Withheld(enum.StrEnum):
    """Why a plugin stays out."""

    QUARANTINED = "quarantined"
    SAFE_MODE = "safe mode"
    CHANGED = "changed"


@dataclass(frozen=True)
class Refusal:
    """A plugin that is not loaded; ``sentence`` says why, and what its owner can do."""

    kind: Withheld
    sentence: str


class Admission:
    """What the contracts ask before they open anything of a plugin. On our loop.

    ``roots`` are the folders that hold plugins; those of the owner are held to the pins.
    """

    def __init__(
        self, roots: Iterable[PluginRoot] = (), *, starts: Starts | None = None, pins: PluginPins | None = None
    ) -> None:
        self._root = next((root.folder for root in roots if root.source is Source.OWNER), None)
        self.starts = starts or Starts(None, lambda: datetime.now(UTC))
        self._pins = pins
        self._in_work: set[str] = set()
        #: Every plugin that was refused when it was last asked about.
        self.refused: dict[str, Refusal] = {}
        #: What is wrong with the pins themselves, in a sentence.
        self.problem = ""

    async def look(self, plugin: str = "") -> None:
        """Read the pins anew; before anything is loaded, or before one plugin is."""
        self.refused = {name: refusal for name, refusal in self.refused.items() if plugin and name != plugin}
        if self._pins is not None and self._root is not None:
            self.problem = await asyncio.to_thread(pinned.use, self._root, self._pins, frozenset(self._in_work))

    def work_on(self, plugin: str, is_on: bool) -> None:
        """Its author changes the plugin where it lies: for as long it is loaded as it is. Holds from ``look`` on."""
        (self._in_work.add if is_on else self._in_work.discard)(plugin)

    async def ask(self, plugin: str, source: Source, places: Sequence[Path]) -> Refusal | None:
        """Why the plugin may not be loaded; None when it may. ``places`` are its folder and its lone files."""
        refusal = await asyncio.to_thread(self._refusal, plugin, source, places)
        self.refused.pop(plugin, None)
        if refusal is not None:
            self.refused[plugin] = refusal
        return refusal

    def forgive(self, plugin: str) -> None:
        """Its owner wants to try it again. Blocks on the disk."""
        self.starts.forgive(plugin)

    def _refusal(self, plugin: str, source: Source, places: Sequence[Path]) -> Refusal | None:
        if source is not Source.SHIPPED and self.starts.why_safe_mode:
            return Refusal(
                Withheld.SAFE_MODE, "it is not loaded in safe mode; appliance plugin safe-mode off ends that"
            )
        pins = [(place, pinned.pin_of(place)) for place in places]
        pin = next((pin for _, pin in pins if pin is not None), None)
        why = self.starts.why_quarantined(plugin, pin.identity if pin is not None else "")
        if why:
            return Refusal(
                Withheld.QUARANTINED,
                f"it is not loaded, it is quarantined: {why}; appliance plugin on {plugin} tries it again, "
                f"appliance plugin remove {plugin} takes it out",
            )
        if pin is None or source is Source.SHIPPED:
            return None
        # What lies beside an installed plugin under its name was not installed with it.
        strange = next((f"{place.name} was added beside it" for place, other in pins if other is None), "")
        changes = (pinned.what_changed(other, place) for place, other in pins if other is not None)
        changed = strange or next(filter(None, changes), "")
        return Refusal(Withheld.CHANGED, _told(plugin, changed)) if changed else None


def _told(plugin: str, changed: str) -> str:
    return (
        f"it is not loaded: {changed} since it was installed; appliance plugin verify {plugin} shows all that was, "
        f"appliance plugin update {plugin} or rollback {plugin} puts whole files there, "
        f"and appliance plugin dev {plugin} loads it as it is while you work on it"
    )
