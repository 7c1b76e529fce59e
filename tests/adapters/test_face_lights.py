"""Strips and matrices of lights: the bytes on their bus, decoded back to what a person sees."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from appliance.adapters.face_colours import lamps
from appliance.adapters.face_glyphs import face_glyph
from appliance.adapters.face_matrix import MatrixFace
from appliance.adapters.face_strip import StripFace
from appliance.adapters.fakes.face_buses import FakeSpiBus
from appliance.adapters.spi_bus import DeviceSpiBus
from appliance.events import Activity, Emotion
from appliance.face.animator import still
from appliance.face.emotions import EMOTIONS, LightPattern
from appliance.ports import RING_LIGHTS, FaceState, Rgb
from tests.adapters.face_table import Watch, lived

RED_ONE = dataclasses.replace(
    FaceState(), ring=((255, 0, 0), *((0, 0, 0),) * (RING_LIGHTS - 1)), rgb=(255, 0, 0), brightness=1.0
)


def decoded(data: bytes) -> list[Rgb]:
    """The colours that lights take from a transfer: three bits each, high for one or two of them."""
    bits = "".join(f"{byte:08b}" for byte in data)
    before, after = len(bits) - len(bits.lstrip("0")), len(bits) - len(bits.rstrip("0"))
    assert before / 2.4 >= 80 and after / 2.4 >= 280, "microseconds of silence before and after"
    line = bits[192 : len(bits) - 720]
    symbols = [line[at : at + 3] for at in range(0, len(line), 3)]
    assert set(symbols) <= {"110", "100"}
    values = [
        int("".join("1" if symbol == "110" else "0" for symbol in symbols[at : at + 8]), 2)
        for at in range(0, len(symbols), 8)
    ]
    return [(red, green, blue) for green, red, blue in zip(*[iter(values)] * 3, strict=True)]


def strip(count: int = 16, cap: float = 0.25) -> tuple[StripFace, FakeSpiBus]:
    bus = FakeSpiBus()
    return StripFace(lambda: bus, count, brightness_cap=cap), bus


# ------------------------------------------------------------------------------------------------- the strip


@pytest.mark.parametrize("emotion", list(Emotion))
def test_the_lights_show_the_colours_of_the_table(emotion: Emotion) -> None:
    spec = EMOTIONS[emotion]
    face, bus = strip()
    for pose in lived(emotion, seconds=1.05 / spec.light_hertz if spec.light_hertz else 0.5):
        face.apply(pose)
    shown = np.array([decoded(data) for data in bus.written])
    assert shown.shape[1:] == (16, 3)
    for part, colour in enumerate(spec.rgb):
        most, least = (255 * 0.25 * (colour / 255 * share) ** 2.2 for share in (spec.brightest, spec.dimmest))
        assert shown[:, :, part].max() <= most + 1.1 and shown[:, :, part].min() >= least - 1.1
        if spec.light not in (LightPattern.FLASH, LightPattern.SHIMMER):
            assert shown[:, :, part].max() == pytest.approx(most, abs=2.5)
            assert shown[:, :, part].min() == pytest.approx(least, abs=2.5)


def test_a_running_light_runs_on_the_strip() -> None:
    face, bus = strip(cap=1.0)
    for pose in lived(Emotion.THINKING, seconds=2.1):
        face.apply(pose)
    brightest = [max(range(16), key=lambda index: colours[index][2]) for colours in map(decoded, bus.written)]
    places = [place for place, _ in itertools.groupby(brightest)]
    assert set(places) == set(range(16))
    assert all((after - before) % 16 in (0, 1) for before, after in itertools.pairwise(places))


@pytest.mark.parametrize("count", [1, 3, 8, 12, 16, 24, 60, 144])
def test_any_number_of_lights_shows_the_whole_ring(count: int) -> None:
    light = lamps(RED_ONE, count, 1.0)
    assert light.shape == (count, 3)
    assert light[:, 0].sum() == pytest.approx(count / RING_LIGHTS), "no light is lost or made"
    assert light[0, 0] > 0 and not light[:, 1:].any()


def test_a_pose_without_a_ring_lights_all_the_same() -> None:
    face, bus = strip(count=4, cap=1.0)
    face.apply(FaceState(rgb=(255, 0, 128), brightness=1.0))
    assert decoded(bus.written[0]) == [(255, 0, round(255 * (128 / 255) ** 2.2))] * 4


def test_no_light_gets_more_than_the_cap() -> None:
    face, bus = strip(count=3)
    face.apply(FaceState(rgb=(255, 255, 255), brightness=1.0))
    assert decoded(bus.written[0]) == [(64, 64, 64)] * 3


def test_at_the_end_the_strip_is_dark_and_the_bus_is_given_back() -> None:
    face, bus = strip()
    face.park()
    assert bus.written == [], "what was never lit needs no bus"
    face.apply(still(Emotion.HAPPY))
    face.park()
    assert decoded(bus.written[-1]) == [(0, 0, 0)] * 16
    face.close()
    face.close()
    assert bus.is_closed


def test_a_strip_whose_bus_fails_is_told_and_lit_again() -> None:
    face, bus = strip()
    face.apply(still(Emotion.HAPPY))
    bus.fail_next = 1
    with pytest.raises(OSError, match=r"the lights cannot be written to \(Input/output error\)"):
        face.apply(still(Emotion.SAD))
    face.apply(still(Emotion.SAD))
    assert len(bus.written) == 2


def test_a_bus_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"spidev9\.9 is not there; switch SPI on"):
        DeviceSpiBus(str(tmp_path / "spidev9.9"), 1)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="is no SPI device"):
        DeviceSpiBus(str(tmp_path / "file"), 1)


# ------------------------------------------------------------------------------------------------ the matrix


class Modules:
    """What MAX7219s in a chain show: registers of each, the first nearest to the board."""

    def __init__(self, count: int) -> None:
        self.registers: list[dict[int, int]] = [{0x0F: 1, 0x0C: 0} for _ in range(count)]

    def take(self, transfers: Sequence[bytes]) -> None:
        for data in transfers:
            assert len(data) == 2 * len(self.registers), "every transfer reaches every module"
            pairs = [data[at : at + 2] for at in range(0, len(data), 2)]
            for registers, (register, value) in zip(self.registers, reversed(pairs), strict=True):
                registers[register] = value

    def glyph(self, module: int = 0) -> tuple[int, ...]:
        registers = self.registers[module]
        assert registers[0x0F] == 0 and registers[0x09] == 0 and registers[0x0B] == 7 and registers[0x0C] == 1
        return tuple(registers[1 + row] for row in range(8))


def matrix(modules: int = 1, quarter_turns: int = 0) -> tuple[MatrixFace, FakeSpiBus, Watch]:
    bus, watch = FakeSpiBus(), Watch()
    face = MatrixFace(lambda: bus, modules, quarter_turns=quarter_turns, now_seconds=watch.now)
    return face, bus, watch


def shown(state: FaceState, modules: int = 1) -> list[tuple[int, ...]]:
    face, bus, _ = matrix(modules)
    face.apply(state)
    chain = Modules(modules)
    chain.take(bus.written)
    return [chain.glyph(module) for module in range(modules)]


def lights_apart(one: Sequence[int], other: Sequence[int]) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(one, other, strict=True))


def test_all_moods_differ_by_several_lights() -> None:
    glyphs = {emotion: shown(still(emotion))[0] for emotion in Emotion}
    for one, other in itertools.combinations(Emotion, 2):
        assert lights_apart(glyphs[one], glyphs[other]) >= 6, f"{one} and {other}"


@pytest.mark.parametrize("modules", [3, 4])
def test_all_moods_differ_on_a_chain_too(modules: int) -> None:
    assert len({tuple(shown(still(emotion), modules)) for emotion in Emotion}) == len(Emotion)


def test_a_smile_looks_like_one() -> None:
    rows = [f"{row:08b}".replace("0", ".").replace("1", "#") for row in shown(still(Emotion.HAPPY))[0]]
    assert rows == [
        "........",
        ".##..##.",
        "#..##..#",
        "........",
        "........",
        ".#....#.",
        "..####..",
        "........",
    ]


def test_every_activity_is_seen_on_every_mood() -> None:
    for emotion in Emotion:
        seen = {shown(dataclasses.replace(still(emotion), activity=activity))[0] for activity in Activity}
        # Speaking is seen by the mouth.
        assert len(seen) == len(Activity) - 1


def test_a_blink_shuts_the_eyes_and_a_word_opens_the_mouth_only() -> None:
    for emotion in Emotion:
        awake = still(emotion)
        blink = face_glyph(dataclasses.replace(awake, lid_degrees=0.0))
        word = face_glyph(dataclasses.replace(awake, mouth_open=1.0))
        assert blink[:4] == (0, 0, 0b01100110, 0) and blink[4:] == face_glyph(awake)[4:]
        assert word[:5] == face_glyph(awake)[:5] and word[5:7] != face_glyph(awake)[5:7]


def test_a_dot_runs_along_while_it_works() -> None:
    places = []
    for index in range(RING_LIGHTS):
        ring = tuple((255, 255, 255) if index == light else (0, 0, 0) for light in range(RING_LIGHTS))
        places.append(face_glyph(dataclasses.replace(FaceState(activity=Activity.WORKING), ring=ring))[7])
    assert places == [0x80 >> index // 2 for index in range(RING_LIGHTS)]


def test_eyes_are_outside_and_the_mouth_between_them() -> None:
    left, right = shown(still(Emotion.SAD), 2)
    mirrored = tuple(int(f"{row:08b}"[::-1], 2) for row in right)
    assert left == mirrored and any(left)
    assert shown(still(Emotion.SAD), 3)[0] == left and shown(still(Emotion.SAD), 3)[2] == right
    puzzled = shown(still(Emotion.CONFUSED), 2)
    assert (puzzled[0][0], puzzled[1][0]) == (0b11111100, 0b00000011), "the raised brow is on the left"
    smile, sad = shown(still(Emotion.HAPPY), 4), shown(still(Emotion.SAD), 4)
    assert smile[1:3] != sad[1:3]


def test_a_turned_module_is_turned_back() -> None:
    straight = shown(still(Emotion.CONFUSED))[0]
    for quarters in range(4):
        face, bus, _ = matrix(quarter_turns=quarters)
        face.apply(still(Emotion.CONFUSED))
        chain = Modules(1)
        chain.take(bus.written)
        picture = np.unpackbits(np.array(chain.glyph(), dtype=np.uint8)[:, None], axis=1)
        upright = np.packbits(np.rot90(picture, -quarters), axis=1)[:, 0]
        assert tuple(int(row) for row in upright) == straight


def test_a_module_that_missed_its_set_up_is_healed_within_seconds() -> None:
    face, bus, watch = matrix()
    face.apply(still(Emotion.HAPPY))
    bus.written.clear()
    face.apply(still(Emotion.HAPPY))
    assert bus.written == [], "nothing is written when nothing changed"
    watch.wait(3.0)
    face.apply(still(Emotion.HAPPY))
    chain = Modules(1)  # As after a loss of power.
    chain.take(bus.written)
    assert chain.glyph() == shown(still(Emotion.HAPPY))[0]


def test_lights_are_switched_on_only_with_a_face_on_them() -> None:
    face, bus, _ = matrix()
    face.apply(still(Emotion.HAPPY))
    assert [data[0] for data in bus.written].index(0x0C) == len(bus.written) - 1


def test_the_matrix_breathes_within_its_cap() -> None:
    face, bus, _ = matrix()
    for pose in lived(Emotion.HAPPY, seconds=3.4):
        face.apply(pose)
    assert {data[1] for data in bus.written if data[0] == 0x0A} == {3, 4}, "of 15"


def test_at_the_end_the_matrix_is_dark_and_off() -> None:
    face, bus, _ = matrix()
    face.apply(still(Emotion.HAPPY))
    face.park()
    assert bus.written[-1] == bytes((0x0C, 0))
    last = {data[0]: data[1] for data in bus.written}
    assert [last[1 + row] for row in range(8)] == [0] * 8
    face.close()
    face.close()
    assert bus.is_closed


def test_a_matrix_whose_bus_fails_is_told_and_set_up_again() -> None:
    face, bus, _ = matrix()
    face.apply(still(Emotion.HAPPY))
    bus.fail_next = 1
    with pytest.raises(OSError, match=r"the matrix cannot be written to \(Input/output error\)"):
        face.apply(still(Emotion.SAD))
    bus.written.clear()
    face.apply(still(Emotion.SAD))
    chain = Modules(1)
    chain.take(bus.written)
    assert chain.glyph() == shown(still(Emotion.SAD))[0]
