"""Pictures for tests: good ones in every format, and bad ones of every kind."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PIL import Image

RED, GREEN, BLUE, WHITE = (220, 20, 20), (20, 200, 20), (20, 20, 220), (255, 255, 255)


def picture(
    colour: Any = RED, size: tuple[int, int] = (64, 48), *, kind: str = "JPEG", mode: str = "RGB", **options: Any
) -> bytes:
    """A picture of one colour."""
    packed = io.BytesIO()
    Image.new(mode, size, colour).save(packed, kind, **options)
    return packed.getvalue()


def halves(left: Any = RED, right: Any = BLUE, size: tuple[int, int] = (80, 40), **options: Any) -> bytes:
    """A PNG or JPEG with a left and a right half."""
    image = Image.new("RGB", size, left)
    image.paste(Image.new("RGB", (size[0] // 2, size[1]), right), (size[0] // 2, 0))
    packed = io.BytesIO()
    image.save(packed, options.pop("kind", "JPEG"), quality=95, **options)
    return packed.getvalue()


def with_exif(orientation: int = 1, *, words: str = "", **options: Any) -> bytes:
    """A JPEG that says how it was held, and where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    if words:
        exif[0x010E] = words
        exif.get_ifd(0x8825)[1] = "N"
        exif.get_ifd(0x8825)[2] = (38.0, 42.0, 0.0)
    return halves(exif=exif.tobytes(), **options)


@contextmanager
def opened(data: bytes) -> Iterator[Image.Image]:
    """A picture, whatever it is."""
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        yield image


def is_like(colour: Any, wanted: tuple[int, int, int], tolerance: int = 24) -> bool:
    """Whether a pixel has about that colour: JPEG is not exact."""
    return all(abs(have - want) <= tolerance for have, want in zip(colour, wanted, strict=False))


def png_of(width: int, height: int, *, depth: int = 8, colour: int = 2, body: bytes = b"") -> bytes:
    """A PNG whose header says what we like."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")


def jpeg_claiming(width: int, height: int) -> bytes:
    """A small JPEG whose header claims another size."""
    data = bytearray(picture())
    start = data.index(b"\xff\xc0")
    data[start + 5 : start + 9] = struct.pack(">HH", height, width)
    return bytes(data)
