"""Pictures with Pillow, for data that strangers send.

Only common formats are opened. The size is taken from the header and checked before a pixel is unpacked: a picture of a
few kilobytes may claim gigabytes. One picture is unpacked at a time, so that many calls need no more memory than one.
"""

from __future__ import annotations

import io
import logging
import math
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from appliance.errors import PictureError
from appliance.ports_pictures import CHAT_PIXELS, CHAT_QUALITY, LARGEST_PICTURE_BYTES, PictureFacts

if TYPE_CHECKING:
    from PIL import Image

_LOG = logging.getLogger(__name__)

#: Pillow's name -> media type. Others are not opened: some of them start programs, or have no limit of size.
_MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
    "PPM": "image/x-portable-anymap",
    "AVIF": "image/avif",
}
#: 64 MB as Pillow keeps it; two screens of 4K side by side.
_MOST_PIXELS = 2**24
#: A JPEG that can be unpacked line by line, and smaller than it is, may have more, but not so many that Pillow warns.
#: Of a WEBP its reader keeps several copies.
_MOST_PIXELS_OF = {"JPEG": 80_000_000, "WEBP": 2**23}
#: Each pass over a JPEG costs the time of the whole picture; cameras write about ten.
_MOST_PASSES = 60
_LONGEST_SIDE = 65_535
_MOST_CELLS = 100
_WIDEST_SHEET_PIXELS = 4096
_ORIENTATION_TAG = 0x0112
_TIFF_TILE_TAGS = (322, 323)
_BACKGROUND = (255, 255, 255)
_EMPTY_CELL = (200, 200, 200)
#: Words about a picture that may say where it was taken.
_WORDS = ("exif", "xmp", "comment", "XML:com.adobe.xmp", "Raw profile type exif", "photoshop")


class PillowPictures:
    """``PictureMaker``."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    def look(self, data: bytes) -> PictureFacts:
        with _opened(data) as image:
            return PictureFacts(_MEDIA_TYPES[_format(image)], *image.size, _is_plain(image, data))

    def jpeg(self, data: bytes, longest_pixels: int = CHAT_PIXELS, quality: int = CHAT_QUALITY) -> bytes:
        with self._one_at_a_time, _opened(data) as image:
            return _packed(_upright(image, data, longest_pixels), quality)

    def sheet(self, pictures: Sequence[bytes], cell_pixels: int = 400) -> bytes:
        from PIL import Image

        if not 1 <= len(pictures) <= _MOST_CELLS:
            raise PictureError(f"a sheet has 1 to {_MOST_CELLS} pictures, not {len(pictures)}")
        columns = math.ceil(math.sqrt(len(pictures)))
        cell = max(16, min(cell_pixels, _WIDEST_SHEET_PIXELS // columns))
        sheet = Image.new("RGB", (columns * cell, math.ceil(len(pictures) / columns) * cell), _BACKGROUND)
        for index, data in enumerate(pictures):
            left, top = index % columns * cell, index // columns * cell
            picture = self._cell(data, cell)
            sheet.paste(picture, (left + (cell - picture.width) // 2, top + (cell - picture.height) // 2))
            _write_number(sheet, index + 1, (left, top), cell)
        return _packed(sheet, CHAT_QUALITY)

    def _cell(self, data: bytes, cell: int) -> Image.Image:
        """The picture as it fits; a grey square for one that cannot be read."""
        from PIL import Image

        try:
            with self._one_at_a_time, _opened(data) as image:
                return _upright(image, data, cell)
        except PictureError:
            return Image.new("RGB", (cell, cell), _EMPTY_CELL)


# ------------------------------------------------------------------------------------------------- what comes in


@contextmanager
def _opened(data: bytes) -> Iterator[Image.Image]:
    """The picture, with nothing unpacked. Raises ``PictureError``, also for what fails inside ``with``."""
    from PIL import Image, UnidentifiedImageError

    if not isinstance(data, bytes | bytearray | memoryview):
        raise PictureError(f"a picture is given as bytes, not as {type(data).__name__}")
    if not 0 < len(data) <= LARGEST_PICTURE_BYTES:
        size = "is empty" if not data else f"is larger than {LARGEST_PICTURE_BYTES // 2**20} MB"
        raise PictureError(f"the picture {size}")
    # What Pillow only warns of, odd words about a picture, costs nothing here. Not a context: those are of one thread.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")
    try:
        with Image.open(io.BytesIO(data), formats=list(_MEDIA_TYPES)) as image:
            _check_size(image)
            yield image
    except PictureError:
        raise
    except UnidentifiedImageError as error:
        raise PictureError(f"this is not a picture that can be read here ({', '.join(_MEDIA_TYPES)})") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureError("the picture has too many pixels for this box") from error
    except Exception as error:
        # Pillow raises whatever its readers stumble over: struct.error, SyntaxError, OSError, IndexError, ...
        _LOG.info("a picture cannot be read: %s: %s", type(error).__name__, error)
        raise PictureError("the picture is damaged, or not what it says it is") from error


def _check_size(image: Image.Image) -> None:
    width, height = image.size
    most = _MOST_PIXELS_OF.get(_format(image), _MOST_PIXELS)
    if not (0 < width <= _LONGEST_SIDE and 0 < height <= _LONGEST_SIDE and width * height <= most):
        raise PictureError(f"the picture has {width} x {height} pixels, too many for this box")
    if _format(image) == "TIFF":
        # Memory is taken for a whole tile, however small the picture in it is.
        tile = [int(getattr(image, "tag_v2", {}).get(tag, 0)) for tag in _TIFF_TILE_TAGS]
        if math.prod(tile) > _MOST_PIXELS:
            raise PictureError("the picture is cut into tiles that are too large for this box")


def _format(image: Image.Image) -> str:
    """Pillow's name; what a camera writes with a second picture behind the first is a JPEG to us."""
    return "JPEG" if image.format == "MPO" else str(image.format)


