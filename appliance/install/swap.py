"""Takes one version of a plugin out and puts another in, so that after a cut at any point one of both is there, whole.

Every step asks the disk whether it was done already: a change that was cut is carried out once more from its start.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from appliance.durable import sync_file, sync_folder
from appliance.errors import ApplianceError, StoreError
from appliance.install.access import give_to, make_open_folder, refused_by_disk
from appliance.install.history import History
from appliance.install.journal import Change, Journal, Side
from appliance.install.places import Places
from appliance.store.plugin_pins import PluginPins


class SwitchSaid(Protocol):
    """What the switch says."""

    @property
    def enabled(self) -> frozenset[str]:
        """Plugins that were switched on."""
        ...

    @property
    def disabled(self) -> frozenset[str]:
        """Plugins that were switched off."""
        ...


class Switch(Protocol):
    """Which plugins are on and off."""

    def read(self) -> SwitchSaid:
        """What it says now."""
        ...

    def set(self, name: str, is_on: bool | None) -> None:
        """Switch a plugin on or off; None: as its author wants it. Raises ``StoreError``."""
        ...


class Swap:
    """Carries out changes. Its methods block on the disk; the caller holds the manager's lock."""

    def __init__(self, places: Places, switch: Switch) -> None:
        self._places = places
        self._switch = switch
        self._pins = PluginPins(places.home.pins_file)
        self._history = History(places.history)
        self._journal = Journal(places.journal)

    def carry_out(self, change: Change) -> None:
        """Do it; when it cannot be done, everything is as before.

        ``incoming`` must be whole and durable. Raises ``ApplianceError``.
        """
        self._check_disks()
        try:
            self._journal.begin(change)
            try:
                self._redo(change)
            except (OSError, StoreError):
                self._redo(change.backwards())
                self._journal.end()
                raise
            self._journal.end()
        except OSError as error:
            raise refused_by_disk(error, f"{change.name} cannot be changed") from error

    def recover(self) -> str:
        """Finish what was cut; the name of the plugin, "" when nothing was. Raises ``ApplianceError``."""
        change = self._journal.read()
        if change is None:
            return ""
        try:
            self._redo(change if self._can_be_finished(change) else change.backwards())
            self._journal.end()
        except OSError as error:
            raise refused_by_disk(error, f"the change of the plugin {change.name} was cut and waits") from error
        return change.name

    def _redo(self, change: Change) -> None:
        """The switch comes first: what was not allowed to run must not be live for a moment."""
        self._set_switch(change.name, change.after)
        self._take_out(change)
        self._put_in(change)
        self._write_down(change.name, change.after)
        self._leave_readable()

    def _set_switch(self, name: str, side: Side) -> None:
        said = self._switch.read()
        now = True if name in said.enabled else False if name in said.disabled else None
        if now is not side.is_on:
            self._switch.set(name, side.is_on)

    def _take_out(self, change: Change) -> None:
        if not change.outgoing:
            return
        if change.incoming and not os.path.lexists(self._places.inside(change.incoming)):
            return  # it is in already, or nothing would take this one's place
        live, outgoing = self._places.live(change.before.place), self._places.inside(change.outgoing)
        if os.path.lexists(live) and not os.path.lexists(outgoing):
            make_open_folder(outgoing.parent)
            _move(live, outgoing)

    def _put_in(self, change: Change) -> None:
        if not change.incoming:
            return
        live, incoming = self._places.live(change.after.place), self._places.inside(change.incoming)
        if os.path.lexists(incoming):
            _move(incoming, live)

    def _write_down(self, name: str, side: Side) -> None:
        """Nothing is written when it says that already."""
        if side.pin is not None:
            self._pins.put(side.pin)
        elif name in self._pins.all():
            self._pins.remove(name)
        self._history.put(name, side.entry)

    def _leave_readable(self) -> None:
        """The service reads what root wrote; the switch it writes too."""
        home, switch_file = self._places.home, self._places.home.switch_file
        for file in (home.pins_file, self._places.history):
            if file.exists():
                file.chmod(0o644)
        backup = switch_file.with_name(f"{switch_file.name}.bak")
        give_to(home.folder, switch_file.parent.parent, switch_file.parent, switch_file, backup)

    def _can_be_finished(self, change: Change) -> bool:
        """Whether what should come in is there, on its way or already in."""
        if not change.incoming or os.path.lexists(self._places.inside(change.incoming)):
            return True
        is_out = not change.outgoing or os.path.lexists(self._places.inside(change.outgoing))
        return is_out and os.path.lexists(self._places.live(change.after.place))

    def _check_disks(self) -> None:
        """A rename works on one disk only. Raises ``ApplianceError``."""
        plugins, installed = self._places.plugins, self._places.installed
        if plugins.stat().st_dev != installed.stat().st_dev:
            raise ApplianceError(f"{plugins} and {installed} lie on different disks; keep them on one")


def sync_tree(place: Path, top: Path) -> None:
    """Make a folder with everything in it, or a lone file, last over a power cut, and the way to it from ``top``.

    There must be no links in it. Raises ``OSError``.
    """
    if not place.is_dir():
        sync_file(place)
    for folder, _, files in os.walk(place):
        for name in files:
            sync_file(Path(folder) / name)
        sync_folder(Path(folder))
    for above in place.parents:
        sync_folder(above)
        if above == top:
            break


def _move(source: Path, target: Path) -> None:
    """Both names last when this returns; the new one first, so that a cut in between leaves two, not none."""
    source.rename(target)
    sync_folder(target.parent)
    sync_folder(source.parent)
