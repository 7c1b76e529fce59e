"""Puts the plugin manager together for a command of the owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from appliance.clock import SystemClock
from appliance.config import Config
from appliance.contracts.switch import PluginSwitch
from appliance.home import Home
from appliance.install.fetch import DoorFetch
from appliance.install.manager import Outside, PluginManager
from appliance.install.packages import OwnPackages
from appliance.install.signers import Ed25519
from appliance.network.lane import Lane
from appliance.network.proxy import Proxy
from appliance.store.credentials import Credentials
from appliance.wiring import house_network, pip_environment


@asynccontextmanager
async def open_manager(home: Home, config: Config, credentials: Credentials) -> AsyncIterator[PluginManager]:
    """The manager of a home. What it fetches takes the way out that the box takes. Call it in another thread."""
    from appliance.contracts.inspection import PluginInspector
    from appliance.network.door import Door

    clock, loop = SystemClock(), asyncio.get_running_loop()
    network = house_network(config, credentials, clock)
    door = Door(network.client())

    def proxy_for(url: str) -> Proxy | None:
        if url.startswith("file:"):
            return None
        return network.proxy() if network.classifier.classify(url).lane is Lane.WAN else None

    outside = Outside(
        inspector=PluginInspector(),
        fetch=DoorFetch(door, lambda work: asyncio.run_coroutine_threadsafe(work, loop).result(), proxy_for),
        signatures=signature_scheme(),
        packages=OwnPackages(lambda: pip_environment(config, credentials)),
        now=clock.now,
    )
    try:
        yield PluginManager(home, PluginSwitch(home.switch_file), outside)
    finally:
        await door.close()


def signature_scheme() -> Ed25519:
    """How plugins are signed."""
    from appliance.adapters.signing import LibraryEd25519

    return LibraryEd25519()
