"""Commands and answers, on the core alone: what is obeyed, what is refused and why, and that nothing is done twice."""

from __future__ import annotations

import struct

import pytest

from appliance.adapters.face_board import (
    KEY_BRIGHTNESS_CAP,
    KEY_CALIBRATE,
    KEY_JOINT,
    KEY_RESET,
    KEY_STORE,
    STORE_WORD,
    settings_crc,
    settings_entries,
)
from appliance.adapters.face_frames import REPLY, Frame, Message, Refusal
from appliance.ports_face import BoardSettings
from tests.firmware.core import Core, hello_payload

UNKNOWN = 0x5A
DEFAULT_CRC = settings_crc(BoardSettings())
FACE = struct.pack("<BBHH", 1, 255, 400, 0)


def _set(key: int, value: int) -> bytes:
    return struct.pack("<BH", key, value)


def _refusal(core: Core, message: int, payload: bytes = b"") -> Refusal:
    answer = core.ask(message, payload)
    assert answer.type == Message.NAK, answer
    return Refusal(answer.payload[0])


def _config_crc(core: Core) -> int:
    return int(struct.unpack("<9BHHI", core.hello())[10])


def test_a_greeting_is_answered_with_what_the_board_is_and_with_the_same_nonce(core: Core) -> None:
    proto, major, _minor, can, servos, lights, moods, cause, flags, _boot, crc, nonce = struct.unpack(
        "<9BHHI", core.do(Message.HELLO, hello_payload(0xCAFE0001))
    )
    assert (proto, major, can, servos, lights, moods, cause, flags) == (1, 1, 7, 5, 16, 14, 1, 0)
    assert nonce == 0xCAFE0001
    assert crc == DEFAULT_CRC, "the host could not tell whether it has the same settings"


@pytest.mark.parametrize(("lowest", "highest"), [(2, 3), (0, 0)])
def test_a_host_without_a_common_version_is_refused(core: Core, lowest: int, highest: int) -> None:
    assert _refusal(core, Message.HELLO, hello_payload(1, lowest, highest)) is Refusal.VERSION
    assert _refusal(core, Message.PING) is Refusal.NO_HELLO


def test_a_newer_host_that_still_speaks_version_1_is_welcome(core: Core) -> None:
    assert core.do(Message.HELLO, hello_payload(1, 1, 9))[0] == 1


@pytest.mark.parametrize(
    ("message", "payload"),
    [
        (Message.PING, b""), (Message.FACE, FACE), (Message.MOUTH, b"\x80"), (Message.GAZE, b"\0\0"),
        (Message.STATE, b"\1"), (Message.POSE, b"\2\xdc\5"), (Message.CONFIG, b"\1"), (Message.PARK, b""),
    ],
)  # fmt: skip
def test_nothing_is_obeyed_before_the_greeting(core: Core, message: int, payload: bytes) -> None:
    assert _refusal(core, message, payload) is Refusal.NO_HELLO
    core.run(2000)
    assert core.pulses_us == [0] * 5


def test_an_unknown_command_is_answered_and_not_ignored(core: Core) -> None:
    core.hello()
    assert _refusal(core, UNKNOWN) is Refusal.TYPE
    assert _refusal(core, 0) is Refusal.TYPE


@pytest.mark.parametrize("message", [m for m in Message if m < REPLY])
def test_a_payload_of_the_wrong_length_is_refused(core: Core, message: Message) -> None:
    core.hello()
    assert _refusal(core, message, bytes(5)) is Refusal.LENGTH


