"""The real firmware over a real serial port: simulated chip, pseudo-terminal, pyserial, and a wire that loses bytes."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from appliance.adapters.face_board import KEY_BRIGHTNESS_CAP, KEY_CALIBRATE, KEY_STORE, STORE_WORD
from appliance.adapters.face_frames import REPLY, Frame, Message, Refusal
from tests.firmware.pin_trace import Trace
from tests.firmware.rig import Board, Firmware, running_board
from tests.firmware.talk import Talker, talking

POWER, EXTERNAL, BROWN_OUT, WATCHDOG = 1, 2, 4, 8
LIGHTS_ONLY = 4
FACE = struct.pack("<BBHH", 1, 255, 100, 0)


@pytest.fixture
def talker(board: Board) -> Iterator[Talker]:
    """A host at the board's port, before the greeting."""
    with talking(board.tty) as made:
        yield made


def test_the_port_is_for_one_program_alone(board: Board, talker: Talker) -> None:
    with pytest.raises(serial.SerialException, match="exclusively lock"):
        serial.Serial(str(board.tty), 57600, exclusive=True)
    talker.hello()


def test_a_greeting_tells_who_it_is(talker: Talker) -> None:
    proto, major, _, can, servos, lights, moods, cause, flags, boot_id, *_ = talker.hello()
    assert (proto, major, can, servos, lights, moods, cause, flags) == (1, 1, 7, 5, 16, 14, POWER, 0)
    assert talker.hello(999)[9] == boot_id, "it has not restarted"


def test_a_greeting_gets_through_whatever_was_on_the_wire_before(talker: Talker) -> None:
    talker.port.write(b"\x30\x20Optiboot\r\n\x05\x02")
    talker.hello()
    talker.port.write(Frame(Message.FACE, 3, FACE).packed()[:7])
    talker.hello()


def test_every_command_is_answered(board: Board, talker: Talker) -> None:
    board.run(100)
    talker.hello()
    uptime_ms, flags, damaged, dropped, supply_mv = struct.unpack("<IBHHH", talker.do(Message.PING))
    assert uptime_ms >= 80
    assert (flags, damaged, dropped) == (0, 0, 0)
    assert supply_mv == pytest.approx(5000, rel=0.02)
    assert talker.do(Message.FACE, FACE) == b"\1"
    assert talker.do(Message.GAZE, b"\x9c\x64") == b"\x9c\x64"
    assert talker.do(Message.STATE, b"\2") == b"\2"
    assert talker.do(Message.CONFIG, struct.pack("<BH", KEY_BRIGHTNESS_CAP, 77)) == b"\1\x4d\0"
    assert talker.do(Message.CONFIG, b"\1") == b"\1\x4d\0"
    assert talker.do(Message.CONFIG, struct.pack("<BH", KEY_STORE, STORE_WORD), seconds=1.0) == b"\2\x5a\xa5"
    assert talker.do(Message.CONFIG, struct.pack("<BH", KEY_CALIBRATE, 1)) == b"\0\1\0"
    assert talker.do(Message.POSE, struct.pack("<BH", 2, 2222)) == struct.pack("<H", 2000)
    assert talker.do(Message.PARK, seconds=1.5) == b""
    talker.port.write(Frame(Message.MOUTH, 9, b"\x40").packed())
    assert talker.do(Message.PING)[4] == 2, "a mouth has no answer, and the head is parked"


def test_every_refusal_has_its_reason(talker: Talker) -> None:
    def refusal(message: int, payload: bytes = b"") -> Refusal:
        answer = talker.ask(message, payload)
        assert answer.type == Message.NAK
        return Refusal(answer.payload[0])

    assert refusal(Message.PING) is Refusal.NO_HELLO
    assert refusal(Message.HELLO, struct.pack("<BBI", 2, 9, 1)) is Refusal.VERSION
    talker.hello()
    assert refusal(Message.PING, b"\0") is Refusal.LENGTH
    assert refusal(Message.STATE, b"\x08") is Refusal.RANGE
    assert refusal(Message.POSE, struct.pack("<BH", 2, 1500)) is Refusal.BUSY
    unknown = Frame(0x33, 200).packed()
    talker.port.write(unknown)
    answered = talker.ask(Message.PING)  # it comes before this one's answer
    assert answered.type == Message.PING | REPLY
    damaged = bytearray(Frame(Message.PING, 7).packed())
    damaged[3] ^= 1
    talker.port.write(bytes(damaged))
    assert talker.unnumbered_refusal() is Refusal.CRC


@pytest.mark.parametrize(
    ("dropped", "damaged"), [(100, 0), (0, 100), (100, 100), (1000, 0), (0, 1000), (500, 500)],
    ids=lambda rate: f"{rate / 100:g}%",
)  # fmt: skip
def test_a_bad_wire_costs_time_and_nothing_else(
    face_firmware: Firmware, tmp_path: Path, dropped: int, damaged: int
) -> None:
    chance = random.Random(dropped + 3 * damaged)
    # Ten times as fast as a real board, and the host's time-outs with it.
    with (
        running_board(face_firmware, tmp_path, pace_percent=1000) as board,
        talking(board.tty, answer_seconds=0.012) as talker,
    ):
        talker.hello()
        board.command(f"noise {dropped} {damaged} {dropped + 7 * damaged}")
        for _ in range(6 if dropped + damaged <= 200 else 1):
            for _ in range(5):
                talker.insist(Message.FACE, struct.pack("<BBHH", chance.randrange(14), 255, 60, 0))
                talker.insist(Message.STATE, bytes((chance.randrange(8),)))
            talker.insist(Message.PARK, b"", seconds=0.1)
        board.command("noise 0 0 1")
        board.command("pace 100")
        # As the real adapter does: after a greeting everything is told again.
        while any(
            [
                talker.insist(Message.FACE, struct.pack("<BBHH", 10, 255, 60, 0)),
                talker.insist(Message.STATE, b"\1"),
                talker.insist(Message.PING, b""),
            ]
        ):
            pass
        board.run(300)
        trace = board.trace()
    assert any(wire.frame is None for wire in trace.got), "the wire was not bad at all"
    assert sum(pixels.bad_bits for pixels in trace.pixels) == 0
    assert [pulse for pulse in trace.pulses if not 998 <= pulse.us <= 2002] == []
    _nothing_was_done_twice(trace)
    # And in the end all is as if the wire had been good: the lights of listening, at the usual cap of a quarter.
    listening = tuple((part * 0.9) ** 2 / 255 * 64 / 255 for part in (90, 220, 255))
    assert [colour for colour in trace.pixels[-1].colours if colour != pytest.approx(listening, abs=1)] == []


