"""A whole box without sound on a thread of its own, with its page: the browser and its driver have the other one."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.box import Box
from appliance.cli.run_panel import panel_of
from appliance.config import load
from appliance.control import Caller, Peer
from appliance.events import Event
from appliance.home import Home
from appliance.wiring import Sound, credentials_of, open_box
from tests.panel.rig import free_port

_PATIENCE_SECONDS = 60.0
_ME = Caller(Peer(os.geteuid(), os.getegid(), os.getpid()), emit=lambda _event: None)


@dataclass
class ServedBox:
    """The running box; its methods may be called from the test's thread."""

    box: Box
    address: str
    loop: asyncio.AbstractEventLoop

    def ask(self, method: str, **params: Any) -> Any:
        """What a method of the box answers."""
        work = self.box.all_handlers[method](params, _ME)
        return asyncio.run_coroutine_threadsafe(_as_coroutine(work), self.loop).result(_PATIENCE_SECONDS)

    def tell(self, event: Event) -> None:
        """Something happens in the box."""
        self.loop.call_soon_threadsafe(self.box.bus.publish, event)


async def _as_coroutine(work: Any) -> Any:
    return await work


@contextmanager
def served_box(home: Path, settings: Mapping[str, str] | None = None) -> Iterator[ServedBox]:
    """A box with this home, and its page; ``settings`` as in the environment."""
    found: list[ServedBox] = []
    is_up, is_over = threading.Event(), asyncio.Event()
    failure: list[BaseException] = []

    async def live() -> None:
        place = Home(home)
        place.folder.mkdir(parents=True, exist_ok=True)
        page_is_on = {"APPLIANCE_PANEL_ENABLED": "true", "APPLIANCE_PANEL_PORT": str(free_port())}
        config = load(place.config_file, {**page_is_on, **(settings or {})})
        async with (
            open_box(place, config, credentials_of(place), Sound.NONE) as box,
            panel_of(box, config, box.all_handlers) as more,
        ):
            address = (await more["panel.address"]({}, _ME))["address"]
            found.append(ServedBox(box, address, asyncio.get_running_loop()))
            is_up.set()
            await is_over.wait()

    def run() -> None:
        try:
            asyncio.run(live())
        except BaseException as error:
            failure.append(error)
        is_up.set()

    thread = threading.Thread(target=run, name="served box")
    thread.start()
    is_up.wait(_PATIENCE_SECONDS)
    if failure:
        thread.join()
        raise failure[0]
    try:
        yield found[0]
    finally:
        found[0].loop.call_soon_threadsafe(is_over.set)
        thread.join(_PATIENCE_SECONDS)
    if failure:
        raise failure[0]