@pytest.mark.parametrize(
    ("message", "payload"),
    [
        (Message.FACE, struct.pack("<BBHH", 14, 255, 0, 0)), (Message.STATE, b"\x08"), (Message.GAZE, b"\x65\x00"),
        (Message.GAZE, b"\x00\x9b"), (Message.CONFIG, b"\x00"), (Message.CONFIG, _set(KEY_CALIBRATE, 2)),
        (Message.CONFIG, _set(KEY_STORE, 1)), (Message.CONFIG, _set(KEY_RESET, 0)), (Message.CONFIG, _set(0x3F, 0)),
        (Message.CONFIG, _set(KEY_JOINT, 499)), (Message.CONFIG, _set(KEY_JOINT + 2, 2501)),
        (Message.CONFIG, _set(KEY_JOINT + 1, 0)), (Message.CONFIG, _set(KEY_JOINT + 1, 5001)),
        (Message.CONFIG, _set(KEY_JOINT + 4, 2)), (Message.CONFIG, _set(KEY_JOINT + 6, 0)),
        (Message.CONFIG, _set(KEY_JOINT + 8 * 5, 1500)), (Message.CONFIG, _set(KEY_BRIGHTNESS_CAP, 256)),
        (Message.CONFIG, b"\xff"),
    ],
)  # fmt: skip
def test_a_value_out_of_range_is_refused_and_changes_nothing(core: Core, message: int, payload: bytes) -> None:
    core.hello()
    assert _refusal(core, message, payload) is Refusal.RANGE
    assert _config_crc(core) == DEFAULT_CRC


def test_a_pose_is_refused_when_nobody_calibrates(core: Core) -> None:
    core.hello()
    assert _refusal(core, Message.POSE, struct.pack("<BH", 2, 1500)) is Refusal.BUSY
    core.configure(KEY_CALIBRATE, 1)
    assert _refusal(core, Message.POSE, struct.pack("<BH", 5, 1500)) is Refusal.RANGE


def test_a_damaged_frame_is_answered_without_a_number(core: Core) -> None:
    core.hello()
    wire = bytearray(Frame(Message.PING, 9).packed())
    wire[3] ^= 0x20
    assert core.take(bytes(wire)) == [Frame(Message.NAK, 0, bytes((Refusal.CRC,)))]
    assert struct.unpack("<IBHHH", core.do(Message.PING))[2:4] == (1, 0), "the board does not count it"


def test_the_same_command_again_gets_the_same_answer_and_is_not_done_again(core: Core) -> None:
    core.hello()
    core.configure(KEY_BRIGHTNESS_CAP, 70)
    frame = Frame(Message.CONFIG, 200, _set(KEY_STORE, STORE_WORD))
    first = core.take(frame.packed())
    again = core.take(frame.packed() + frame.packed())
    assert again == first * 2
    assert core.stores == (1, 0)


def test_a_mouth_between_a_command_and_its_repeat_changes_nothing_about_that(core: Core) -> None:
    core.hello()
    frame = Frame(Message.CONFIG, 200, _set(KEY_STORE, STORE_WORD))
    core.take(frame.packed())
    for seq in (0, 7):
        assert core.take(Frame(Message.MOUTH, seq, b"\x90").packed()) == []
    core.take(Frame(UNKNOWN, 0).packed())
    core.take(b"\0half of a frame\0")
    core.take(frame.packed())
    assert core.stores == (1, 0)


def test_a_refusal_is_repeated_too(core: Core) -> None:
    core.hello()
    frame = Frame(Message.STATE, 5, b"\x63")
    assert core.take(frame.packed()) == core.take(frame.packed()) == [Frame(Message.NAK, 5, bytes((Refusal.RANGE,)))]


def test_another_command_under_the_same_number_is_a_new_one(core: Core) -> None:
    # A host that has restarted may begin with the number that the last one ended with.
    core.hello()
    core.take(Frame(Message.STATE, 5, b"\1").packed())
    assert core.take(Frame(Message.STATE, 5, b"\2").packed()) == [Frame(Message.STATE | REPLY, 5, b"\2")]


def test_a_command_without_a_number_is_obeyed_and_not_answered(core: Core) -> None:
    core.hello()
    store = Frame(Message.CONFIG, 0, _set(KEY_STORE, STORE_WORD)).packed()
    assert core.take(store) == []
    assert core.take(store) == []
    assert core.stores == (2, 0)


