"""Pictures without pixels."""

from __future__ import annotations

from collections.abc import Sequence

from appliance.errors import PictureError
from appliance.ports_pictures import CHAT_PIXELS, CHAT_QUALITY, PictureFacts

_BEGIN = b"picture "


class FakePictureMaker:
    """A PictureMaker for which any bytes are a picture that begin with ``picture``; what it makes tells of what.

    ``made`` counts the JPEGs, as that is what costs time.
    """

    def __init__(self) -> None:
        self.made = 0

    def look(self, data: bytes) -> PictureFacts:
        self._check(data)
        return PictureFacts("image/jpeg", 640, 480, is_plain=b"where" not in data)

    def jpeg(self, data: bytes, longest_pixels: int = CHAT_PIXELS, quality: int = CHAT_QUALITY) -> bytes:
        self._check(data)
        self.made += 1
        return data.replace(b"where", b"").removesuffix(f" at {longest_pixels}".encode()) + b" at %d" % longest_pixels

    def sheet(self, pictures: Sequence[bytes], cell_pixels: int = 400) -> bytes:
        return _BEGIN + b"sheet of %d" % len(pictures)

    @staticmethod
    def _check(data: bytes) -> None:
        if not data.startswith(_BEGIN):
            raise PictureError("this is not a picture that can be read here")