def _is_plain(image: Image.Image, data: bytes) -> bool:
    endings = {"PNG": b"IEND\xaeB`\x82", "JPEG": b"\xff\xd9"}
    ending = endings.get(str(image.format))
    return ending is not None and bytes(data[-len(ending) :]) == ending and not any(map(image.info.get, _WORDS))


def _shrink_while_unpacking(image: Image.Image, data: bytes, longest_pixels: int) -> None:
    """Let a JPEG be unpacked at an eighth to a half of its size: as is still large enough, or as the box can bear."""
    if _is_one_pass(bytes(data)):
        bearable = next(part for part in (1, 2, 4, 8) if image.width * image.height <= _MOST_PIXELS * part**2)
        scale = min(1 / bearable, longest_pixels / max(image.size))
        image.draft("RGB", (math.ceil(image.width * scale), math.ceil(image.height * scale)))
    width, height = image.size
    if width * height > _MOST_PIXELS:
        raise PictureError(f"the picture has {width} x {height} pixels, too many for this box")


def _is_one_pass(data: bytes) -> bool:
    """Whether a JPEG is stored line by line with all colours together; others are kept in memory at full size.

    Raises ``PictureError`` when it has more passes than any camera writes.
    """
    # Behind FF the coded pixels have 00 or a restart mark, so that these two bytes always begin a pass.
    if data.count(b"\xff\xda") > _MOST_PASSES:
        raise PictureError("the picture is made to take very long to unpack")
    position, colours = 2, 0
    while position + 10 < len(data) and data[position] == 0xFF:
        kind, length = data[position + 1], int.from_bytes(data[position + 2 : position + 4])
        if kind in (0xC0, 0xC1):
            colours = data[position + 9]
        elif kind == 0xDA:
            return data[position + 4] == colours
        position += 1 if kind == 0xFF else 2 + length
    return False


# ------------------------------------------------------------------------------------------------- what comes out


def _upright(image: Image.Image, data: bytes, longest_pixels: int) -> Image.Image:
    """The first picture, turned as it was taken, at most so large, as RGB on white."""
    from PIL import Image

    if _format(image) == "JPEG":
        _shrink_while_unpacking(image, data, longest_pixels)
    image.load()
    picture = _in_eight_bits(image)
    scale = longest_pixels / max(picture.size)
    if scale < 1.0:
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        picture = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    turn = _turn(image)
    if turn is not None:
        picture = picture.transpose(turn)
    if picture.mode == "RGBA":
        ground = Image.new("RGB", picture.size, _BACKGROUND)
        ground.paste(picture, mask=picture.getchannel("A"))
        return ground
    return picture.convert("RGB")


def _in_eight_bits(image: Image.Image) -> Image.Image:
    """As L, RGB or RGBA."""
    if image.mode in ("PA", "LA", "La", "RGBa") or "transparency" in image.info:
        return image.convert("RGBA")
    if image.mode == "F" or image.mode.startswith("I"):
        lowest, highest = image.getextrema()
        return image.point(lambda value: value * _scale(lowest, highest)).convert("L")
    if image.mode in ("L", "RGB", "RGBA"):
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _scale(lowest: object, highest: object) -> float:
    """What brings values of more than eight bits into eight: their range is not always said."""
    top = float(highest) if isinstance(highest, int | float) and isinstance(lowest, int | float) else 0.0
    if not math.isfinite(top) or top <= 0:
        return 0.0
    if top <= 1.0:
        return 255.0
    return 1.0 if top <= 255 else 1 / 257 if top <= 65_535 else 255 / top


def _turn(image: Image.Image) -> Image.Transpose | None:
    """How a picture must be turned that was taken with the camera on its side."""
    from PIL import Image

    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    try:
        return turns.get(image.getexif().get(_ORIENTATION_TAG, 1))
    except Exception as error:
        _LOG.info("what a picture says about itself cannot be read: %s", error)
        return None


def _packed(picture: Image.Image, quality: int) -> bytes:
    picture.info = {}
    packed = io.BytesIO()
    picture.save(packed, format="JPEG", quality=max(1, min(95, quality)))
    return packed.getvalue()


def _write_number(sheet: Image.Image, number: int, corner: tuple[int, int], cell: int) -> None:
    from PIL import ImageDraw, ImageFont

    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=max(10, cell // 10))
    left, top, right, bottom = pen.textbbox((corner[0] + 6, corner[1] + 4), str(number), font=font)
    pen.rectangle((left - 6, top - 4, right + 6, bottom + 4), fill=(0, 0, 0))
    pen.text((corner[0] + 6, corner[1] + 4), str(number), fill=(255, 255, 255), font=font)