def test_what_a_terminal_with_echo_sends_back_starts_no_quarrel(core: Core) -> None:
    core.hello()
    for echoed in (Frame(Message.NAK, 0, b"\1"), Frame(Message.BOOT, 1, bytes(6)), Frame(Message.PING | REPLY, 3)):
        assert core.take(echoed.packed()) == []


def test_an_echo_does_not_pass_for_a_living_host(core: Core) -> None:
    core.hello()
    for _ in range(4):
        core.take(Frame(Message.NAK, 0, b"\1").packed())
        events = core.run(1000)
        if events:
            break
    assert [event.type for event in events] == [Message.SAFE]


def test_settings_are_told_as_they_were_set(core: Core) -> None:
    core.hello()
    wanted = {KEY_BRIGHTNESS_CAP: 200, KEY_JOINT: 1400, KEY_JOINT + 1: 925, KEY_JOINT + 8 * 4 + 5: 1}
    for key, value in wanted.items():
        core.configure(key, value)
    for key, value in wanted.items():
        assert core.do(Message.CONFIG, bytes((key,))) == _set(key, value)


def test_the_check_sum_of_the_settings_is_that_of_the_host(core: Core) -> None:
    settings = BoardSettings.read(
        {"brightness_cap": 90, "lid": {"neutral_us": 1350, "us_per_degree": 8.25, "is_reversed": True},
         "neck": {"min_us": 900, "max_us": 2100, "holds": True}}
    )  # fmt: skip
    core.hello()
    for key, value in settings_entries(settings):
        core.configure(key, value)
    assert _config_crc(core) == settings_crc(settings) != DEFAULT_CRC


def test_settings_last_over_a_restart_only_when_they_were_stored(core: Core) -> None:
    core.hello()
    core.configure(KEY_BRIGHTNESS_CAP, 70)
    core.configure(KEY_STORE, STORE_WORD)
    core.configure(KEY_BRIGHTNESS_CAP, 80)
    core.start(cause=1)
    core.hello()
    assert core.do(Message.CONFIG, bytes((KEY_BRIGHTNESS_CAP,))) == _set(KEY_BRIGHTNESS_CAP, 70)


def test_settings_can_be_forgotten(core: Core) -> None:
    core.hello()
    core.configure(KEY_BRIGHTNESS_CAP, 70)
    core.configure(KEY_RESET, STORE_WORD)
    assert _config_crc(core) == DEFAULT_CRC


def test_limits_that_exclude_each_other_are_not_stored(core: Core) -> None:
    core.hello()
    core.configure(KEY_JOINT + 2, 1800)
    core.configure(KEY_JOINT + 3, 1200)
    assert _refusal(core, Message.CONFIG, _set(KEY_STORE, STORE_WORD)) is Refusal.RANGE
    assert core.stores == (0, 0)


@pytest.mark.parametrize("at", [1, 2, 30, 51, 53])
def test_damaged_settings_are_told_and_replaced_by_safe_ones(core: Core, at: int) -> None:
    core.hello()
    core.configure(KEY_BRIGHTNESS_CAP, 70)
    core.configure(KEY_STORE, STORE_WORD)
    core.library.host_damage(0, at)
    boot, fault = core.start(cause=1)
    assert (boot.type, fault.type, fault.payload) == (Message.BOOT, Message.FAULT, b"\2")
    assert _config_crc(core) == DEFAULT_CRC


def test_a_board_from_the_factory_complains_about_nothing(core: Core) -> None:
    assert [frame.type for frame in core.start(cause=1)] == [Message.BOOT]


def test_each_start_has_a_number_of_its_own(core: Core) -> None:
    numbers = [core.start(cause=2)[0].payload[4:6] for _ in range(20)]
    assert len(set(numbers)) == 20
