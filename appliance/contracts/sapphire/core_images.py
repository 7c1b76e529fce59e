"""``core.images``: pictures, as plugins make, name and show them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from appliance.contracts.sapphire.gallery import GalleryMaker
from appliance.contracts.sapphire.picture_source import PictureSource, Resolved
from appliance.errors import PictureError, StoreError
from appliance.ports_pictures import CHAT_PIXELS, CHAT_QUALITY
from appliance.store.images import new_id
from appliance.tools.current_chat import current_chat, current_turn
from appliance.tools.pictures import PictureShelf

#: Fetches a picture for whoever looks at it, so that the third party does not see them.
_PICTURE_PROXY = "https://external-content.duckduckgo.com/iu/?u={url}&f=1"


def offered(shelf: PictureShelf, get: Callable[..., Any] | None = None) -> dict[str, Mapping[str, Any]]:
    """Module -> name in it -> value, for ``PluginImports``. ``get`` is ``core.net.get``."""
    pictures = CoreImages(shelf, get)
    names = (
        "contact_sheet",
        "for_chat",
        "gallery",
        "last_image_id",
        "media_type",
        "proxied",
        "resolve",
        "result",
        "stash",
    )
    own = {name: getattr(pictures, name) for name in names}
    return {"core.images": {**own, "ImageError": PictureError, "Resolved": Resolved, "new_id": new_id}}


class CoreImages:
    """The functions of the module. They run on the plugin's side, in the chat of the call around them.

    Each raises ``PictureError``, which plugins know as ``ImageError``, with words for the person.
    """

    def __init__(self, shelf: PictureShelf, get: Callable[..., Any] | None) -> None:
        self._shelf = shelf
        self._source = PictureSource(shelf, get)
        self._galleries = GalleryMaker(shelf.maker, self.stash)

    def result(self, text: str, images: Iterable[Any] = (), display_only: bool = False) -> dict[str, Any]:
        """What a tool returns beside True to show pictures; with ``display_only`` only the person sees them.

        ``images`` are bytes, what ``resolve`` gave, or entries that were made before.
        """
        given = [images] if isinstance(images, bytes | bytearray | memoryview | Resolved) else images
        return {"text": text, "images": [self._entry(image, display_only) for image in given]}

    def for_chat(self, raw: bytes, max_px: int = CHAT_PIXELS, quality: int = CHAT_QUALITY) -> bytes:
        """The picture upright, at most so large, as a JPEG."""
        return self._shelf.maker.jpeg(raw, max(1, int(max_px)), int(quality))

    def contact_sheet(self, raws: Iterable[bytes], cell: int = 400) -> bytes:
        """All of them on one JPEG, numbered from 1 in their order; one that cannot be read keeps its place."""
        return self._shelf.maker.sheet(list(raws), int(cell))

    def media_type(self, raw: bytes) -> str:
        """What kind of picture it is, from its own bytes."""
        return self._shelf.maker.look(raw).media_type

    def resolve(self, source: str, private_key: Any = None) -> Resolved:
        """The picture that a handle, an absolute path or a URL names.

        ``private_key`` changes nothing here: a private chat's pictures are found in that chat, while it is open.
        """
        return self._source.resolve(source, current_chat())

    def stash(
        self, raw: bytes, media_type: str | None = None, *, visible: bool = False, chat_name: str | None = None
    ) -> str:
        """Store the picture in the chat now, without showing it to the model; its handle.

        ``media_type`` is read off the picture itself.
        """
        if chat_name == "":
            raise PictureError("a picture cannot be put into a chat without a name")
        chat, turn_id = (chat_name, "") if chat_name is not None else (current_chat(), current_turn())
        try:
            return self._shelf.put(raw, chat=chat, turn_id=turn_id, is_visible=visible)
        except StoreError as error:
            raise PictureError(f"the picture is not stored: {error}") from error

    def last_image_id(self, chat_name: str | None = None) -> str | None:
        """The id of the chat's newest picture, without ``img:``; None when it has none."""
        try:
            if chat_name is None:
                handle = self._shelf.images.last(current_chat())
            else:
                rows = self._shelf.images.list(chat_name)
                handle = rows[-1].handle if rows else ""
        except StoreError as error:
            raise PictureError(str(error)) from error
        return handle.partition(":")[2] or None

    @staticmethod
    def proxied(url: str) -> str:
        """Where to look at a picture of the internet without its owner seeing who looks; other addresses stay."""
        if not url.lower().startswith(("http://", "https://")):
            return url
        return _PICTURE_PROXY.format(url=quote(url, safe=""))

    def gallery(self, title: str, entries: Sequence[dict[str, Any]], view: bool = True) -> tuple[list[bytes], str]:
        """A numbered row for the person and one sheet for the model; see ``GalleryMaker``."""
        return self._galleries.make(title, entries, is_viewed=view)

    def _entry(self, image: Any, display_only: bool) -> dict[str, Any]:
        if isinstance(image, Mapping) and isinstance(image.get("data"), str):
            return {**image, "display_only": bool(image.get("display_only") or display_only)}
        handle: dict[str, str] = {}
        if isinstance(image, Resolved):
            # It is stored already: its handle stays.
            handle = {"handle": image.label} if image.origin == "chat" else {}
            image = image.data
        facts = self._shelf.maker.look(image)
        data = base64.b64encode(bytes(image)).decode("ascii")
        return {"data": data, "media_type": facts.media_type, "display_only": bool(display_only), **handle}
