"""The names that a plugin tool may import: ``core`` and what is below it, ``plugins``, and ``config``.

One finder serves them from a table, at the top of a file or inside ``execute``. ``core`` and ``plugins`` are packages
like any other in ``sys.modules``; ``core`` also holds what a plugin brings in a ``core`` folder of its own, once its
folder is on ``sys.path``. ``config`` is known to the code of plugins only: elsewhere that is the name of anybody's
file, a neighbour of a tool module among them.

A tool file is ``plugins.<folder>.<path with dots>``, and whoever asks for it by that name gets the same module.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from appliance.contracts.pinned import FreshLoader

#: Names that are ours whenever a plugin imports them.
_ROOTS = ("core", "plugins")
#: Name in the table that answers for all names which are not in it.
_DYNAMIC = "__getattr__"


class NotOfferedError(ModuleNotFoundError):
    """A module of the original host that this box does not have.

    It carries no ``name``: ``from core import x`` would swallow it and say less.
    """


class PluginImports(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves one box. ``offered`` is module -> name in it -> value; ``config`` the root module.

    ``roots`` are the folders that hold plugins. Only one is in use at a time in a process: ``install`` says which.
    """

    def __init__(self, offered: Mapping[str, Mapping[str, Any]], config: ModuleType, roots: Iterable[Path]) -> None:
        self._offered = {**{name: {} for name in _parents(offered)}, **offered}
        self._config = config
        self._roots = tuple(roots)
        #: Name of the folder -> the folder, of plugins that are switched on.
        self._folders: dict[str, Path] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def install(self) -> None:
        """Serve the names from now on, in place of whoever did so before, and forget what they had loaded."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, PluginImports)]
        # In front: a package of that name that happens to be installed must not answer instead.
        sys.meta_path.insert(0, self)
        for name in [name for name in sys.modules if name.partition(".")[0] in _ROOTS]:
            del sys.modules[name]
        importlib.invalidate_caches()

    def open_folder(self, folder: Path) -> None:
        """Let the files in this folder of a plugin be imported."""
        self._folders[folder.name] = folder

    def close_folder(self, folder: Path) -> None:
        """Forget the plugin's modules."""
        self._folders.pop(folder.name, None)
        package = f"plugins.{folder.name}"
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]

    def load_file(self, folder: Path, file: Path) -> ModuleType:
        """The module of a file in an open folder; its body runs only once. Raises whatever it raises."""
        name = ".".join(("plugins", folder.name, *file.relative_to(folder).with_suffix("").parts))
        parent = _import_quietly(name.rpartition(".")[0])
        module = sys.modules.get(name)
        if module is None:
            loader = self._loader(name, str(file))
            spec = importlib.util.spec_from_file_location(name, file, loader=loader)
            assert spec is not None, "a spec with a loader is always made"
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                loader.exec_module(module)
            except BaseException:
                sys.modules.pop(name, None)
                raise
        if parent is not None:
            setattr(parent, file.stem, module)
        return module

    def load_privately(self, folder: Path, file: Path) -> ModuleType:
        """A module of a file in an open folder that nobody can import; its body runs each time.

        Raises whatever it raises.
        """
        name = f"plugin_{folder.name}_{file.stem}"
        loader = self._loader(name, str(file))
        spec = importlib.util.spec_from_file_location(name, file, loader=loader)
        assert spec is not None, "a spec with a loader is always made"
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    # ------------------------------------------------------------------------------- as the import system asks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A module of the table, or one in a plugin's folder."""
        root, _, rest = fullname.partition(".")
        if root not in _ROOTS:
            return None
        if fullname in self._offered or not rest:
            is_package = fullname in _ROOTS or any(name.startswith(f"{fullname}.") for name in self._offered)
            return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)
        if root == "plugins" and "." not in rest:
            return self._package(fullname, rest)
        spec = importlib.machinery.PathFinder.find_spec(fullname, list(path or ()))
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = self._loader(fullname, spec.loader.path)
        if spec is None and root == "core":
            raise NotOfferedError(f"this box does not offer {fullname}; it offers {', '.join(self._filled())}")
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module of the table."""
        name = module.__name__
        names = self._offered.get(name, {})
        module.__doc__ = f"{name}, as far as this box offers it."
        vars(module)[_DYNAMIC] = _Missing(name, names)
        vars(module).update(names)
        if name == "core":
            vars(module)["__path__"] = _CorePath(self._roots)

    def _package(self, fullname: str, folder_name: str) -> importlib.machinery.ModuleSpec:
        folder = self._folders.get(folder_name)
        if folder is None:
            raise NotOfferedError(f"there is no plugin {folder_name} here, or it is switched off")
        init = folder / "__init__.py"
        loader = self._loader(fullname, str(init)) if init.is_file() else None
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=str(init) if loader else None, is_package=True)
        spec.has_location = loader is not None
        spec.submodule_search_locations = [str(folder)]
        return spec

    def _loader(self, fullname: str, path: str) -> _PluginFileLoader:
        return _PluginFileLoader(fullname, path, self._builtins)

    def _filled(self) -> list[str]:
        return [*sorted(name for name, names in self._offered.items() if names), "config"]

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """``__import__`` of plugin code: as usual, but it knows ``config``, and says what is not offered."""
        root = name.partition(".")[0] if level == 0 else ""
        if root == "functions" or (root == "config" and name != "config"):
            raise NotOfferedError(f"this box does not offer {name}; it offers {', '.join(self._filled())}")
        is_config = root == "config"
        module = self._config if is_config else builtins.__import__(name, globals, locals, fromlist or (), level)
        if is_config or (level == 0 and name in self._offered):
            for wanted in fromlist or ():
                _must_have(module, wanted)
        return module


class _Missing:
    """The ``__getattr__`` of an offered module."""

    def __init__(self, module: str, names: Mapping[str, Any]) -> None:
        self._module = module
        self._names = sorted(name for name in names if not name.startswith("_"))

    def __call__(self, name: str) -> Any:
        offered = ", ".join(self._names) or "nothing"
        raise AttributeError(f"this box does not offer {name} in {self._module}; it offers there: {offered}")


class _CorePath:
    """The ``__path__`` of ``core``: every ``core`` folder of a plugin that has put itself on ``sys.path``."""

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self._roots = roots
        self._appended: list[str] = []

    def __iter__(self) -> Iterator[str]:
        places = [Path(place) for place in sys.path if place]
        found = [str(place / "core") for place in places if any(map(place.is_relative_to, self._roots))]
        return iter([*found, *self._appended])

    def append(self, folder: str) -> None:
        """As on a list, which this is elsewhere."""
        self._appended.append(folder)


class _PluginFileLoader(FreshLoader):
    """Gives the module our ``__import__``."""

    def __init__(self, fullname: str, path: str, plugin_builtins: dict[str, Any]) -> None:
        super().__init__(fullname, path)
        self._builtins = plugin_builtins

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)


def _parents(names: Iterable[str]) -> set[str]:
    """Every package on the way to these modules."""
    parents = {"core"}
    for name in names:
        parts = name.split(".")
        parents |= {".".join(parts[:length]) for length in range(1, len(parts))}
    return parents


def _must_have(module: ModuleType, name: str) -> None:
    if name == "*":
        return
    try:
        getattr(module, name)
    except AttributeError as error:
        raise ImportError(str(error), name=module.__name__) from error


def _import_quietly(name: str) -> ModuleType | None:
    """A package on the way to a tool file; a folder with a dot in its name has none."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
