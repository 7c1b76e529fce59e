"""Pictures of strangers: each ends in a readable error, or in a correct JPEG."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from appliance.adapters.picture_maker import PillowPictures
from appliance.errors import PictureError
from appliance.ports_pictures import LARGEST_PICTURE_BYTES
from tests.pictures import BLUE, GREEN, RED, WHITE, halves, is_like, jpeg_claiming, opened, picture, png_of, with_exif


@pytest.fixture
def maker() -> PillowPictures:
    return PillowPictures()


def colour_at(data: bytes, x: float = 0.5, y: float = 0.5) -> tuple[int, ...]:
    with opened(data) as image:
        assert (image.format, image.mode) == ("JPEG", "RGB")
        pixel = image.getpixel((int(image.width * x), int(image.height * y)))
        assert isinstance(pixel, tuple)
        return pixel


# --------------------------------------------------------------------------------------------- good ones


@pytest.mark.contract("S-039", "S-042")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF"])
def test_every_common_format_becomes_a_jpeg(maker: PillowPictures, kind: str) -> None:
    data = picture(GREEN, kind=kind)
    facts = maker.look(data)
    assert facts.media_type.startswith("image/") and (facts.width_pixels, facts.height_pixels) == (64, 48)
    assert is_like(colour_at(maker.jpeg(data)), GREEN)


@pytest.mark.contract("S-041")
@pytest.mark.parametrize(("size", "wanted"), [((3000, 1000), (1536, 512)), ((100, 4000), (38, 1536)), ((9, 7), (9, 7))])
def test_a_picture_is_made_smaller_and_never_larger(
    maker: PillowPictures, size: tuple[int, int], wanted: tuple[int, int]
) -> None:
    for kind in ("JPEG", "PNG"):
        with opened(maker.jpeg(picture(size=size, kind=kind))) as image:
            assert image.size == wanted


@pytest.mark.contract("S-040")
@pytest.mark.parametrize(
    ("orientation", "red_at"),
    [
        (1, (0.2, 0.5)),
        (2, (0.8, 0.5)),
        (3, (0.8, 0.5)),
        (4, (0.2, 0.5)),
        (5, (0.5, 0.2)),
        (6, (0.5, 0.2)),
        (7, (0.5, 0.8)),
        (8, (0.5, 0.8)),
    ],
)
def test_a_picture_that_was_taken_on_its_side_is_upright(
    maker: PillowPictures, orientation: int, red_at: tuple[float, float]
) -> None:
    data = maker.jpeg(with_exif(orientation))
    assert is_like(colour_at(data, *red_at), RED)
    assert is_like(colour_at(data, 1 - red_at[0], 1 - red_at[1]), BLUE)
    large = maker.jpeg(with_exif(orientation, size=(4000, 2000)))
    assert is_like(colour_at(large, *red_at), RED)


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "AVIF", "TIFF"])
def test_other_formats_say_how_they_were_held_too(maker: PillowPictures, kind: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    packed = io.BytesIO()
    with opened(halves(kind="PNG")) as image:
        image.save(packed, kind, exif=exif)
    assert is_like(colour_at(maker.jpeg(packed.getvalue()), 0.5, 0.2), RED)


def test_where_a_picture_was_taken_is_in_no_copy(maker: PillowPictures) -> None:
    data = with_exif(words="at my home", comment=b"on my roof")
    assert not maker.look(data).is_plain and maker.look(halves()).is_plain
    copy = maker.jpeg(data)
    assert b"Exif" not in copy and b"home" not in copy and b"roof" not in copy
    assert maker.look(copy).is_plain


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (picture((0, 0, 0, 0), kind="PNG", mode="RGBA"), WHITE),
        (picture((20, 200, 20, 255), kind="PNG", mode="RGBA"), GREEN),
        (picture((0, 0), kind="PNG", mode="LA"), WHITE),
        (picture(GREEN, kind="PNG", transparency=GREEN), WHITE),
        (picture((0, 255, 255, 0), kind="JPEG", mode="CMYK"), (255, 0, 0)),
        (picture((0, 255, 255, 0), kind="TIFF", mode="CMYK"), (255, 0, 0)),
        (picture(200, kind="JPEG", mode="L"), (200, 200, 200)),
        (picture(1, kind="PNG", mode="1"), WHITE),
        (picture(0x8000, kind="PNG", mode="I;16"), (127, 127, 127)),
        (picture(0x4000, kind="TIFF", mode="I;16"), (64, 64, 64)),
        (picture(0.5, kind="TIFF", mode="F"), (127, 127, 127)),
        (picture(float("nan"), kind="TIFF", mode="F"), (0, 0, 0)),
        (picture(70_000, kind="TIFF", mode="I"), WHITE),
        (b"P2\n2 2\n255\n9 9 9 9\n", (9, 9, 9)),
    ],
)
def test_every_kind_of_colour_comes_out_right(maker: PillowPictures, data: bytes, wanted: tuple[int, int, int]) -> None:
    assert is_like(colour_at(maker.jpeg(data)), wanted, 6)


def test_a_palette_with_a_transparent_colour_is_seen_on_white(maker: PillowPictures) -> None:
    image = Image.new("P", (40, 40), 0)
    image.putpalette([*GREEN, *RED])
    image.paste(1, (20, 0, 40, 40))
    for kind in ("GIF", "PNG"):
        packed = io.BytesIO()
        image.save(packed, kind, transparency=0)
        assert is_like(colour_at(maker.jpeg(packed.getvalue()), 0.2), WHITE)
        assert is_like(colour_at(maker.jpeg(packed.getvalue()), 0.8), RED)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF", "AVIF"])
def test_of_a_moving_picture_the_first_one_counts(maker: PillowPictures, kind: str) -> None:
    frames = [Image.new("RGB", (40, 40), colour) for colour in (GREEN, RED, BLUE)]
    packed = io.BytesIO()
    frames[0].save(packed, kind, save_all=True, append_images=frames[1:])
    assert is_like(colour_at(maker.jpeg(packed.getvalue())), GREEN)


def test_a_camera_picture_with_a_second_one_behind_it_is_a_jpeg(maker: PillowPictures) -> None:
    packed = io.BytesIO()
    Image.new("RGB", (40, 40), GREEN).save(packed, "MPO", save_all=True, append_images=[Image.new("RGB", (40, 40))])
    facts = maker.look(packed.getvalue())
    assert facts.media_type == "image/jpeg" and not facts.is_plain
    assert is_like(colour_at(maker.jpeg(packed.getvalue())), GREEN)


def test_a_large_photo_is_unpacked_small(maker: PillowPictures) -> None:
    photo = picture(GREEN, (8000, 6000), quality=30)
    with opened(maker.jpeg(photo)) as image:
        assert image.size == (1536, 1152)
    assert is_like(colour_at(maker.jpeg(photo)), GREEN)
    with opened(maker.jpeg(photo, 6000)) as image:
        assert image.size == (4000, 3000), "as large as the box can bear"


# ---------------------------------------------------------------------------------------------- bad ones


@pytest.mark.parametrize(
    "data",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'><rect width='9' height='9'/></svg>",
        b"<!DOCTYPE html><script>alert(1)</script>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"SIMPLE  =                    T" + b" " * 3000,
        b"\x00" * 500,
        b"GIF89a",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"II*\x00" + b"\xff" * 40,
        b"BM" + b"\xff" * 60,
        b"RIFF\x00\x00\x00\x00WEBPVP8 ",
        b"P6\n1000000000 1000000000\n255\n",
        b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00avifmif1" + b"\x00" * 30,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_picture_is_told_in_words(maker: PillowPictures, data: bytes) -> None:
    for attempt in (maker.look, maker.jpeg):
        with pytest.raises(PictureError, match=r"picture"):
            attempt(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (png_of(12_000, 12_000, depth=1, colour=0, body=b"\0" * 18_012_000), "too many"),
        (png_of(2**31 - 1, 2**31 - 1), "too many"),
        (png_of(200_000, 10), "too many"),
        (jpeg_claiming(60_000, 60_000), "too many"),
        (picture(size=(4100, 4100), kind="PNG"), "4100 x 4100 pixels, too many"),
        (picture(size=(4600, 4600), progressive=True, quality=5), "4600 x 4600 pixels, too many"),
        (struct.pack("<6sHHBBB", b"GIF89a", 65_000, 65_000, 0, 0, 0) + b",\0\0\0\0\1\0\1\0\0\2\2D\1\0;", "too many"),
        (b"", "is empty"),
        (b"x" * (LARGEST_PICTURE_BYTES + 1), "larger than 20 MB"),
    ],
)
def test_a_bomb_is_refused_before_it_is_unpacked(maker: PillowPictures, data: bytes, words: str) -> None:
    with pytest.raises(PictureError, match=words):
        maker.jpeg(data)


def test_a_text_bomb_in_a_picture_is_refused(maker: PillowPictures) -> None:
    text = zlib.compress(b"\0" * 80_000_000)
    chunk = b"zTXt" + b"note\0\0" + text
    whole = picture(kind="PNG")
    data = whole[:33] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + whole[33:]
    with pytest.raises(PictureError):
        maker.jpeg(data)


def test_a_tile_larger_than_its_picture_is_refused(maker: PillowPictures) -> None:
    tags = [
        (256, 8),
        (257, 8),
        (258, 8),
        (259, 1),
        (262, 1),
        (277, 1),
        (322, 65_520),
        (323, 65_520),
        (324, 8),
        (325, 64),
    ]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    data = b"II*\x00" + struct.pack("<IH", 8, len(tags)) + entries + b"\0" * 100
    with pytest.raises(PictureError):
        maker.jpeg(data)


def test_a_jpeg_with_endless_passes_is_refused(maker: PillowPictures) -> None:
    whole = picture(progressive=True)
    last = whole.rindex(b"\xff\xda")
    data = whole[:-2] + whole[last:-2] * 100 + b"\xff\xd9"
    with pytest.raises(PictureError, match="very long"):
        maker.jpeg(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF"])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_half_a_picture_is_damaged(maker: PillowPictures, kind: str, part: float) -> None:
    noise = Image.effect_noise((200, 200), 90).convert("RGB")
    packed = io.BytesIO()
    noise.save(packed, kind)
    data = packed.getvalue()
    with pytest.raises(PictureError):
        maker.jpeg(data[: int(len(data) * part)])


@pytest.mark.parametrize(
    "data",
    [
        picture(GREEN) + b"PK\x03\x04 and a whole archive",
        picture(GREEN, kind="PNG") + b"<script>alert(1)</script>",
        picture(GREEN, kind="GIF") + b"%PDF-1.4",
    ],
)
def test_what_hangs_behind_a_picture_is_not_in_the_copy(maker: PillowPictures, data: bytes) -> None:
    assert not maker.look(data).is_plain
    copy = maker.jpeg(data)
    assert is_like(colour_at(copy), GREEN)
    assert copy.endswith(b"\xff\xd9") and b"script" not in copy and b"archive" not in copy and b"PDF" not in copy


def test_broken_words_about_a_picture_do_not_cost_it(maker: PillowPictures) -> None:
    good = with_exif(6)
    at = good.index(b"Exif\0\0") + 6
    broken = good[:at] + b"MM\0*\xff\xff\xff\xf0" + good[at + 8 :]
    with opened(maker.jpeg(broken)) as image:
        assert image.size == (80, 40)


def test_what_is_not_bytes_is_told_in_words(maker: PillowPictures) -> None:
    with pytest.raises(PictureError, match="as bytes, not as str"):
        maker.jpeg("picture")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ sheets


@pytest.mark.contract("S-043")
@pytest.mark.parametrize(("count", "size"), [(1, (100, 100)), (2, (200, 100)), (4, (200, 200)), (5, (300, 200))])
def test_a_sheet_has_its_pictures_in_order(maker: PillowPictures, count: int, size: tuple[int, int]) -> None:
    colours = [GREEN, RED, BLUE, RED, GREEN][:count]
    sheet = maker.sheet([picture(colour, (50, 50)) for colour in colours], 100)
    columns = size[0] // 100
    with opened(sheet) as image:
        assert image.size == size
        for index, colour in enumerate(colours):
            spot = image.getpixel((index % columns * 100 + 50, index // columns * 100 + 50))
            assert is_like(spot, colour)


def test_a_sheet_writes_a_number_on_each_place_also_where_a_picture_is_broken(maker: PillowPictures) -> None:
    sheet = maker.sheet([picture(WHITE, (400, 400)), b"broken", picture(WHITE, (400, 400))])
    with opened(sheet) as image:
        numbers = [image.crop((x, y, x + 60, y + 60)).tobytes() for x, y in ((0, 0), (400, 0), (0, 400))]
        assert is_like(image.getpixel((600, 200)), (200, 200, 200))
    assert len(set(numbers)) == 3


def test_a_sheet_of_many_is_not_larger_than_what_can_be_read_again(maker: PillowPictures) -> None:
    sheet = maker.sheet([picture()] * 100)
    assert maker.look(sheet).width_pixels <= 4096
    for count in (0, 101):
        with pytest.raises(PictureError, match="1 to 100 pictures"):
            maker.sheet([picture()] * count)
