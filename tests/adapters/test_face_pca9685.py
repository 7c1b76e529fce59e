"""The servo chip: its registers, read back as pulses."""

from __future__ import annotations

import dataclasses
import logging

import pytest

from appliance.adapters.face_pca9685 import Pca9685
from appliance.adapters.face_servo import ServoFace
from appliance.adapters.fakes.face_buses import FakeI2cBus
from appliance.adapters.i2c_bus import DeviceI2cBus
from appliance.events import Emotion
from appliance.face.animator import still
from appliance.ports_face import JOINTS, BoardSettings
from tests.adapters.face_table import Watch, apply_for, table_pulses_us

ADDRESS = 0x40
SLEEP, AUTO_INCREMENT = 0x10, 0x20


class Chip(FakeI2cBus):
    """Its registers, as the data sheet has them; ``pulse_us`` is what a servo would get."""

    def __init__(self) -> None:
        super().__init__()
        self.lose_power()

    def lose_power(self) -> None:
        self.registers = {(ADDRESS, 0x00): SLEEP | 0x01, (ADDRESS, 0xFE): 30}

    def write(self, address: int, data: bytes) -> None:
        before = self.registers.get((ADDRESS, 0x00), 0)
        assert len(data) == 2 or before & AUTO_INCREMENT, "several registers at once need the counting"
        assert data[0] != 0xFE or before & SLEEP, "the divisor can be set only asleep"
        super().write(address, data)
        if data[0] == 0xFD:
            for output in range(16):
                self.registers[ADDRESS, 0x09 + 4 * output] = data[1]

    def pulse_us(self, output: int) -> float | None:
        on_low, on_high, off_low, off_high = (self.registers.get((ADDRESS, 6 + 4 * output + at), 0) for at in range(4))
        if off_high & 0x10 or self.registers[ADDRESS, 0x00] & SLEEP:
            return None
        period_us = (self.registers[ADDRESS, 0xFE] + 1) * 4096 / 25.0
        return ((off_low | off_high << 8) - (on_low | on_high << 8)) / 4096 * period_us


def chip_face() -> tuple[ServoFace, Chip, Watch]:
    chip, watch = Chip(), Watch()
    outputs = {joint: index for index, joint in enumerate(JOINTS)}
    pulses = Pca9685(lambda: chip, outputs, now_seconds=watch.now, pause=watch.wait)
    return ServoFace("pca9685", pulses, BoardSettings(), now_seconds=watch.now, pause=watch.wait), chip, watch


@pytest.mark.parametrize("emotion", list(Emotion))
def test_each_mood_has_the_pulses_of_the_table(emotion: Emotion) -> None:
    face, chip, watch = chip_face()
    apply_for(face.apply, watch, still(emotion), 0.68)
    told = {joint: chip.pulse_us(index) for index, joint in enumerate(JOINTS)}
    assert told == pytest.approx(table_pulses_us(emotion), abs=5.0), "a step is 4.9 microseconds"


def test_it_makes_fifty_pulses_a_second() -> None:
    face, chip, watch = chip_face()
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.1)
    assert 25e6 / 4096 / (chip.registers[ADDRESS, 0xFE] + 1) == pytest.approx(50, rel=0.005)


def test_what_the_chip_still_did_is_ended_before_anything_else() -> None:
    face, chip, _ = chip_face()
    face.apply(still(Emotion.NEUTRAL))
    assert chip.written[0] == (ADDRESS, bytes((0xFD, 0x10)))
    wake = chip.written.index((ADDRESS, bytes((0x00, AUTO_INCREMENT))))
    assert all(data[0] not in range(6, 0x46) for _, data in chip.written[:wake]), "no pulse before it is awake"


def test_a_servo_at_rest_is_switched_off_not_sent_to_zero() -> None:
    face, chip, watch = chip_face()
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 2.0)
    assert [chip.pulse_us(output) for output in range(5)] == [None] * 5


def test_only_what_changed_is_written() -> None:
    face, chip, watch = chip_face()
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 2.0)
    chip.written.clear()
    apply_for(face.apply, watch, dataclasses.replace(still(Emotion.NEUTRAL), lid_degrees=10.0), 0.4)
    assert [data[0] for _, data in chip.written] == [6 + 4 * 2]


def test_a_chip_whose_power_failed_is_set_up_again(caplog: pytest.LogCaptureFixture) -> None:
    face, chip, watch = chip_face()
    apply_for(face.apply, watch, still(Emotion.HAPPY), 0.68)
    chip.lose_power()
    with caplog.at_level(logging.WARNING):
        apply_for(face.apply, watch, dataclasses.replace(still(Emotion.HAPPY), lid_degrees=50.0), 1.04)
    assert "has restarted" in caplog.text
    assert 25e6 / 4096 / (chip.registers[ADDRESS, 0xFE] + 1) == pytest.approx(50, rel=0.005)
    apply_for(face.apply, watch, dataclasses.replace(still(Emotion.HAPPY), lid_degrees=30.0), 0.04)
    assert chip.pulse_us(2) == pytest.approx(1800, abs=5)


def test_at_the_end_it_is_off_and_the_bus_is_given_back() -> None:
    face, chip, watch = chip_face()
    apply_for(face.apply, watch, still(Emotion.HAPPY), 0.7)
    face.park()
    assert [chip.pulse_us(output) for output in range(5)] == [None] * 5
    face.close()
    face.close()
    assert chip.is_closed


def test_one_disturbed_transfer_is_nothing_and_a_dead_chip_is_told_and_found_again() -> None:
    face, chip, watch = chip_face()
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.7)
    chip.fail_next = 2
    apply_for(face.apply, watch, still(Emotion.SAD), 0.04)
    assert chip.fail_next == 0
    chip.fail_next = 6
    with pytest.raises(OSError, match=r"no chip answers at address 0x40 \(Input/output error\); check its wires"):
        apply_for(face.apply, watch, still(Emotion.ANGRY), 0.04)
    apply_for(face.apply, watch, still(Emotion.ANGRY), 0.68)
    assert chip.pulse_us(2) == pytest.approx(table_pulses_us(Emotion.ANGRY)["lid"], abs=5)


def test_a_bus_that_is_not_there_says_what_to_do() -> None:
    with pytest.raises(OSError, match=r"/dev/i2c-99 is not there; switch I2C on .*face\.i2c_bus"):
        DeviceI2cBus(99)
