"""The adapter that ships drives the firmware that ships, on a simulated chip, and its pins show what the table says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.adapters.face_frames import Message
from appliance.adapters.face_serial import SerialFace
from appliance.adapters.serial_port import serial_port
from appliance.clock import SystemClock
from appliance.events import Activity, Emotion
from appliance.face.animator import still
from appliance.face.emotions import EMOTIONS, known_to
from appliance.ports import FaceState
from appliance.ports_face import BoardSettings, JointSettings
from tests.firmware.rig import Board, Firmware, running_board

#: Only for a fault: a board is found again in a second or two.
_PATIENCE_SECONDS = 60.0

SETTINGS = BoardSettings(brightness_cap=255, neck=JointSettings(holds=True))


@contextmanager
def face_on_board(firmware: Firmware, folder: Path) -> Iterator[tuple[SerialFace, Board]]:
    """The adapter on a board that was just switched on."""
    with running_board(firmware, folder) as board:
        face = SerialFace(
            "board",
            lambda: serial_port(str(board.tty)),
            SystemClock(),
            moods=list(EMOTIONS),
            known_mood=known_to,
            settings=SETTINGS,
        )
        try:
            yield face, board
        finally:
            face.close()


def keep_showing(face: SerialFace, state: FaceState, *, until: Callable[[], bool] = lambda: True) -> int:
    """Show a pose, again after every failure as the stage does, until something is so; how often it failed."""
    failures, deadline = 0, time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            face.apply(state)
        except OSError:
            failures += 1
            continue
        if until():
            return failures
    raise TimeoutError("the board never got there")


def lit_of(board: Board) -> tuple[tuple[int, int, int], ...]:
    return board.trace().pixels[-1].colours


def test_every_mood_moves_the_head_and_lights_it_as_the_table_says(face_firmware: Firmware, tmp_path: Path) -> None:
    with face_on_board(face_firmware, tmp_path) as (face, board):
        for emotion in (Emotion.NEUTRAL, Emotion.ANGRY, Emotion.SURPRISED, Emotion.DETERMINED):
            keep_showing(face, still(emotion))
            start = board.trace().now_ms
            keep_showing(face, still(emotion), until=lambda since=start: board.trace().now_ms > since + 1800)
            neck = board.trace().pulses_of(4)[-1].us
            # A nod or a sway may still be on its last degree.
            assert neck == pytest.approx(1500 + 10 * still(emotion).neck_degrees, abs=6), emotion
            red, green, blue = max(lit_of(board), key=sum)
            strongest = max(range(3), key=lambda part: EMOTIONS[emotion].rgb[part])
            assert max(red, green, blue) == (red, green, blue)[strongest], emotion


@pytest.mark.parametrize("lost_or_damaged", [100, 1000], ids=["1 %", "10 %"])
def test_a_bad_cable_does_not_keep_it_from_the_latest_state(
    face_firmware: Firmware, tmp_path: Path, lost_or_damaged: int
) -> None:
    with face_on_board(face_firmware, tmp_path) as (face, board):
        keep_showing(face, still(Emotion.NEUTRAL))
        board.command(f"noise {lost_or_damaged // 2} {lost_or_damaged // 2} 11")
        for emotion in (Emotion.HAPPY, Emotion.SAD, Emotion.ANGRY):
            keep_showing(face, still(emotion, Activity.WORKING))
        board.command("noise 0 0 1")
        keep_showing(face, still(Emotion.ANGRY, Activity.MUTED))
        start = board.trace().now_ms
        keep_showing(face, still(Emotion.ANGRY, Activity.MUTED), until=lambda: board.trace().now_ms > start + 500)
        lit = [index for index, colour in enumerate(lit_of(board)) if any(colour)]
        taken = [wire.frame.payload[0] for wire in board.trace().sent_of(Message.FACE | 0x80) if wire.frame]
    assert taken[-1] == 5
    assert lit == [7, 8, 9]  # muted: a bar at the bottom


def test_a_cable_that_is_pulled_and_put_back_brings_the_face_back(face_firmware: Firmware, tmp_path: Path) -> None:
    with face_on_board(face_firmware, tmp_path) as (face, board):
        keep_showing(face, still(Emotion.HAPPY))
        board.command("unplug")
        with pytest.raises(OSError, match="board"):
            for _ in range(100):
                face.apply(still(Emotion.HAPPY))
        board.run(2500)
        safe = board.trace().sent_of(Message.SAFE)
        board.command("plug")
        keep_showing(face, still(Emotion.SAD))
        faces = [wire.frame.payload[0] for wire in board.trace().sent_of(Message.FACE | 0x80) if wire.frame]
    assert len(safe) == 1  # it took care of itself meanwhile
    assert faces[-1] == 3


def test_a_chip_that_hangs_restarts_and_gets_everything_again(face_firmware: Firmware, tmp_path: Path) -> None:
    with face_on_board(face_firmware, tmp_path) as (face, board):
        keep_showing(face, still(Emotion.HAPPY, Activity.LISTENING))
        board.command("hang")
        greeted = len(board.trace().sent_of(Message.HELLO | 0x80))
        failures = keep_showing(
            face,
            still(Emotion.HAPPY, Activity.LISTENING),
            until=lambda: len(board.trace().sent_of(Message.HELLO | 0x80)) > greeted,
        )
        trace = board.trace()
    assert failures >= 1
    after = [wire for wire in trace.sent if wire.at_ms > trace.resets[-1].at_ms and wire.frame]
    kinds = [wire.frame.type for wire in after if wire.frame]
    assert kinds.index(Message.BOOT) < kinds.index(Message.HELLO | 0x80) < kinds.index(Message.FACE | 0x80)


def test_at_the_end_the_head_is_at_rest_dark_and_without_pulses(face_firmware: Firmware, tmp_path: Path) -> None:
    with face_on_board(face_firmware, tmp_path) as (face, board):
        keep_showing(face, still(Emotion.EXCITED))
        start = board.trace().now_ms
        keep_showing(face, still(Emotion.EXCITED), until=lambda: board.trace().now_ms > start + 500)
        face.park()
        parked_ms = board.trace().now_ms
        board.run(500)
        trace = board.trace()
    assert not [pulse for pulse in trace.pulses if pulse.at_ms > parked_ms + 30]
    assert all(colour == (0, 0, 0) for colour in trace.pixels[-1].colours)
