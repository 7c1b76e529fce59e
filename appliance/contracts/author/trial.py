"""Loads one plugin as a box would, in a home of its own that is gone afterwards. Nothing goes out meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.clock import SystemClock
from appliance.contracts.author.trial_box import trial_box
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.contract import KotobaContract
from appliance.contracts.kotoba.contract import LoadReport as ModuleReport
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.module_tool import Surroundings
from appliance.contracts.sapphire import core_net
from appliance.contracts.sapphire.contract import LoadReport as ToolReport
from appliance.contracts.sapphire.contract import SapphireContract
from appliance.contracts.sapphire.credentials import PluginCredentials
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, ManifestError, read_manifest
from appliance.contracts.sapphire.plugin_tool import Around
from appliance.contracts.sapphire.root_config import RootConfig
from appliance.contracts.sapphire.scopes import Scopes
from appliance.contracts.sapphire.settings import PluginSettings
from appliance.contracts.switch import PluginSwitch
from appliance.errors import NetworkConnectError, UsageError
from appliance.home import Home
from appliance.network.classifier import Classifier
from appliance.network.direct_hosts import DirectHosts
from appliance.network.exchange import Incoming, Outgoing
from appliance.network.facade import Facade
from appliance.store.credentials import Credentials

#: Not part of a plugin, and large.
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", ".venv", "node_modules")


@dataclass(frozen=True)
class Trial:
    """How loading went. ``copy`` is where the plugin was loaded from: a folder, or a single file."""

    name: str
    copy: Path
    modules: ModuleReport
    tools: ToolReport

    @property
    def has_manifest(self) -> bool:
        """Whether it is a plugin of the second contract."""
        return (self.copy / MANIFEST_FILE).exists()

    def tool_module(self, file: str) -> Any:
        """The module of a tool file of the second contract; None when its body did not run to its end."""
        parts = ("plugins", self.copy.name, *Path(file).with_suffix("").parts)
        return sys.modules.get(".".join(parts))


@contextlib.asynccontextmanager
async def try_out(path: Path, secrets: Credentials) -> AsyncIterator[Trial]:
    """Load the plugin in ``path`` while the block runs. Raises ``UsageError`` when there is nothing like one."""
    check_path(path)
    with tempfile.TemporaryDirectory(prefix="plugin-") as folder:
        home = Home(Path(folder))
        home.make()
        name = plugin_name(path)
        copy = await asyncio.to_thread(_copied, path, home.plugins_folder)
        switch = PluginSwitch(home.switch_file)
        switch.set(name, True)
        async with contextlib.AsyncExitStack() as stack:
            host = PluginHost(keys_of=secrets.of_plugin)
            stack.push_async_callback(host.close)
            facade = _quiet_facade()
            stack.push_async_callback(asyncio.to_thread, facade.close)
            roots = [PluginRoot(home.plugins_folder, Source.OWNER)]
            clock = SystemClock()
            modules = KotobaContract(
                host=host,
                clock=clock,
                roots=roots,
                switch=switch,
                surroundings=Surroundings(workdir=home.folder / "workdir"),
                entry_points=lambda: (),
            )
            root = RootConfig(home.folder, {})
            box = await stack.enter_async_context(trial_box(home, clock))
            tools = SapphireContract(
                host=host,
                clock=clock,
                roots=roots,
                switch=switch,
                state_folder=home.plugin_state_folder,
                chat_rows=box.chat_rows,
                box=box.side,
                around=Around(
                    settings=PluginSettings(home.plugin_settings_folder, clock.now),
                    credentials=PluginCredentials(secrets),
                    scopes=Scopes(),
                    root=root,
                    redact=secrets.redact,
                ),
                network={**box.modules, **core_net.offered(facade)},
                forget=lambda plugin: facade.forget(f"plugin:{plugin}"),
            )
            stack.push_async_callback(tools.close)
            yield Trial(name, copy, await modules.load(), await tools.load())


def check_path(path: Path) -> None:
    """Raises ``UsageError`` when there is no plugin in ``path``."""
    if path.is_file() and path.suffix == ".py":
        return
    if not path.is_dir():
        raise UsageError(f"{path} is no plugin: it is a folder, or one .py file")
    if path.name.startswith((".", "_")):
        raise UsageError(f"{path} is never loaded: a name that begins with {path.name[0]!r} is skipped")


def plugin_name(path: Path) -> str:
    """The name under which a plugin is known: its manifest's, else that of its folder or file."""
    with contextlib.suppress(ManifestError):
        return read_manifest(path).name
    return path.stem if path.is_file() else path.name


def _copied(path: Path, plugins: Path) -> Path:
    copy = plugins / path.name
    if path.is_file():
        shutil.copy(path, copy)
    else:
        shutil.copytree(path, copy, symlinks=True, ignore=LEFT_OUT)
    return copy


def _quiet_facade() -> Facade:
    direct_hosts = DirectHosts(SystemClock(), ())
    return Facade(_Silence, Classifier(direct_hosts.known_hosts), direct_hosts)


class _Silence:
    """An exchange that sends nothing."""

    def open(self, outgoing: Outgoing) -> contextlib.AbstractAsyncContextManager[Incoming]:
        """Nobody is there."""
        raise NetworkConnectError("nothing goes out while a plugin is checked")

    async def close(self) -> None:
        """Nothing was opened."""


def loaded_value(module: Any, name: str) -> Any:
    """An attribute of a stranger's module; None when it is missing, or when asking for it raises."""
    try:
        return getattr(module, name, None)
    except Exception:
        return None
