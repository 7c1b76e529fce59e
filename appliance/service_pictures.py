"""What a client may ask about the pictures of the chats. Needs the store only."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
from collections.abc import Mapping

from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.ports import Json
from appliance.store.chat_log import StoredChatLog
from appliance.store.images import StoredImages


class PictureService:
    """Serves what is stored. The owner may see the pictures of every chat that is not locked."""

    def __init__(self, images: StoredImages, chats: StoredChatLog) -> None:
        self._images = images
        self._chats = chats

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {"chat.images": self.chat_images, "chat.image": self.chat_image}

    async def chat_images(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The pictures of ``{"chat"}``, or of the one in use, oldest first."""
        chat = str(params.get("chat") or await self._chats.current())
        return [dataclasses.asdict(row) for row in await asyncio.to_thread(self._images.list, chat)]

    async def chat_image(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The picture ``{"handle"}``, its bytes in base64."""
        handle = params.get("handle")
        if not isinstance(handle, str) or not handle:
            raise UsageError("which picture? appliance chat image lists their handles")
        image = await asyncio.to_thread(self._images.get, handle)
        return {
            "handle": image.handle,
            "media_type": image.media_type,
            "data": base64.b64encode(image.data).decode("ascii"),
        }
