"""Small and large screens: their memory read back as a picture."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops

from appliance.adapters.face_oled import OledFace
from appliance.adapters.face_picture import draw_face
from appliance.adapters.face_pixels import draw_pixels
from appliance.adapters.face_screen import ScreenFace, enlarged
from appliance.adapters.fakes.face_buses import FakeI2cBus
from appliance.adapters.framebuffer import Framebuffer, Geometry, read_geometry
from appliance.events import Emotion
from appliance.face.animator import dimmed, still
from tests.adapters.face_table import Watch

ADDRESS = 0x3C
Pixel = tuple[int, tuple[int, int], tuple[int, int], tuple[int, int]]
#: How many bytes follow a command.
ARGUMENTS = {0xD5: 1, 0xA8: 1, 0xD3: 1, 0x8D: 1, 0x20: 1, 0xDA: 1, 0xD9: 1, 0xDB: 1, 0x81: 1, 0x21: 2, 0x22: 2}


class Panel(FakeI2cBus):
    """An SSD1306 as its data sheet has it; comes up with snow in its memory, switched off."""

    def __init__(self, height: int = 64) -> None:
        super().__init__()
        self.height = height
        self.lose_power()

    def lose_power(self) -> None:
        self.memory = np.random.default_rng(1).integers(0, 256, (8, 128), dtype=np.uint8)
        self.is_on = self.has_supply = False
        self.set: dict[int, int] = {}
        self.window = (0, 127, 0, 7)
        self.at = (0, 0)

    def write(self, address: int, data: bytes) -> None:
        super().write(address, data)
        assert address == ADDRESS
        if data[0] == 0x40:
            self._take_pixels(data[1:])
        else:
            assert data[0] == 0x00
            self._take_commands(list(data[1:]))

    def _take_commands(self, commands: list[int]) -> None:
        while commands:
            command = commands.pop(0)
            values = [commands.pop(0) for _ in range(ARGUMENTS.get(command, 0))]
            if command in (0xAE, 0xAF):
                self.is_on = command == 0xAF
            elif command == 0x21:
                self.window = (values[0], values[1], *self.window[2:])
            elif command == 0x22:
                self.window = (*self.window[:2], values[0], values[1])
                self.at = (self.window[0], self.window[2])
            else:
                self.set[command] = values[0] if values else 1

    def _take_pixels(self, data: bytes) -> None:
        assert self.set.get(0x20) == 0x00, "columns count up"
        first, last, page, last_page = self.window
        assert len(data) <= (last - first + 1) * (last_page - page + 1)
        for value in data:
            column, row = self.at
            self.memory[row, column] = value
            self.at = (column + 1, row) if column < last else (first, row + 1)

    @property
    def picture(self) -> Image.Image:
        assert self.is_on and self.set[0x8D] == 0x14 and self.set[0xA8] == self.height - 1
        assert self.set[0xDA] == (0x12 if self.height == 64 else 0x02)
        rows = np.unpackbits(self.memory[: self.height // 8, None], axis=1, bitorder="little").reshape(-1, 128)
        return Image.fromarray(rows.astype(bool))


def oled(height: int = 64) -> tuple[OledFace, Panel, Watch]:
    panel, watch = Panel(height), Watch()
    return OledFace(lambda: panel, height, ADDRESS, now_seconds=watch.now), panel, watch


def are_same(one: Image.Image, other: Image.Image) -> bool:
    return one.size == other.size and ImageChops.difference(one.convert("L"), other.convert("L")).getbbox() is None


# --------------------------------------------------------------------------------------------- the small one


@pytest.mark.parametrize("height", [32, 64])
@pytest.mark.parametrize("emotion", list(Emotion))
def test_the_small_screen_holds_the_picture_that_was_drawn(emotion: Emotion, height: int) -> None:
    face, panel, _ = oled(height)
    face.apply(still(Emotion.NEUTRAL))
    face.apply(still(emotion))
    assert are_same(panel.picture, draw_pixels(still(emotion), 128, height))


def test_only_the_pages_that_changed_are_written() -> None:
    face, panel, _ = oled()
    face.apply(still(Emotion.NEUTRAL))
    panel.written.clear()
    face.apply(still(Emotion.NEUTRAL))
    assert panel.written == []
    face.apply(dataclasses.replace(still(Emotion.NEUTRAL), mouth_open=0.8))
    pixels = [data for _, data in panel.written if data[0] == 0x40]
    assert 1 <= len(pixels) <= 3, "the mouth lies in the lower pages"


def test_it_is_switched_on_only_with_a_face_in_its_memory() -> None:
    face, panel, _ = oled()
    face.apply(still(Emotion.NEUTRAL))
    assert panel.written[-1] == (ADDRESS, bytes((0x00, 0xAF)))


def test_a_small_screen_whose_power_failed_shows_the_face_again() -> None:
    face, panel, watch = oled()
    face.apply(still(Emotion.HAPPY))
    panel.lose_power()
    watch.wait(10.0)
    face.apply(still(Emotion.HAPPY))
    assert are_same(panel.picture, draw_pixels(still(Emotion.HAPPY), 128, 64))


def test_in_quiet_hours_it_is_dimmer() -> None:
    face, panel, _ = oled()
    face.apply(still(Emotion.HAPPY))
    usual = panel.set[0x81]
    face.apply(dimmed(still(Emotion.HAPPY), 0.2))
    assert panel.set[0x81] == round(usual * 0.2)


def test_at_the_end_the_small_screen_is_off() -> None:
    face, panel, _ = oled()
    face.park()
    assert panel.written == []
    face.apply(still(Emotion.HAPPY))
    face.park()
    assert not panel.is_on
    face.close()
    face.close()
    assert panel.is_closed


def test_disturbed_transfers_are_repeated_and_a_dead_screen_is_told_and_found_again() -> None:
    face, panel, _ = oled()
    panel.fail_next = 2
    face.apply(still(Emotion.HAPPY))
    assert are_same(panel.picture, draw_pixels(still(Emotion.HAPPY), 128, 64))
    panel.fail_next = 3
    with pytest.raises(OSError, match=r"no chip answers at address 0x3c \(Input/output error\)"):
        face.apply(still(Emotion.SAD))
    panel.lose_power()
    face.apply(still(Emotion.SAD))
    assert are_same(panel.picture, draw_pixels(still(Emotion.SAD), 128, 64))


# --------------------------------------------------------------------------------------------- the large one

#: Bits of a pixel, then where red, green and blue lie in it.
RGB565 = (16, (11, 5), (5, 6), (0, 5))
XRGB, XBGR = (32, (16, 8), (8, 8), (0, 8)), (32, (0, 8), (8, 8), (16, 8))


def screen_file(
    tmp_path: Path, width: int, height: int, pixel: Pixel = XRGB, *, padding: int = 0, first: int = 0
) -> Geometry:
    """A framebuffer full of somebody else's picture."""
    bits, red, green, blue = pixel
    stride = width * bits // 8 + padding
    (tmp_path / "fb0").write_bytes(b"\xaa" * (first + stride * height))
    return Geometry(width, height, bits, stride, first, red, green, blue)


