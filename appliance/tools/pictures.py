"""Pictures that tools return or put aside: checked, stored, and made fit for a model.

What is stored is what a tool gave, if it is a plain PNG or JPEG of bearable size; anything else is made anew, so that
no picture carries where it was taken, or a second file behind it. What a model gets is always made anew.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from appliance.errors import PictureError, StoreError
from appliance.ports_pictures import PictureMaker, data_url
from appliance.store.images import StoredImages
from appliance.tools.tool import CallContext, ToolImage, ToolResult

_LOG = logging.getLogger(__name__)

#: More pictures of one call than a model looks at.
_MOST_PICTURES = 8
_LARGEST_STORED_BYTES = 8_000_000
_STORED_PIXELS = 4096
_STORED_QUALITY = 95
#: A model gets the pictures of the last turns again in each round; so many are made once only.
_MOST_COPIES = 16

_MODEL_MEDIA_TYPE = "image/jpeg"


class PictureShelf:
    """The pictures of this box. Methods that are not coroutines wait, and are for any thread but the loop's.

    ``show`` is called on the loop's thread with each picture that a tool returned, as a JPEG, for whoever has a screen.
    """

    def __init__(self, images: StoredImages, maker: PictureMaker) -> None:
        self.images = images
        self.maker = maker
        self.show: Callable[[bytes], None] = lambda _data: None
        self._lock = threading.Lock()
        self._copies: OrderedDict[str, bytes] = OrderedDict()

    def put(self, data: bytes, *, chat: str = "", turn_id: str = "", is_visible: bool = False) -> str:
        """Check and store a picture; its handle. Raises ``PictureError``, ``StoreError``."""
        ready, media_type = self._storable(data)
        return self.images.put(ready, media_type, chat=chat, turn_id=turn_id, is_visible=is_visible)

    async def keep(self, result: ToolResult, context: CallContext) -> ToolResult:
        """A result whose pictures are stored and fit for a model, each with a receipt in the text.

        A picture that cannot be read is left out, and the text says so; one that cannot be stored has no handle.
        """
        if not result.images:
            return result
        kept: list[ToolImage] = []
        lines: list[str] = []
        for image in result.images[:_MOST_PICTURES]:
            try:
                ready = await asyncio.to_thread(self._keep, image, context)
            except (PictureError, StoreError) as error:
                lines.append(f"(a picture was left out: {error})")
                continue
            kept.append(ready)
            lines += [f"(image {ready.handle})"] if ready.handle else []
            self.show(ready.data)
        if len(result.images) > _MOST_PICTURES:
            lines.append(f"(only the first {_MOST_PICTURES} of {len(result.images)} pictures were taken)")
        return replace(result, text="\n".join([*lines, result.text]), images=tuple(kept))

    async def for_model(self, handle: str, chat: str) -> str:
        """The picture as a data URL, as it was when the model saw it first; "" when it is not there (any more)."""
        try:
            data = await asyncio.to_thread(self._copy, handle, chat)
        except (PictureError, StoreError) as error:
            _LOG.info("%s is not shown again: %s", handle, error)
            return ""
        return data_url(data, _MODEL_MEDIA_TYPE)

    def _keep(self, image: ToolImage, context: CallContext) -> ToolImage:
        if image.handle:
            with suppress(PictureError):
                # The tool looks at a picture that is there already: what counts is what is stored.
                data = self._copy(image.handle, context.chat)
                return replace(image, data=data, media_type=_MODEL_MEDIA_TYPE, was_there=True)
        ready, media_type = self._storable(image.data)
        handle, is_visible = "", not image.is_display_only
        try:
            handle = self.images.put(
                ready, media_type, chat=context.chat, turn_id=context.turn_id, is_visible=is_visible
            )
        except StoreError as error:
            _LOG.warning("a picture of a tool is not stored: %s", error)
        return replace(image, data=self.maker.jpeg(ready), media_type=_MODEL_MEDIA_TYPE, handle=handle)

    def _storable(self, data: bytes) -> tuple[bytes, str]:
        """What is stored of a picture, and its media type."""
        facts = self.maker.look(data)
        if facts.is_plain and len(data) <= _LARGEST_STORED_BYTES:
            self.maker.jpeg(data, 64)  # Only unpacking tells whether it is whole.
            return bytes(data), facts.media_type
        return self.maker.jpeg(data, _STORED_PIXELS, _STORED_QUALITY), _MODEL_MEDIA_TYPE

    def _copy(self, handle: str, chat: str) -> bytes:
        """What a model gets of a stored picture. It is looked up each time: it may have been deleted, or locked."""
        stored = self.images.get(handle, chat)
        with self._lock:
            copy = self._copies.pop(stored.handle, None)
        if copy is None:
            copy = self.maker.jpeg(stored.data)
        if not stored.is_private:
            with self._lock:
                self._copies[stored.handle] = copy
                while len(self._copies) > _MOST_COPIES:
                    self._copies.popitem(last=False)
        return copy
