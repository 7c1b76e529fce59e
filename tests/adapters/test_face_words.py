"""What goes over the wire to a board, in words for the person who looks at it."""

from __future__ import annotations

import logging
import struct

import pytest

from appliance.adapters.face_frames import REPLY, Frame, Message, Refusal
from appliance.adapters.face_link import FaceLink
from appliance.adapters.face_words import described, event_words
from appliance.events import Emotion
from appliance.face.emotions import EMOTIONS
from appliance.face.firmware_table import STATES
from tests.adapters.face_peer import FacePeer

_HELLO = struct.pack("<9BHHI", 1, 1, 0, 7, 5, 16, 14, 1, 0, 77, 0, 0)


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        (Message.HELLO, struct.pack("<BBI", 1, 1, 9), "HELLO versions 1 to 1 #3"),
        (
            Message.HELLO | REPLY,
            _HELLO,
            "HELLO answered firmware 1.0, protocol 1, 5 servos, 16 lights, 14 moods, awake, start 77 by power #3",
        ),
        (Message.PING, b"", "PING #3"),
        (
            Message.PING | REPLY,
            struct.pack("<IBHHH", 12_300, 6, 1, 2, 4980),
            "PING answered up 12.3 s, parked, lights only, 4980 mV, 1 damaged, 2 dropped #3",
        ),
        (Message.FACE, struct.pack("<BBHH", 5, 255, 200, 0), "FACE angry 100 % in 200 ms #3"),
        (Message.FACE, struct.pack("<BBHH", 40, 128, 200, 900), "FACE number 40 50 % in 200 ms, for 900 ms #3"),
        (Message.MOUTH, b"\xff", "MOUTH 100 % open #3"),
        (Message.GAZE, struct.pack("<bb", -50, 20), "GAZE -50 20 #3"),
        (Message.STATE, b"\x04", "STATE muted #3"),
        (Message.POSE, struct.pack("<BH", 2, 1480), "POSE lid 1480 us #3"),
        (Message.POSE | REPLY, struct.pack("<H", 1480), "POSE answered 1480 us #3"),
        (Message.CONFIG, b"\x01", "CONFIG brightness_cap? #3"),
        (Message.CONFIG, struct.pack("<BH", 0x10 + 8 * 4 + 2, 1100), "CONFIG neck.min_us = 1100 #3"),
        (
            Message.BOOT,
            struct.pack("<4BH", 1, 1, 0, 12, 8),
            "BOOT firmware 1.0, protocol 1, start 8 by supply too low, its program hung #3",
        ),
        (Message.SAFE, b"\x01", "SAFE host lost #3"),
        (Message.BUTTON, struct.pack("<BH", 3, 1300), "BUTTON stop, held 1300 ms #3"),
        (Message.NAK, bytes((Refusal.NO_HELLO,)), "NAK no hello #3"),
        (Message.NAK, b"", "NAK nothing (not as it should be) #3"),
        (Message.FACE, b"\x01", "FACE 01 (not as it should be) #3"),
        (0x55, b"\x01\x02", "type 0x55 0102 #3"),
    ],
)
def test_a_frame_in_words(kind: int, payload: bytes, words: str) -> None:
    assert described(Frame(kind, 3, payload)) == words


@pytest.mark.parametrize("kind", range(256))
def test_no_frame_is_beyond_words(kind: int) -> None:
    for payload in (b"", b"\xff", b"\xff" * 3, b"\xff" * 48):
        frame = Frame(kind, 255, payload)
        assert described(frame) and event_words(frame)


def test_numbers_mean_the_same_moods_and_states_as_in_the_firmware() -> None:
    for number, emotion in enumerate(EMOTIONS):
        assert f"FACE {emotion} " in described(Frame(Message.FACE, 1, struct.pack("<BBHH", number, 0, 0, 0)))
    for number, state in enumerate(STATES):
        assert described(Frame(Message.STATE, 1, bytes((number,)))) == f"STATE {state} #1"
    assert len(EMOTIONS) == len(Emotion)


def test_frames_are_logged_for_whoever_debugs_and_for_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    peer = FacePeer()
    link = FaceLink(peer, lambda: peer.seconds, lambda _event: None)
    with caplog.at_level(logging.INFO):
        link.hello()
    assert caplog.messages == []
    with caplog.at_level(logging.DEBUG):
        link.command(Message.STATE, b"\x01")
    assert [message.rpartition(" #")[0] for message in caplog.messages] == [
        "-> STATE listening",
        "<- STATE answered listening",
    ]
