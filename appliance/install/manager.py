"""The plugin manager: brings plugins, changes them, takes them out. It never imports one.

A change is made in three parts: look (a ``Plan``, which is shown), prepare (all that is slow; nothing live changes),
carry out (some renames). Everything here blocks, and all but ``verify`` happens inside ``at_work``.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from appliance.errors import ApplianceError, RefusedError, UsageError
from appliance.home import Home
from appliance.install.access import hand_over, make_open_folder, refused_by_disk
from appliance.install.fetch import Fetch
from appliance.install.history import Entry, History
from appliance.install.journal import Change, Side
from appliance.install.lock import manager_lock
from appliance.install.packages import OwnPackages
from appliance.install.places import Places
from appliance.install.plan import Plan
from appliance.install.signature import SignatureState, read_signature
from appliance.install.signers import Ed25519
from appliance.install.stage import Inspector
from appliance.install.staging import stage
from appliance.install.standing import (
    KEPT_PIN,
    Standing,
    State,
    chosen,
    kept_versions,
    key_of,
    name_of,
    running_python,
    shipped_names,
    standings,
)
from appliance.install.swap import Swap, Switch, sync_tree
from appliance.store.atomic_file import write_json
from appliance.store.plugin_pins import PluginPin, digest_of, file_digests

#: Older versions of one plugin; a card is small.
_KEPT_VERSIONS = 2
#: The box's own tools are all named so.
_BOX_PREFIX = "box_"


@dataclass(frozen=True)
class Outside:
    """What the manager is given: ways to look at a plugin, to fetch one, to check who signed it, to bring packages."""

    inspector: Inspector
    fetch: Fetch
    signatures: Ed25519
    packages: OwnPackages
    now: Callable[[], datetime]


class PluginManager:
    """Changes the plugins of a home."""

    def __init__(self, home: Home, switch: Switch, outside: Outside) -> None:
        self._places = Places(home)
        self._switch = switch
        self._outside = outside
        self._swap = Swap(self._places, switch)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """The only manager of this home, after what was cut last time is finished. Raises ``ApplianceError``."""
        with manager_lock(self._places):
            self._swap.recover()
            self._sweep()
            yield
            self._sweep()

    # -------------------------------------------------------------------------------------------------- look

    def look_at(self, source: str, *, name: str = "") -> Plan:
        """Bring it onto a stage and look at it. Raises ``UsageError``, ``RefusedError``, ``NetworkError``."""
        try:
            self._places.stage.mkdir(parents=True, exist_ok=True, mode=0o700)
            into = self._places.stage / secrets.token_hex(4)
            staged = stage(source, into, fetch=self._outside.fetch, name=name)
            signature = read_signature(staged.place, self._places.signers, self._outside.signatures)
            here = standings(self._places)
        except OSError as error:
            raise refused_by_disk(error, f"{source} cannot be staged") from error
        return Plan(
            source=source,
            staged=staged,
            inspection=self._outside.inspector.inspect(staged.place, self._taken_tools(here, staged.name)),
            signature=signature,
            standing=here.get(staged.name),
            shadows=staged.name in shipped_names(),
        )

    def check(self, plan: Plan, *, downgrade: bool = False) -> None:
        """Raise ``RefusedError`` for what must not be installed."""
        staged, standing = plan.staged, plan.standing
        reasons = list(plan.inspection.refusals)
        own = sorted(tool.name for tool in plan.inspection.tools if tool.name.startswith(_BOX_PREFIX))
        if own:
            reasons.append(f"names that begin with {_BOX_PREFIX} are the box's own: {', '.join(own)}")
        if plan.signature.state is SignatureState.TAMPERED:
            reasons.insert(0, plan.signature.sentence)
        if standing is not None and standing.state is State.DEV:
            reasons.append(f"plugins/{standing.place} is a link: somebody works on it; remove the link first")
        if standing is None or standing.place != staged.place_name:
            live = self._places.live(staged.place_name)
            if os.path.lexists(live):
                reasons.append(f"plugins/{live.name} is there already, and it is the plugin {name_of(live)}")
        if not downgrade and plan.is_downgrade:
            reasons.append(
                f"version {staged.version} is older than {plan.version_before}, which is here; --downgrade allows it"
            )
        if reasons:
            raise RefusedError(f"{staged.name} is not installed: {'; '.join(reasons)}")

    def source_of(self, name: str) -> str:
        """Where an update of it is looked for. Raises ``UsageError`` for a plugin that nobody installed."""
        standing = self._here(name)
        if standing.entry is None or not standing.entry.source:
            raise UsageError(f"nobody knows where {name} came from; appliance plugin install SOURCE replaces it")
        return standing.entry.source

    def updatable(self) -> list[str]:
        """Names of the plugins of which it is known where they came from."""
        found = standings(self._places).values()
        return [one.name for one in found if one.pin is not None and one.entry is not None and one.entry.source]

    def verify(self, names: Sequence[str] = ()) -> list[Standing]:
        """How the plugins of the home are next to what was installed; all without ``names``.

        Raises ``UsageError`` for a name that is not here.
        """
        return chosen(standings(self._places), names)

    def is_here(self, name: str) -> bool:
        """Whether the home has it."""
        return name in standings(self._places)

    def knows(self, name: str) -> bool:
        """Whether anything is kept of it."""
        return self._entry(name) is not None

    # ----------------------------------------------------------------------------------------------- prepare

    def prepare(self, plan: Plan, *, enable: bool = False) -> Change:
        """Bring its packages, make it ready and durable. What is live stays as it is. Raises ``ApplianceError``."""
        staged, standing = plan.staged, plan.standing
        place = staged.place
        if plan.inspection.requirements:
            self._outside.packages.bring(place, plan.inspection.requirements)
        try:
            hand_over(place, self._places.plugins)
            sync_tree(place, self._places.installed)
            files = file_digests(place)
        except OSError as error:
            raise refused_by_disk(error, f"{staged.name} cannot be made ready") from error
        pin = PluginPin(
            name=staged.name,
            contract=staged.contract.value,
            version=staged.version,
            place=place.name,
            origin=staged.origin,
            digest=digest_of(files),
            files=files,
            installed_at=self._outside.now().isoformat(timespec="seconds"),
            signer=plan.signature.signer,
            python=running_python() if plan.inspection.requirements else "",
        )
        before = self._side(staged.name, standing)
        entry, key = before.entry or Entry(), self._make_room(before, standing)
        # What is brought again is no older version of itself.
        kept = [other for other in (*entry.kept, key) if other and other != key_of(pin.version, pin.digest)]
        after = Side(
            place=place.name,
            pin=pin,
            entry=Entry(
                source=_lasting(plan.source),
                source_digest=staged.digest,
                kept=_last(kept),
                rolled_back=tuple(digest for digest in entry.rolled_back if digest != staged.digest),
            ),
            is_on=True if enable else (before.is_on if standing is not None else False),
        )
        incoming = str(place.relative_to(self._places.installed))
        return Change(staged.name, before, after, incoming=incoming, outgoing=_way_out(staged.name, key, before))

    def prepare_rollback(self, name: str) -> Change:
        """The version before in place of the one of now, which is kept. Raises ``UsageError`` when there is none."""
        standing = self._standing_or_kept(name)
        before = self._side(name, standing)
        entry, now = before.entry or Entry(), self._key(standing)
        kept = [key for key in kept_versions(self._places, name, entry) if key != now]
        if not kept:
            raise UsageError(f"there is no older version of {name} to go back to")
        older = self._kept_side(name, kept[-1])
        older_entry = older.entry or Entry()
        after = replace(
            older,
            entry=replace(
                older_entry,
                kept=_last([key for key in (self._make_room(before, standing), *kept[:-1]) if key]),
                rolled_back=tuple(sorted({*entry.rolled_back, entry.source_digest} - {older_entry.source_digest, ""})),
            ),
            is_on=before.is_on,
        )
        incoming = f"previous/{name}/{kept[-1]}/{older.place}"
        return Change(name, before, after, incoming=incoming, outgoing=_way_out(name, now, before))

    def prepare_removal(self, name: str) -> Change:
        """Take it out; what it keeps and its settings stay. Raises ``UsageError``, ``RefusedError``."""
        standing = self._here(name)
        if standing.state is State.DEV:
            raise RefusedError(f"plugins/{standing.place} is a link: somebody works on it; remove the link by hand")
        before = self._side(name, standing)
        entry, key = before.entry or Entry(), self._make_room(before, standing)
        kept = _last([other for other in (*entry.kept, key) if other])
        after = Side(entry=replace(entry, kept=kept, source_digest=""), is_on=before.is_on)
        return Change(name, before, after, outgoing=_way_out(name, key, before))

    # ----------------------------------------------------------------------------------------------- carry out

    def carry_out(self, change: Change) -> None:
        """Do it at once; a cut leaves the old or the new, whole. Raises ``ApplianceError``; all is as before then."""
        self._swap.carry_out(change)

    def put_back(self, change: Change) -> None:
        """Take it back: what came in does not work. An update does not bring it again. Raises ``ApplianceError``."""
        back, failed = change.backwards(), change.after.entry
        if back.after.entry is not None and failed is not None and failed.source_digest:
            rolled_back = tuple(sorted({*back.after.entry.rolled_back, failed.source_digest}))
            back = replace(back, after=replace(back.after, entry=replace(back.after.entry, rolled_back=rolled_back)))
        self._swap.carry_out(back)

    def forget(self, name: str) -> None:
        """After a removal for good: older versions, what is remembered, and its place in the switch."""
        History(self._places.history).put(name, None)
        self._switch.set(name, None)
        self._sweep()

    # ------------------------------------------------------------------------------------------------- private

    def _side(self, name: str, standing: Standing | None) -> Side:
        """How the plugin is now."""
        said = self._switch.read()
        is_on = True if name in said.enabled else False if name in said.disabled else None
        if standing is None:
            return Side(entry=self._entry(name), is_on=is_on)
        place = "" if standing.state is State.MISSING else standing.place
        return Side(place, standing.pin, standing.entry, is_on)

    def _entry(self, name: str) -> Entry | None:
        return History(self._places.history).all().get(name)

    def _key(self, standing: Standing | None) -> str:
        """The folder name that the version of now has among the older ones, "" when there is none."""
        if standing is None or standing.state is State.MISSING:
            return ""
        try:
            digest = digest_of(file_digests(self._places.live(standing.place)))
        except OSError as error:
            raise refused_by_disk(error, f"{standing.name} cannot be read") from error
        return key_of(standing.pin.version if standing.pin is not None else "", digest)

    def _make_room(self, side: Side, standing: Standing | None) -> str:
        """A place among the older versions for the one of now; its key, "" when there is none."""
        key = self._key(standing)
        if standing is None or not key:
            return ""
        room = self._places.previous / standing.name / key
        try:
            if room.exists():
                shutil.rmtree(room)
            make_open_folder(room)
        except OSError as error:
            raise refused_by_disk(error, f"the version of {standing.name} that is here cannot be kept") from error
        write_json(room / KEPT_PIN, {**asdict(side), "is_on": None})
        return key

    def _kept_side(self, name: str, key: str) -> Side:
        file = self._places.previous / name / key / KEPT_PIN
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            pin, entry = data["pin"], data["entry"]
            return Side(
                place=str(data["place"]),
                pin=PluginPin(**pin) if pin is not None else None,
                entry=Entry.from_json(entry) if entry is not None else None,
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ApplianceError(f"{file} cannot be read, so {name} cannot go back to it") from error

    def _here(self, name: str) -> Standing:
        return chosen(standings(self._places), [name])[0]

    def _standing_or_kept(self, name: str) -> Standing | None:
        """None for one that was removed and of which a version is kept."""
        return None if not self.is_here(name) and self.knows(name) else self._here(name)

    def _taken_tools(self, here: Mapping[str, Standing], name: str) -> dict[str, str]:
        """Which names of tools are taken, and by whom. Those of shipped plugins an owner's plugin may take over."""
        taken: dict[str, str] = {}
        for other in here.values():
            live = self._places.live(other.place)
            if other.name != name and live.exists():
                tools = self._outside.inspector.inspect(live, {}).tools
                taken.update({tool.name: f"the plugin {other.name}" for tool in tools})
        return taken

    def _sweep(self) -> None:
        """Throw away what no command needs any more: stages, and versions that are not kept."""
        if self._places.journal.exists():
            return  # somebody has to come back for it
        for path in _entries(self._places.stage):
            _discard(path)
        if not self._places.history.exists():
            return  # it was lost, and what was kept shall not be lost with it
        entries = History(self._places.history).all()
        for plugin in _entries(self._places.previous):
            kept = entries.get(plugin.name, Entry()).kept
            for version in _entries(plugin):
                if version.name not in kept:
                    _discard(version)
            if not kept:
                _discard(plugin)


def _way_out(name: str, key: str, before: Side) -> str:
    return f"previous/{name}/{key}/{before.place}" if key else ""


def _last(kept: Sequence[str]) -> tuple[str, ...]:
    """Each once, and no more than are kept."""
    return tuple(dict.fromkeys(reversed(kept)))[:_KEPT_VERSIONS][::-1]


def _lasting(source: str) -> str:
    """A path that means the same from everywhere."""
    path = Path(source)
    return str(path.resolve()) if "://" not in source and path.exists() else source


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _discard(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
