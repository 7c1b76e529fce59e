"""Where a plugin may get a picture from by naming it: a handle of a chat, a file, a URL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import PictureError, StoreError
from appliance.ports_pictures import LARGEST_PICTURE_BYTES, PictureMaker
from appliance.store.images import HANDLE
from appliance.tools.pictures import PictureShelf

_LIBRARY = "doc:"
_WEB_SECONDS = 15
_PIECE_BYTES = 65_536
_MEGABYTES = LARGEST_PICTURE_BYTES // 2**20


@dataclass(frozen=True)
class Resolved:
    """A picture and where it is from; ``origin`` is chat, file or web. Plugins read these names."""

    data: bytes
    media_type: str
    label: str
    origin: str

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.data)


class PictureSource:
    """Finds pictures; on the plugin's side, for it waits. ``get`` is ``core.net.get``, None without a network."""

    def __init__(self, shelf: PictureShelf, get: Callable[..., Any] | None) -> None:
        self._shelf = shelf
        self._get = get

    @property
    def maker(self) -> PictureMaker:
        """What reads them."""
        return self._shelf.maker

    def resolve(self, source: object, chat: str) -> Resolved:
        """The picture that ``source`` names, as that chat may see it. Raises ``PictureError``."""
        name = source.strip() if isinstance(source, str) else ""
        if name.startswith(HANDLE):
            return self._of_chat(name, chat)
        if name.startswith(_LIBRARY):
            raise PictureError(f"{name[:40]!r}: this box keeps no library of documents")
        if name.lower().startswith(("http://", "https://")):
            return self._checked(self._fetched(name), name, "web")
        if name.startswith("/"):
            return self._checked(_read(Path(name)), name, "file")
        raise PictureError(
            f"{name[:60]!r} names no picture; a handle like {HANDLE}0123456789ab.jpg does, "
            "or an absolute path, or a URL with http"
        )

    def _of_chat(self, handle: str, chat: str) -> Resolved:
        try:
            stored = self._shelf.images.get(handle, chat)
        except StoreError as error:
            raise PictureError(f"{handle[:40]} cannot be read: {error}") from error
        return Resolved(stored.data, stored.media_type, stored.handle, "chat")

    def _checked(self, data: bytes, label: str, origin: str) -> Resolved:
        return Resolved(data, self.maker.look(data).media_type, label, origin)

    def _fetched(self, url: str) -> bytes:
        """The body behind a URL. What ``core.net`` raises is an OSError or a ValueError, as with requests."""
        if self._get is None:
            raise PictureError("this box has no way to the network here")
        try:
            with closing(self._get(url, profile="browser", timeout=_WEB_SECONDS, stream=True)) as response:
                if response.status_code != 200:
                    raise PictureError(f"the picture cannot be fetched: the server answered {response.status_code}")
                return _body(response)
        except PictureError:
            raise
        except (OSError, ValueError) as error:
            raise PictureError(f"the picture cannot be fetched: {error}") from error


def _body(response: Any) -> bytes:
    body = bytearray()
    for piece in response.iter_content(_PIECE_BYTES):
        body += piece
        if len(body) > LARGEST_PICTURE_BYTES:
            raise PictureError(f"the picture cannot be fetched: it is larger than {_MEGABYTES} MB")
    return bytes(body)


def _read(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise PictureError(f"there is no file {file}")
        with file.open("rb") as reader:
            data = reader.read(LARGEST_PICTURE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise PictureError(f"{file} cannot be read: {error}") from error
    if len(data) > LARGEST_PICTURE_BYTES:
        raise PictureError(f"{file} is larger than {_MEGABYTES} MB")
    return data