def _nothing_was_done_twice(trace: Trace) -> None:
    """The same command again gets the same answer again, and at once: a second parking would take its time again."""
    heard = [(wire.at_ms, wire.frame) for wire in trace.got if wire.frame is not None and wire.frame.seq]
    ends = [at_ms for at_ms, _ in heard[1:]] + [trace.now_ms]
    first_ms = 0.0
    answers: set[Frame] = set()
    for index, ((at_ms, frame), end_ms) in enumerate(zip(heard, ends, strict=True)):
        if index == 0 or frame != heard[index - 1][1]:
            first_ms, answers = at_ms, set()
        for wire in trace.sent:
            if wire.frame is None or wire.frame.seq != frame.seq or not at_ms < wire.at_ms <= end_ms:
                continue
            if _says_nothing_of_a_command(wire.frame):
                continue
            answers.add(wire.frame)
            if frame.type == Message.PARK and wire.frame.type == Message.PARK | REPLY:
                assert wire.at_ms - first_ms < 760 or wire.at_ms - at_ms < 40
        assert len(answers) <= 1


def _says_nothing_of_a_command(frame: Frame) -> bool:
    """An event, whose number is its own; or the board parks, or had lost its host, and did not take the command."""
    if Message.BOOT <= frame.type <= Message.FAULT:
        return True
    return frame.type == Message.NAK and frame.payload[0] in (Refusal.BUSY, Refusal.NO_HELLO)


def test_the_safe_state_is_told_and_left_by_a_greeting(board: Board, talker: Talker) -> None:
    talker.hello()
    talker.face(1)
    assert talker.event(Message.SAFE).payload == b"\1"
    trace = board.trace()
    (safe,) = trace.sent_of(Message.SAFE)
    heard = max(wire.at_ms for wire in trace.got)
    assert safe.at_ms - heard == pytest.approx(2000, abs=30)
    assert talker.ask(Message.PING).payload == bytes((Refusal.NO_HELLO,))
    talker.hello(50)
    talker.face(1)
    assert talker.do(Message.PING)[4] == 0


def test_a_program_that_hangs_is_restarted_and_says_why(board: Board, talker: Talker) -> None:
    first = talker.hello()
    talker.events.clear()  # how it was switched on
    hung_ms = board.trace().now_ms
    board.command("hang")
    boot = talker.event(Message.BOOT)
    assert boot.payload[3] == WATCHDOG
    again = talker.hello(70)
    assert again[7] == WATCHDOG
    assert again[9] != first[9]
    board.command("pace 1000")
    board.run(3000)
    resets = board.trace().resets
    assert [reset.cause for reset in resets] == [POWER, WATCHDOG], "it goes on, and is not reset again and again"
    assert 900 < resets[1].at_ms - hung_ms < 1200


def test_three_brown_outs_within_a_minute_leave_the_lights_and_no_servo(board: Board, talker: Talker) -> None:
    talker.hello()
    talker.face(1)
    for _ in range(3):
        board.command("brownout")
        board.run(50)
    assert talker.event(Message.FAULT).payload == b"\1"
    since = board.trace().now_ms
    hello = talker.hello(90)
    assert (hello[7], hello[8]) == (BROWN_OUT, LIGHTS_ONLY)
    talker.face(6)
    board.run(1000)
    trace = board.trace()
    assert [pulse for pulse in trace.pulses if pulse.at_ms > since] == []
    assert max(max(colour) for colour in trace.pixels[-1].colours) > 20


def test_two_brown_outs_leave_the_servos(board: Board, talker: Talker) -> None:
    for _ in range(2):
        board.command("brownout")
        board.run(50)
    assert talker.hello()[8] == 0


@pytest.mark.parametrize("old", [False, True])
def test_a_bootloader_that_passes_the_cause_on_hides_no_fault(board: Board, talker: Talker, old: bool) -> None:
    board.command("bootloader 1")
    if old:
        board.command("external")
        assert talker.hello()[7] == EXTERNAL
    for _ in range(3):
        board.command("brownout")
        board.run(50)
    hello = talker.hello(30)
    assert (hello[7], hello[8]) == (BROWN_OUT, LIGHTS_ONLY)


def test_a_cable_that_is_pulled_and_put_back_costs_a_greeting(board: Board) -> None:
    with talking(board.tty) as talker:
        first = talker.hello()
        talker.face(1)
        board.command("unplug")
        with pytest.raises((serial.SerialException, OSError)):
            talker.event(Message.SAFE)
    board.run(2500)
    board.command("plug")
    with talking(board.tty) as talker:
        again = talker.hello(20)
        assert again[9] == first[9], "the board itself was on all the time"
        talker.face(2)
        assert talker.do(Message.PING)[4] == 0
    assert len(board.trace().sent_of(Message.SAFE)) == 1
