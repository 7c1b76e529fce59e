"""The page of a running device, where the owner wants one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from appliance.config import Config
from appliance.control import Caller, Handler
from appliance.errors import ConfigError, PictureError
from appliance.panel.config import PanelConfig
from appliance.ports import Json

if TYPE_CHECKING:
    from appliance.box import Box

_LOG = logging.getLogger(__name__)

_OFF = "the page is off; appliance config set panel.enabled true switches it on with the next start"


@asynccontextmanager
async def panel_of(box: Box, config: Config, handlers: Mapping[str, Handler]) -> AsyncIterator[Mapping[str, Handler]]:
    """Serves the page inside ``async with``, and gives the method that tells its address.

    Where it is off nothing of it is even imported. A page that cannot be served is no reason to be no device.
    """
    settings = config.of(PanelConfig)
    if not settings.enabled:
        yield {"panel.address": partial(_not_served, _OFF)}
        return
    from appliance.panel.feed import Feed
    from appliance.panel.house import House
    from appliance.panel.server import Panel
    from appliance.panel.sources import Sources, face_table

    feed = Feed(box.bus.subscribe, box.clock, box.hides_words)
    handlers = {**handlers, **House(handlers["tool.run"]).handlers}
    panel = Panel(Sources(handlers, feed, face_table, _outside_of(box)), settings.port)
    async with AsyncExitStack() as stack:
        try:
            listener = stack.enter_context(panel.listening())
        except ConfigError as error:
            _LOG.error("%s", error)
            yield {"panel.address": partial(_not_served, str(error))}
            return
        serving = asyncio.create_task(panel.serve(listener), name="panel")
        stack.push_async_callback(_end, serving)
        yield {"panel.address": partial(_tell, panel.address)}


async def _tell(address: str, _params: Mapping[str, Json], _caller: Caller) -> Json:
    return {"address": address}


async def _not_served(why: str, _params: Mapping[str, Json], _caller: Caller) -> Json:
    raise ConfigError(why)


async def _end(serving: asyncio.Task[None]) -> None:
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


def _outside_of(box: Box) -> Callable[[str], tuple[str, bytes]]:
    facade, pictures = box.facade, box.pictures
    if facade is None or pictures is None:
        return _nothing_outside
    from appliance.panel.outside import OutsidePictures

    return OutsidePictures(facade.wan_session().get, pictures)


def _nothing_outside(_url: str) -> tuple[str, bytes]:
    raise PictureError("this box fetches no pictures")
