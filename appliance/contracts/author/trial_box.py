"""What a plugin on trial reaches of a box: a store that is gone afterwards, and nobody who hears or sees anything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from appliance.clock import Clock
from appliance.contracts.sapphire import core_images
from appliance.contracts.sapphire.beside import BoxSide
from appliance.contracts.sapphire.system import SystemDoors
from appliance.errors import PictureError
from appliance.home import Home
from appliance.ports_pictures import CHAT_PIXELS, CHAT_QUALITY, PictureFacts
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_rows import ChatRows
from appliance.store.documents import StoredDocuments
from appliance.store.images import StoredImages
from appliance.store.recovery import open_database
from appliance.tools.pictures import PictureShelf
from appliance.tools.toolsets import Toolsets


@dataclass(frozen=True)
class TrialBox:
    """What the contract of plugin tools is given in place of a box."""

    chat_rows: ChatRows
    side: BoxSide
    modules: Mapping[str, Any]


@asynccontextmanager
async def trial_box(home: Home, clock: Clock) -> AsyncIterator[TrialBox]:
    """A box while the block runs."""
    database = open_database(home.database_file, clock)
    try:
        keys, documents = ChatKeys(), StoredDocuments(database)
        toolsets = Toolsets(documents, lambda: ())
        side = BoxSide(documents, UTC, toolsets, _DOORS, name_of=lambda chat: chat, is_private=lambda _chat: False)
        shelf = PictureShelf(StoredImages(database, clock, keys), _NoPictures())
        yield TrialBox(ChatRows(database, keys, clock), side, core_images.offered(shelf, None))
    finally:
        database.close()


async def _nobody() -> str:
    return "trial"


_DOORS = SystemDoors(
    is_ready=lambda: False,
    speak=lambda _text: None,
    stop_speaking=lambda: None,
    stop_turn=lambda: None,
    chat_name=_nobody,
    clear_chat=_nobody,
)


class _NoPictures:
    """A ``PictureMaker`` for code that is only loaded."""

    def look(self, _data: bytes) -> PictureFacts:
        raise PictureError("there are no pictures while a plugin is only looked at")

    def jpeg(self, data: bytes, longest_pixels: int = CHAT_PIXELS, quality: int = CHAT_QUALITY) -> bytes:
        raise PictureError("there are no pictures while a plugin is only looked at")

    def sheet(self, pictures: Sequence[bytes], cell_pixels: int = 400) -> bytes:
        raise PictureError("there are no pictures while a plugin is only looked at")
