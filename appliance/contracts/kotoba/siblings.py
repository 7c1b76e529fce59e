"""Lets the files of one plugin import each other, as if their folder were a package of its own.

Every file is ``kotoba_plugin_<plugin>.<stem>``, so ``from .helper import x`` works; ``import helper`` finds the
neighbour too, unless a real module has that name. Two plugins may both have a ``helper.py``: the short name holds
only as long as the work that asked for it (``inside``).
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType

from appliance.contracts.pinned import FreshLoader

_PREFIX = "kotoba_plugin_"

#: The package whose code runs here.
_CURRENT: ContextVar[str] = ContextVar("current_plugin_package", default="")
#: Names in ``sys.modules`` that stand for a neighbour, and go away again.
_SHORT_NAMES: set[str] = set()


def install() -> None:
    """Find neighbours from now on; a second time changes nothing."""
    if not any(isinstance(finder, _PluginFiles) for finder in sys.meta_path):
        sys.meta_path.insert(0, _PluginFiles())
        # Behind everything: a real module wins over a neighbour of the same name.
        sys.meta_path.append(_Neighbours())


def make_package(plugin: str, folder: Path | None) -> str:
    """Forget every module of the plugin and make its package anew; its name."""
    name = _PREFIX + plugin.replace(".", "_")  # dots would be read as levels of packages
    for known in [known for known in sys.modules if known.startswith(f"{name}.")]:
        del sys.modules[known]
        sys.modules.pop(_alias(known), None)
    spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(folder)] if folder is not None else []
    sys.modules[name] = importlib.util.module_from_spec(spec)
    importlib.invalidate_caches()
    return name


def load_file(package: str, file: Path) -> ModuleType:
    """The module of a file, also known as ``kotoba_plugin_<plugin>_<stem>``. Raises whatever the file raises."""
    name = f"{package}.{file.stem.replace('.', '_')}"
    module = sys.modules.get(name)
    if module is None:  # else a neighbour has imported it already, and its body runs only once
        loader = FreshLoader(name, str(file))
        spec = importlib.machinery.ModuleSpec(name, loader, origin=str(file))
        spec.has_location = True
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    elif getattr(module, "__file__", None) != str(file):
        raise ImportError(f"another file of this plugin is named {file.name} too")
    sys.modules[_alias(name)] = module
    return module


def current_folder() -> Path | None:
    """The folder of the plugin whose code runs here; None for one of a single file, and outside plugin code."""
    folders = getattr(sys.modules.get(_CURRENT.get()), "__path__", ())
    return next(map(Path, folders), None)


@contextmanager
def inside(package: str) -> Iterator[None]:
    """Code of this package runs in the block."""
    _forget_short_names()
    token = _CURRENT.set(package)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        _forget_short_names()


def _alias(name: str) -> str:
    return name.replace(".", "_")


def _forget_short_names() -> None:
    for name in _SHORT_NAMES:
        sys.modules.pop(name, None)
    _SHORT_NAMES.clear()


class _PluginFiles(importlib.abc.MetaPathFinder):
    """``kotoba_plugin_<plugin>.<stem>``: a neighbour by its long name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if path is None or not fullname.startswith(_PREFIX):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = FreshLoader(fullname, spec.loader.path)
        return spec


class _Neighbours(importlib.abc.MetaPathFinder):
    """``helper``: a neighbour by its short name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = _CURRENT.get()
        if path is not None or not package or importlib.util.find_spec(f"{package}.{fullname}") is None:
            return None
        module = importlib.import_module(f"{package}.{fullname}")
        _SHORT_NAMES.add(fullname)
        return importlib.machinery.ModuleSpec(fullname, _AlreadyLoaded(module))


class _AlreadyLoaded(importlib.abc.Loader):
    """Gives the import system a module that exists, without letting it change what the module knows of itself."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
