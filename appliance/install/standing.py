"""How the plugins lie in the home, next to what was installed. Nothing of a plugin is imported."""

from __future__ import annotations

import enum
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import UsageError
from appliance.home import shipped
from appliance.install.history import Entry, History
from appliance.install.places import Places
from appliance.store.plugin_pins import PluginPin, PluginPins, file_digests

#: Beside each older version: what its pin was.
KEPT_PIN = "pin.json"
_MANIFEST = "plugin.json"
_NO_VERSION, _DIGEST_CHARACTERS = "unversioned", 12
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+]|^\.")


class State(enum.StrEnum):
    """How the files of a plugin are."""

    PINNED = "pinned"
    CHANGED = "changed"
    MISSING = "missing"
    #: Put there by hand: nobody wrote down what it was.
    UNPINNED = "unpinned"
    #: A link: somebody works on it.
    DEV = "dev"


@dataclass(frozen=True)
class Standing:
    """One plugin of the owner; the three lists name files inside it. ``older`` is the version a rollback brings."""

    name: str
    place: str
    state: State
    pin: PluginPin | None = None
    entry: Entry | None = None
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    older: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether it is not what was installed."""
        return self.state in (State.CHANGED, State.MISSING)

    @property
    def is_for_other_python(self) -> bool:
        """Whether its own packages were made for another Python than this one."""
        return self.pin is not None and self.pin.python not in ("", running_python())

    def sentences(self) -> list[str]:
        """What is wrong or worth knowing, and what to do."""
        said: list[str] = []
        if self.state is State.MISSING:
            said.append(f"its files are gone; appliance plugin rollback {self.name}, or remove {self.name}")
        if self.state is State.CHANGED:
            lists = (("changed", self.changed), ("missing", self.missing), ("not of it", self.extra))
            told = "; ".join(f"{word}: {', '.join(files)}" for word, files in lists if files)
            said.append(f"it is not what was installed ({told}); install it again, or remove it")
        if self.is_for_other_python and self.pin is not None:
            said.append(
                f"its own packages are for Python {self.pin.python}, and this is {running_python()}: "
                f"appliance plugin update {self.name} makes them anew"
            )
        return said


def running_python() -> str:
    """``3.11``."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def standings(places: Places) -> dict[str, Standing]:
    """Every plugin in the home by its name, and those that are pinned but gone. Raises ``StoreError``. Blocks."""
    pins, entries = PluginPins(places.home.pins_file).all(), History(places.history).all()
    found = {name: _standing(places, name, pin.place, pin, entries.get(name)) for name, pin in pins.items()}
    taken = {pin.place for pin in pins.values()}
    for path in _plugins_in(places.plugins):
        if path.name not in taken and (name := name_of(path)) not in found:
            found[name] = _standing(places, name, path.name, None, entries.get(name))
    return {name: found[name] for name in sorted(found)}


def chosen(found: Mapping[str, Standing], names: Sequence[str]) -> list[Standing]:
    """Those of that name, all without ``names``. Raises ``UsageError`` for a name that is not among them."""
    for name in names:
        if name not in found and name in shipped_names():
            raise UsageError(f"{name} comes with the box and stays; appliance plugin off {name} switches it off")
        if name not in found:
            raise UsageError(f"there is no plugin {name!r} in the home; there are: {', '.join(found) or 'none'}")
    return [found[name] for name in names] if names else list(found.values())


def shipped_names() -> frozenset[str]:
    """The plugins that come with the box."""
    return frozenset(name_of(path) for path in _plugins_in(shipped("plugins")))


def with_standing(row: dict[str, Any], standing: Standing | None) -> dict[str, Any]:
    """A row of the list with how the plugin's files are; ``pin`` is "" for one that does not lie in the home."""
    here = standing if standing is not None and row["source"] in ("owner", "") else None
    pin = here.pin if here is not None else None
    told = {
        "pin": here.state.value if here is not None else "",
        "origin": pin.origin if pin is not None else "",
        "signer": pin.signer if pin is not None else "",
        "previous": here.older if here is not None else "",
        "version": row["version"] or (pin.version if pin is not None else ""),
    }
    is_old = here is not None and here.is_for_other_python
    problems = [*row["problems"], *(here.sentences() if here is not None and is_old else ())]
    return {**row, **told, "problems": problems}


def name_of(place: Path) -> str:
    """The plugin's name: the manifest's, else that of the folder or file."""
    try:
        name = json.loads((place / _MANIFEST).read_text(encoding="utf-8"))["name"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        name = ""
    return name if isinstance(name, str) and name else place.name.removesuffix(".py")


def kept_versions(places: Places, name: str, entry: Entry | None) -> tuple[str, ...]:
    """The folders of older versions that can be gone back to, the next one last."""
    folder = places.previous / name
    return tuple(key for key in (entry.kept if entry is not None else ()) if (folder / key / KEPT_PIN).is_file())


def key_of(version: str, digest: str) -> str:
    """The name of the folder in which a version is kept."""
    return f"{_NOT_IN_NAMES.sub('_', version) or _NO_VERSION}-{digest[:_DIGEST_CHARACTERS]}"


def version_of_kept(key: str) -> str:
    """``1.2`` of ``1.2-0123456789ab``."""
    return key.rpartition("-")[0]


def _plugins_in(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    kept = [path for path in entries if path.name[0] not in "._"]
    return [path for path in kept if path.is_dir() or path.suffix == ".py"]


def _standing(places: Places, name: str, place: str, pin: PluginPin | None, entry: Entry | None) -> Standing:
    kept = kept_versions(places, name, entry)
    older = version_of_kept(kept[-1]) if kept else ""
    live = places.live(place)
    if live.is_symlink():
        return Standing(name, place, State.DEV, pin, entry, older=older)
    if pin is None:
        return Standing(name, place, State.UNPINNED, None, entry, older=older)
    if not live.exists():
        return Standing(name, place, State.MISSING, pin, entry, older=older)
    changed, missing, extra = _differences(pin.files, file_digests(live))
    state = State.CHANGED if changed or missing or extra else State.PINNED
    return Standing(name, place, state, pin, entry, changed, missing, extra, older)


def _differences(
    pinned: Mapping[str, str], now: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Names of files that are changed, missing, extra."""
    changed = tuple(sorted(name for name in pinned if name in now and now[name] != pinned[name]))
    return changed, tuple(sorted(set(pinned) - set(now))), tuple(sorted(set(now) - set(pinned)))
