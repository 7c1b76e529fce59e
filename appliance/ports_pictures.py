"""The needs of pictures: something that reads and makes them, and a screen that shows one."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

#: What a model gets of a picture: its longest side, and the quality of the JPEG.
CHAT_PIXELS = 1536
CHAT_QUALITY = 88
#: Bytes of a picture that is taken from anywhere.
LARGEST_PICTURE_BYTES = 20 * 2**20


def data_url(data: bytes, media_type: str) -> str:
    """A picture as a model's endpoint takes it."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


@dataclass(frozen=True)
class PictureFacts:
    """What the header of a picture says.

    ``is_plain``: a PNG or JPEG from its first byte to its last that says nothing about where or with what it was taken.
    """

    media_type: str
    width_pixels: int
    height_pixels: int
    is_plain: bool


class PictureMaker(Protocol):
    """Reads pictures of strangers, and makes ours. Any thread but the loop's: a large one takes tenths of a second.

    Of a moving picture only the first one counts. Everything raises ``PictureError``, in words for a person.
    """

    def look(self, data: bytes) -> PictureFacts:
        """What the header says; whether the rest can be read is not known yet."""
        ...

    def jpeg(self, data: bytes, longest_pixels: int = CHAT_PIXELS, quality: int = CHAT_QUALITY) -> bytes:
        """The picture upright as a JPEG without any word about itself, never larger than it was."""
        ...

    def sheet(self, pictures: Sequence[bytes], cell_pixels: int = 400) -> bytes:
        """The pictures side by side, numbered from 1, as one JPEG; one that cannot be read keeps its place."""
        ...


@runtime_checkable
class PictureScreen(Protocol):
    """A face that can show a picture in its own place."""

    def show_picture(self, data: bytes) -> None:
        """Show this JPEG until the next pose. Called only from the face thread; may raise ``OSError``."""
        ...
