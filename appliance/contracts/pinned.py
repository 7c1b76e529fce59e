"""Loads of an installed plugin exactly the bytes that were installed.

Whatever is compiled is read once, hashed, compared with the pin and compiled from those bytes: nothing can change in
between. Byte code is neither read nor written, for nobody has looked at it. A library (``.so``) is only loaded from
the plugin's own ``site-packages``; the system maps it by its name, so it is compared right before that.

It stands between a plugin and a change that nobody meant: a damaged card, a file edited and forgotten, another
program. Code that runs in our process can read and do what it likes; it is the service's rights on the folder that
keep it from changing what it is made of. A plugin without a pin (dropped in by hand, or being worked on) is loaded as
it is.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

from appliance.errors import StoreError
from appliance.store.plugin_pins import PluginPin, PluginPins, file_digests

#: Where the packages lie that an installer has put into a plugin's folder.
OWN_PACKAGES = "site-packages/"

#: Endings of files that Python or the box would open by themselves; other files that appear are the plugin's own data.
_OPENED = (".py", ".pyc", ".pyo", ".pyw", ".pth", *importlib.machinery.EXTENSION_SUFFIXES)

_SINCE = re.compile(r" was (?:added|changed) since .* was installed")


class ChangedFileError(ImportError):
    """A file of an installed plugin is not what was installed."""


@dataclass(frozen=True)
class _Pinned:
    pin: PluginPin
    place: Path


#: Every place with a pin, by its path as it is spelled and as it resolves. Replaced as a whole.
_PLACES: dict[str, _Pinned] = {}


def use(root: Path, pins: PluginPins, without: Collection[str] = ()) -> str:
    """Hold the plugins in ``root`` to these pins from now on, apart from some; what is wrong with the pins, or "".

    Reads the disk. Pins that cannot be read hold nobody to anything.
    """
    global _PLACES
    problem = ""
    try:
        known = {name: pin for name, pin in pins.all().items() if name not in without}
    except StoreError as error:
        known, problem = {}, f"which plugins were installed cannot be read, so none is compared with that: {error}"
    roots = {_spelled(root), str(root.resolve())}
    _PLACES = {f"{base}{os.sep}{pin.place}": _Pinned(pin, root / pin.place) for base in roots for pin in known.values()}
    if not any(isinstance(hook, _PathHook) for hook in sys.path_hooks):
        sys.path_hooks.insert(0, _PathHook())
    for entry in [entry for entry in sys.path_importer_cache if any(_is_below(entry, base) for base in roots)]:
        del sys.path_importer_cache[entry]
    return problem


def pin_of(path: Path) -> PluginPin | None:
    """The pin that a file or folder of a plugin belongs to; none for what is linked to, by ``plugin dev``."""
    found = _find(path)
    return found[0].pin if found is not None else None


def what_changed(pin: PluginPin, place: Path) -> str:
    """The first file that is not as it was installed, in half a sentence; "" when all are. Reads all files.

    Files that appeared count when they would be opened without the plugin's asking.
    """
    try:
        now = file_digests(place)
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}"
    for name, digest in sorted(pin.files.items()):
        if name not in now:
            return f"{name} is gone"
        if now[name] != digest:
            return f"{name} was changed"
    added = next((name for name in sorted(now.keys() - pin.files.keys()) if _is_opened(name, now[name])), "")
    return f"{added} was added" if added else ""


def read(path: str | Path) -> bytes:
    """The bytes of a file, the installed ones if it belongs to an installed plugin. Raises ``ChangedFileError``."""
    found = _find(path)
    data = Path(path).read_bytes()
    if found is not None:
        pinned, name = found
        expected = pinned.pin.files.get(name)
        if expected != hashlib.sha256(data).hexdigest():
            what = "was added" if expected is None else "was changed"
            raise ChangedFileError(f"{name} {what} since {pinned.pin.name} was installed", path=str(path))
    return data


def says_changed(sentence: str) -> bool:
    """Whether a sentence about a file that could not be loaded comes from here."""
    return _SINCE.search(sentence) is not None


class FreshLoader(importlib.machinery.SourceFileLoader):
    """Reads the source each time: no stale byte code after an edit, and nothing written beside the files."""

    def get_data(self, path: str) -> bytes:
        """Also what ``pkgutil.get_data`` and ``inspect.getsource`` ask for."""
        return read(path)

    def get_code(self, fullname: str) -> CodeType:
        """Compile what was read."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class _LibraryLoader(importlib.machinery.ExtensionFileLoader):
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        path = self.get_filename(spec.name)
        found = _find(path)
        if found is not None and not found[1].startswith(OWN_PACKAGES):
            raise ChangedFileError(
                f"{found[1]} is a library, and those are only loaded from {OWN_PACKAGES}", name=spec.name, path=path
            )
        read(path)
        return super().create_module(spec)


class _PathHook:
    """Finds modules in the folders of installed plugins, whoever looks there (``sys.path``, a package)."""

    def __call__(self, entry: str) -> importlib.machinery.FileFinder:
        if not _PLACES or _find(entry) is None:
            raise ImportError("not in an installed plugin", path=entry)
        if Path(entry).is_file():
            read(entry)  # an archive of modules, which another hook opens
            raise ImportError("not a folder", path=entry)
        return importlib.machinery.FileFinder(
            entry,
            (_LibraryLoader, importlib.machinery.EXTENSION_SUFFIXES),
            (FreshLoader, importlib.machinery.SOURCE_SUFFIXES),
        )


def _find(path: str | Path) -> tuple[_Pinned, str] | None:
    """The place that a path lies in, and the path inside with "/" between: a lone file's is its name."""
    if not _PLACES:
        return None
    spelled = _spelled(path)
    for base, pinned in _PLACES.items():
        if _is_below(spelled, base) and not Path(base).is_symlink():
            return pinned, spelled[len(base) + 1 :] if spelled != base else pinned.pin.place
    return None


def _spelled(path: str | Path) -> str:
    """Absolute, without dots, links left as they are."""
    return os.path.normpath(Path(path).absolute())


def _is_below(path: str, base: str) -> bool:
    return path == base or path.startswith(f"{base}{os.sep}")


def _is_opened(name: str, digest: str) -> bool:
    is_box_file = name == "plugin.json" or name.startswith("sentences/")
    return is_box_file or name.endswith(tuple(_OPENED)) or digest.startswith("link to ")
