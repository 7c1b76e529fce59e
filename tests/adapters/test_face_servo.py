"""Servos: when they get pulses and which, whatever makes them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from appliance.adapters.face_servo import ServoFace
from appliance.adapters.face_servo_gpio import GpioServos
from appliance.adapters.face_servo_kernel import KernelServos
from appliance.adapters.fakes.face_buses import FakePulseFiles, fake_pins
from appliance.events import Emotion
from appliance.face.animator import still
from appliance.ports import FacePart
from appliance.ports_face import JOINTS, BoardSettings, JointSettings
from tests.adapters.face_table import Watch, apply_for, table_pulses_us

PINS = dict(zip(JOINTS, ("GPIO5", "GPIO6", "GPIO12", "GPIO13", "GPIO16"), strict=True))


class FakePulses:
    """Remembers what it was told, with the time."""

    def __init__(self, watch: Watch, joints: Sequence[str] = JOINTS) -> None:
        self.joints = joints
        self.told: list[tuple[float, dict[str, float | None]]] = []
        self.opened = 0
        self.is_gone = False
        self._watch = watch

    def open(self) -> None:
        self.opened += 1

    def send(self, pulses_us: Mapping[str, float | None]) -> None:
        if self.is_gone:
            raise OSError(5, "Input/output error")
        self.told.append((self._watch.now(), dict(pulses_us)))

    def close(self) -> None:
        """Nothing is held."""

    @property
    def last(self) -> dict[str, float | None]:
        return self.told[-1][1]


def head(settings: BoardSettings | None = None) -> tuple[ServoFace, FakePulses, Watch]:
    watch = Watch()
    pulses = FakePulses(watch)
    face = ServoFace("servo", pulses, settings or BoardSettings(), now_seconds=watch.now, pause=watch.wait)
    return face, pulses, watch


@pytest.mark.parametrize("emotion", list(Emotion))
def test_each_mood_has_the_angles_of_the_table(emotion: Emotion) -> None:
    face, pulses, watch = head()
    apply_for(face.apply, watch, still(emotion), 0.8)
    started = [told for _, told in pulses.told if all(told.values())]
    assert started, "all five move at the same time for a moment"
    assert started[-1] == pytest.approx(table_pulses_us(emotion), abs=0.5)


def test_the_servos_start_one_after_the_other() -> None:
    face, pulses, watch = head()
    began = watch.now() + 0.04
    apply_for(face.apply, watch, still(Emotion.HAPPY), 0.8)
    first = {joint: next(at for at, told in pulses.told if told[joint] is not None) - began for joint in JOINTS}
    assert list(first) == list(JOINTS)
    assert list(first.values()) == pytest.approx([0.0, 0.16, 0.32, 0.48, 0.64], abs=0.001)


def test_pulses_stop_when_a_servo_has_arrived_and_come_back_when_it_moves() -> None:
    face, pulses, watch = head()
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 2.0)
    assert set(pulses.last.values()) == {None}
    moved = dataclasses.replace(still(Emotion.NEUTRAL), lid_degrees=0.0)
    apply_for(face.apply, watch, moved, 0.04)
    assert pulses.last == {**dict.fromkeys(JOINTS), "lid": 1500.0}
    apply_for(face.apply, watch, moved, 0.6)
    assert pulses.last["lid"] == 1500.0
    apply_for(face.apply, watch, moved, 0.2)
    assert pulses.last["lid"] is None


def test_a_joint_that_bears_a_weight_keeps_its_pulses() -> None:
    face, pulses, watch = head(BoardSettings(neck=JointSettings(holds=True)))
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 5.0)
    assert pulses.last == {**dict.fromkeys(JOINTS), "neck": 1500.0}


def test_the_settings_of_the_head_turn_and_limit_a_joint() -> None:
    settings = BoardSettings(lid=JointSettings(neutral_us=1400, us_per_degree=5, is_reversed=True, min_us=1250))
    face, pulses, watch = head(settings)
    apply_for(face.apply, watch, dataclasses.replace(still(Emotion.NEUTRAL), lid_degrees=20.0), 0.4)
    assert pulses.last["lid"] == 1300.0
    apply_for(face.apply, watch, dataclasses.replace(still(Emotion.NEUTRAL), lid_degrees=60.0), 0.04)
    assert pulses.last["lid"] == 1250.0


def test_a_word_moves_the_mouth_and_nothing_else() -> None:
    face, pulses, watch = head()
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.7)
    before = pulses.last
    apply_for(face.apply, watch, dataclasses.replace(still(Emotion.NEUTRAL), mouth_open=1.0), 0.04)
    changed = {joint for joint in JOINTS if pulses.last[joint] != before[joint]}
    assert changed == {"mouth"} or changed == {"mouth", "brow_left"}, "a brow may just have been let go"
    assert pulses.last["mouth"] == 1500 + 20 - 100


def test_the_head_eases_to_rest_and_is_let_go() -> None:
    face, pulses, watch = head()
    apply_for(face.apply, watch, still(Emotion.EXCITED), 1.0)
    began = watch.now()
    face.park()
    assert watch.now() - began < 1.0
    lids = [told["lid"] for at, told in pulses.told if at >= began and told["lid"] is not None]
    assert lids[-1] == 1700.0, "half closed"
    steps = [abs(after - before) for before, after in itertools.pairwise(lids)]
    assert max(steps) < 300 * 0.02 * 10, "never faster than 300 degrees a second"
    rests = [told for at, told in pulses.told if told["neck"] is not None]
    assert rests[-1]["neck"] == 1420.0, "down, where it falls by itself"
    assert [set(told.values()) for _, told in pulses.told[-2:]] == [{None}, {None}]


def test_a_head_that_was_never_shown_is_not_moved_by_parking() -> None:
    face, pulses, _ = head()
    face.park()
    face.close()
    assert pulses.told == [] and pulses.opened == 0


def test_a_device_that_goes_away_is_opened_again_by_the_next_pose() -> None:
    face, pulses, watch = head()
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.2)
    pulses.is_gone = True
    with pytest.raises(OSError, match="Input/output"):
        face.apply(still(Emotion.NEUTRAL))
    pulses.is_gone = False
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.12)
    assert pulses.opened == 2
    assert [joint for joint, pulse in pulses.last.items() if pulse] == ["brow_left"], "one after the other again"


def test_it_says_which_parts_it_has() -> None:
    watch = Watch()
    pulses = FakePulses(watch, ("lid", "mouth"))
    assert ServoFace("servo", pulses, BoardSettings()).parts == {FacePart.LIDS, FacePart.MOUTH}


# -------------------------------------------------------------------------------------- the kernel's pulses


@pytest.fixture
def files(tmp_path: Path) -> FakePulseFiles:
    return FakePulseFiles(tmp_path, channels=5)


def kernel_face(files: FakePulseFiles, watch: Watch, chip: str = "") -> ServoFace:
    channels = {joint: index for index, joint in enumerate(JOINTS)}
    servos = KernelServos(channels, chip, folder=files.chip.parent, files=files, pause=watch.wait)
    return ServoFace("servo", servos, BoardSettings(), now_seconds=watch.now, pause=watch.wait)


@pytest.mark.parametrize("emotion", list(Emotion))
def test_the_kernel_is_told_the_pulses_of_the_table_in_nanoseconds(files: FakePulseFiles, emotion: Emotion) -> None:
    watch = Watch()
    apply_for(kernel_face(files, watch).apply, watch, still(emotion), 0.68)
    told = {joint: int(files.of(index)["duty_cycle"]) / 1000 for index, joint in enumerate(JOINTS)}
    assert told == pytest.approx(table_pulses_us(emotion), abs=0.5)
    assert {files.of(index)["period"] for index in range(5)} == {"20000000"}


def test_a_channel_begins_with_its_pulse_and_ends_with_an_empty_one(files: FakePulseFiles) -> None:
    watch = Watch()
    apply_for(kernel_face(files, watch).apply, watch, still(Emotion.NEUTRAL), 2.0)
    of_lid = [(file.partition("/")[2], text) for file, text in files.written if file.startswith("pwm2/")]
    assert of_lid == [
        ("period", "20000000"),
        ("duty_cycle", "1900000"),
        ("enable", "1"),
        ("duty_cycle", "0"),
        ("enable", "0"),
    ]


def test_the_empty_pulse_gets_its_time_before_the_channel_goes_off(files: FakePulseFiles) -> None:
    watch = Watch()
    face = kernel_face(files, watch)
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.04)
    while files.of(0)["duty_cycle"] != "0":
        apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.04)
    assert files.of(0)["enable"] == "1"
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.04)
    assert files.of(0)["enable"] == "0"


def test_what_another_program_left_running_is_ended_first(files: FakePulseFiles) -> None:
    files.write(files.chip / "export", "2")
    for name, text in (("period", "30000000"), ("polarity", "inversed"), ("duty_cycle", "25000000"), ("enable", "1")):
        files.write(files.chip / "pwm2" / name, text)
    watch = Watch()
    apply_for(kernel_face(files, watch).apply, watch, still(Emotion.NEUTRAL), 0.4)
    assert files.of(2) == {"period": "20000000", "duty_cycle": "1900000", "enable": "1", "polarity": "normal"}


def test_at_the_end_no_channel_is_left_on_or_taken(files: FakePulseFiles) -> None:
    watch = Watch()
    face = kernel_face(files, watch)
    apply_for(face.apply, watch, still(Emotion.HAPPY), 0.7)
    face.park()
    assert {files.of(channel)["enable"] for channel in range(5)} == {"0"}
    face.close()
    face.close()
    assert list(files.chip.glob("pwm[0-9]*")) == []


def test_the_fan_is_never_taken_for_a_servo(tmp_path: Path) -> None:
    fan = FakePulseFiles(tmp_path, device="1f0009c000.pwm", number=0)
    watch = Watch()
    with pytest.raises(OSError, match=r"no pulse generator for the pins.*dtoverlay=pwm-2chan.*1f0009c000\.pwm"):
        kernel_face(fan, watch).apply(still(Emotion.NEUTRAL))
    pins = FakePulseFiles(tmp_path, number=6, channels=5)
    apply_for(kernel_face(pins, watch).apply, watch, still(Emotion.NEUTRAL), 0.1)
    assert fan.written == [] and pins.of(0)["enable"] == "1"


def test_another_generator_can_be_named(tmp_path: Path) -> None:
    own = FakePulseFiles(tmp_path, device="pwm_gpio@0", number=3, channels=5)
    watch = Watch()
    apply_for(kernel_face(own, watch, "pwm_gpio@0").apply, watch, still(Emotion.NEUTRAL), 0.1)
    assert own.of(0)["enable"] == "1"
    with pytest.raises(OSError, match="no pulse generator called nothing"):
        kernel_face(own, watch, "nothing").apply(still(Emotion.NEUTRAL))


def test_a_channel_that_the_board_lacks_is_named_and_the_others_are_given_back(tmp_path: Path) -> None:
    files = FakePulseFiles(tmp_path, channels=2)
    with pytest.raises(OSError, match=r"channel 2 of .*pwmchip0 cannot be used \(No such device\)"):
        kernel_face(files, Watch()).apply(still(Emotion.NEUTRAL))
    assert list(files.chip.glob("pwm[0-9]*")) == []


def test_a_new_channel_that_is_not_ours_yet_is_waited_for(files: FakePulseFiles) -> None:
    watch = Watch()
    files.forbidden_next = 3
    began = watch.now()
    kernel_face(files, watch).apply(still(Emotion.NEUTRAL))
    assert watch.now() - began == pytest.approx(0.15)
    assert files.of(0)["enable"] == "1"


def test_channels_that_never_become_ours_are_told_and_given_back(files: FakePulseFiles) -> None:
    files.forbidden_next = 1000
    with pytest.raises(OSError, match="may not be written; add the user to the group gpio"):
        kernel_face(files, Watch()).apply(still(Emotion.NEUTRAL))
    assert list(files.chip.glob("pwm[0-9]*")) == []


def test_a_kernel_that_fails_in_between_is_taken_again(files: FakePulseFiles) -> None:
    watch = Watch()
    face = kernel_face(files, watch)
    apply_for(face.apply, watch, still(Emotion.NEUTRAL), 0.4)
    files.fail_next = 1
    with pytest.raises(OSError, match=r"the servo of .* cannot be set \(Input/output error\)"):
        apply_for(face.apply, watch, still(Emotion.ANGRY), 0.04)
    apply_for(face.apply, watch, still(Emotion.ANGRY), 0.68)
    assert int(files.of(2)["duty_cycle"]) / 1000 == pytest.approx(table_pulses_us(Emotion.ANGRY)["lid"], abs=0.5)


# ---------------------------------------------------------------------------------------- pulses in software


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    factory = fake_pins()
    yield factory
    factory.close()
    factory.reset()


@pytest.mark.parametrize("emotion", list(Emotion))
def test_pins_get_the_duties_of_the_table(pins: MockFactory, emotion: Emotion) -> None:
    watch = Watch()
    face = ServoFace("servo", GpioServos(PINS, lambda: pins), BoardSettings(), now_seconds=watch.now, pause=watch.wait)
    apply_for(face.apply, watch, still(emotion), 0.68)
    for joint, pulse_us in table_pulses_us(emotion).items():
        pin: MockPWMPin = pins.pin(PINS[joint])
        assert pin.frequency == 50
        assert pin.state == pytest.approx(pulse_us / 20_000, abs=0.0001)
    face.park()
    assert {pins.pin(pin).frequency for pin in PINS.values()} == {None}
    face.close()
    assert {pins.pin(pin).function for pin in PINS.values()} == {"input"}


def test_the_pin_of_a_servo_that_somebody_else_has_is_named(pins: MockFactory) -> None:
    taken = GpioServos({"lid": "GPIO12"}, lambda: pins)
    taken.open()
    with pytest.raises(OSError, match=r"pin GPIO12 cannot drive a servo: .*in use.*face\.servo_joints"):
        GpioServos(PINS, lambda: pins).open()
    taken.close()