def picture_on(tmp_path: Path, where: Geometry) -> Image.Image:
    data = (tmp_path / "fb0").read_bytes()[where.first :]
    rows = [
        data[at * where.stride : at * where.stride + where.width * where.bits_per_pixel // 8]
        for at in range(where.height)
    ]
    pixels = np.frombuffer(b"".join(rows), dtype=np.uint16 if where.bits_per_pixel == 16 else np.uint32)
    pixels = pixels.astype(np.uint32).reshape(where.height, where.width)
    parts = [
        (pixels >> start & (1 << length) - 1) * 255 // ((1 << length) - 1)
        for start, length in (where.red, where.green, where.blue)
    ]
    return Image.fromarray(np.dstack(parts).astype(np.uint8))


@pytest.mark.parametrize(("pixel", "tolerance"), [(RGB565, 8), (XRGB, 0), (XBGR, 0)])
@pytest.mark.parametrize(("width", "height"), [(320, 240), (240, 320), (800, 480)])
def test_the_screen_shows_the_face_in_its_middle(
    tmp_path: Path, width: int, height: int, pixel: Pixel, tolerance: int
) -> None:
    where = screen_file(tmp_path, width, height, pixel, padding=64, first=128)
    face = ScreenFace(lambda: Framebuffer(str(tmp_path / "fb0"), where))
    face.apply(still(Emotion.HAPPY))
    side = min(width, height)
    wanted = Image.new("RGB", (width, height))
    wanted.paste(
        enlarged(draw_face(still(Emotion.HAPPY), 240, is_quick=True), side), ((width - side) // 2, (height - side) // 2)
    )
    apart = np.asarray(ImageChops.difference(picture_on(tmp_path, where), wanted))
    assert apart.max() <= tolerance
    assert (tmp_path / "fb0").stat().st_size == where.first + where.stride * height, "nothing beyond the screen"


def test_what_lies_between_the_rows_and_before_them_is_left_alone(tmp_path: Path) -> None:
    where = screen_file(tmp_path, 320, 240, RGB565, padding=64, first=128)
    face = ScreenFace(lambda: Framebuffer(str(tmp_path / "fb0"), where))
    face.apply(still(Emotion.HAPPY))
    face.park()
    data = (tmp_path / "fb0").read_bytes()
    assert data[:128] == b"\xaa" * 128
    assert data[128:].count(0xAA) == 64 * 240


def test_at_the_end_the_screen_is_black(tmp_path: Path) -> None:
    where = screen_file(tmp_path, 320, 240)
    face = ScreenFace(lambda: Framebuffer(str(tmp_path / "fb0"), where))
    face.park()
    assert (tmp_path / "fb0").read_bytes().count(0) == 0, "what never showed a face is left as it is"
    face.apply(still(Emotion.HAPPY))
    face.park()
    face.close()
    face.close()
    assert not any((tmp_path / "fb0").read_bytes())


def test_the_same_pose_is_drawn_once(tmp_path: Path) -> None:
    where = screen_file(tmp_path, 320, 240)
    face = ScreenFace(lambda: Framebuffer(str(tmp_path / "fb0"), where))
    face.apply(still(Emotion.HAPPY))
    (tmp_path / "fb0").write_bytes(b"\xaa" * where.stride * where.height)
    face.apply(still(Emotion.HAPPY))
    assert (tmp_path / "fb0").read_bytes().count(0xAA) == where.stride * where.height


def test_a_screen_that_goes_away_is_found_again(tmp_path: Path) -> None:
    where = screen_file(tmp_path, 320, 240)
    opened: list[Framebuffer] = []

    def open_screen() -> Framebuffer:
        opened.append(Framebuffer(str(tmp_path / "fb0"), where))
        return opened[-1]

    face = ScreenFace(open_screen)
    face.apply(still(Emotion.HAPPY))
    opened[0].close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        face.apply(still(Emotion.SAD))
    face.apply(still(Emotion.SAD))
    assert len(opened) == 2
    face.close()


def test_a_screen_that_is_none_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"fb0 is not there; is a screen connected\? face\.screen_device names it"):
        Framebuffer(str(tmp_path / "fb0"))
    (tmp_path / "fb0").touch()
    with pytest.raises(OSError, match=r"fb0 is no screen .*face\.screen_device"):
        Framebuffer(str(tmp_path / "fb0"))


def kernel_answers(bits: int = 16, *, left: int = 0, top: int = 0) -> tuple[bytes, bytes]:
    """What the two questions to the kernel give for 480 x 320."""
    parts = (part for start, length in RGB565[1:] for part in (start, length, 0))
    variable = struct.pack("=8I12I80x", 480, 320, 480, 640, left, top, bits, 0, *parts, 0, 0, 0)
    fixed = struct.pack("@16sLIIIIHHHILII2H", b"fb", 0, 0, 0, 0, 0, 1, 1, 0, 1024, 0, 0, 0, 0, 0)
    return variable, fixed


def test_the_kernel_says_how_the_pixels_lie() -> None:
    variable, fixed = kernel_answers(left=8, top=320)
    assert len(variable) == 160
    assert read_geometry(variable, fixed) == Geometry(480, 320, 16, 1024, 320 * 1024 + 16, *RGB565[1:])


def test_a_screen_with_other_pixels_is_refused() -> None:
    with pytest.raises(OSError, match="it has 8 bits for a pixel"):
        read_geometry(*kernel_answers(bits=8))
