"""The face on a board: whatever the wire does, the board shows the latest state."""

from __future__ import annotations

import dataclasses
import re
import struct
from pathlib import Path

import pytest

from appliance.adapters.face_board import settings_entries, settings_from, settings_keys
from appliance.adapters.face_frames import Frame, FrameReader, Message, Refusal
from appliance.adapters.face_serial import SerialFace
from appliance.adapters.serial_port import serial_port
from appliance.clock import FakeClock
from appliance.events import Activity, Emotion
from appliance.face.animator import dimmed, still
from appliance.face.emotions import EMOTIONS, known_to
from appliance.ports import FaceState
from appliance.ports_face import JOINTS, BoardSettings, JointSettings
from tests.adapters.face_peer import FacePeer


class PeerClock(FakeClock):
    """The peer's time, which passes while somebody waits for it."""

    def __init__(self, peers: list[FacePeer]) -> None:
        super().__init__()
        self._peers = peers

    def monotonic_seconds(self) -> float:
        return sum(peer.seconds for peer in self._peers)


def serial_face(*peers: FacePeer, settings: BoardSettings | None = None) -> SerialFace:
    """A face that finds these boards one after another when it opens its port."""
    waiting = list(peers)

    def open_port() -> FacePeer:
        if not waiting:
            raise OSError("it is not there")
        return waiting.pop(0)

    return SerialFace(
        "test port", open_port, PeerClock(list(peers)), moods=list(EMOTIONS), known_mood=known_to, settings=settings
    )


def test_a_mood_and_what_the_box_does_reach_the_board_once() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    for _ in range(3):
        face.apply(still(Emotion.ANGRY, Activity.LISTENING))
    assert peer.told(Message.FACE) == [struct.pack("<BBHH", 5, round(0.6 * 255), 200, 0)]
    assert peer.told(Message.STATE) == [b"\x01"]


def test_every_mood_and_activity_has_the_number_that_the_firmware_knows() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    for emotion in Emotion:
        face.apply(still(emotion))
    for activity in Activity:
        face.apply(still(Emotion.HAPPY, activity))
    assert [payload[0] for payload in peer.told(Message.FACE)][:14] == list(range(14))
    assert {payload[0] for payload in peer.told(Message.STATE)} == set(range(8))


def test_a_board_with_an_older_table_shows_the_nearest_mood() -> None:
    peer = FacePeer(moods=4)
    serial_face(peer).apply(still(Emotion.CRYING))
    assert peer.told(Message.FACE)[0][0] == 3


def test_the_mouth_is_told_while_it_is_open_and_once_more_when_it_shuts() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    for share in (0.0, 0.5, 1.0, 0.0, 0.0):
        face.apply(_with_mouth(share))
    assert peer.mouths == [128, 255, 0]


def _with_mouth(share: float) -> FaceState:
    return dataclasses.replace(still(Emotion.NEUTRAL), mouth_open=share)


@pytest.mark.parametrize(
    "noise",
    [
        b"",
        b"\x55\xaa\x13",
        b"Arduino bootloader\r\n",
        Frame(Message.HELLO, 9, b"x" * 20).packed()[5:],
        b"\0\0\0",
        b"\xff" * 400,
    ],
)
def test_what_a_bootloader_says_first_does_not_matter(noise: bytes) -> None:
    peer = FacePeer(says_first=noise, deaf_for=4)
    serial_face(peer).apply(still(Emotion.SAD))
    assert peer.told(Message.FACE)[0][0] == 3


def test_a_lost_answer_is_asked_for_again_and_nothing_is_done_twice() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    face.apply(still(Emotion.NEUTRAL))
    peer.deaf_for = 2
    face.apply(still(Emotion.HAPPY))
    assert [payload[0] for payload in peer.told(Message.FACE)] == [0, 1]


def test_a_board_that_got_something_damaged_is_asked_again_at_once_with_the_same_number() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    face.apply(still(Emotion.NEUTRAL))
    peer.deaf_for, before = 3, peer.seconds
    for _ in range(3):
        peer.say(Message.NAK, bytes((Refusal.CRC,)), seq=0)
    face.apply(still(Emotion.HAPPY))
    assert [payload[0] for payload in peer.told(Message.FACE)] == [0, 1]
    assert peer.seconds - before < 0.5


def test_a_board_that_only_ever_says_that_all_is_damaged_is_given_up() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    face.apply(still(Emotion.NEUTRAL))
    peer.refuses_all = True
    with pytest.raises(OSError, match="does not answer"):
        face.apply(still(Emotion.HAPPY))


def test_a_board_that_does_not_answer_any_more_is_given_up_and_found_again_with_all_its_state() -> None:
    dead, alive = FacePeer(), FacePeer()
    face = serial_face(dead, alive)
    face.apply(still(Emotion.HAPPY))
    dead.deaf_for = 99
    with pytest.raises(OSError, match="does not answer"):
        face.apply(still(Emotion.SAD, Activity.WORKING))
    assert dead.is_closed
    face.apply(still(Emotion.SAD, Activity.WORKING))
    assert (alive.told(Message.FACE)[0][0], alive.told(Message.STATE)) == (3, [b"\x02"])


def test_a_pulled_cable_is_an_error_and_the_next_board_is_greeted() -> None:
    pulled, back = FacePeer(), FacePeer()
    face = serial_face(pulled, back)
    face.apply(still(Emotion.HAPPY))
    pulled.is_gone = True
    with pytest.raises(OSError, match="test port"):
        face.apply(still(Emotion.HAPPY))
    face.apply(still(Emotion.HAPPY))
    assert back.told(Message.FACE)[0][0] == 1


def test_a_board_that_restarts_gets_its_settings_and_its_state_again() -> None:
    settings = BoardSettings(brightness_cap=30, lid=JointSettings(neutral_us=1400, holds=True))
    before, after = FacePeer(), FacePeer()
    face = serial_face(before, after, settings=settings)
    face.apply(still(Emotion.HAPPY))
    before.restart()
    with pytest.raises(OSError, match=r"restarted.*hung"):
        face.apply(still(Emotion.HAPPY))
    face.apply(still(Emotion.HAPPY))
    told = dict(struct.unpack("<BH", payload) for payload in after.told(Message.CONFIG))
    assert told[0x01] == 30 and told[0x10 + 8 * JOINTS.index("lid")] == 1400 and told[0x02] == 0xA55A
    assert after.told(Message.FACE)[0][0] == 1


def test_a_board_that_has_the_settings_already_is_not_told_them() -> None:
    peer = FacePeer()
    serial_face(peer, settings=BoardSettings()).apply(still(Emotion.HAPPY))
    assert peer.told(Message.CONFIG) == []


def test_another_version_of_the_protocol_is_told_with_what_to_do() -> None:
    peer = FacePeer()
    peer.refuses[Message.HELLO] = Refusal.VERSION
    with pytest.raises(OSError, match="appliance face flash"):
        serial_face(peer).apply(still(Emotion.HAPPY))


def test_a_board_without_our_firmware_is_told_with_what_to_do() -> None:
    peer = FacePeer(deaf_for=99)
    with pytest.raises(OSError, match="appliance face flash"):
        serial_face(peer).apply(still(Emotion.HAPPY))
    assert peer.is_closed


def test_a_board_that_hears_only_the_mouth_is_still_asked_whether_it_is_there() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    for _ in range(40):
        face.apply(_with_mouth(0.5))
        peer.seconds += 0.05
    assert 3 <= len(peer.told(Message.PING)) <= 5


def test_a_board_that_lost_us_is_greeted_again_and_what_it_said_before_does_not_matter() -> None:
    peer, again = FacePeer(says_first=Frame(Message.SAFE, 1, b"\x01").packed()), FacePeer()
    face = serial_face(peer, again)
    face.apply(still(Emotion.HAPPY))
    peer.say(Message.SAFE, b"\x01")
    with pytest.raises(OSError, match="lost us"):
        face.apply(still(Emotion.HAPPY))
    face.apply(still(Emotion.HAPPY))
    assert again.told(Message.FACE)[0][0] == 1


def test_it_is_kept_awake_while_nothing_changes() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    for _ in range(40):
        face.apply(still(Emotion.NEUTRAL))
        peer.seconds += 0.05
    assert 3 <= len(peer.told(Message.PING)) <= 5


def caps_told(peer: FacePeer) -> list[int]:
    """What its lights were turned down to."""
    told = [struct.unpack("<BH", payload) for payload in peer.told(Message.CONFIG) if len(payload) == 3]
    return [value for key, value in told if key == 1]


@pytest.mark.parametrize("settings", [None, BoardSettings(brightness_cap=100)], ids=["the board's own", "ours"])
def test_in_quiet_hours_the_boards_lights_are_turned_down_and_up_again(settings: BoardSettings | None) -> None:
    peer = FacePeer()
    peer.config = BoardSettings(brightness_cap=100)
    face = serial_face(peer, settings=settings)
    for share in (1.0, 0.25, 0.25, 1.0):
        face.apply(dimmed(still(Emotion.NEUTRAL), share))
    assert caps_told(peer) == [25, 100]


def test_a_head_that_was_parked_in_quiet_hours_is_as_bright_as_ever_for_the_next_one() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    face.apply(dimmed(still(Emotion.NEUTRAL), 0.25))
    face.park()
    assert caps_told(peer) == [16, 64]


def test_a_board_that_drives_no_servos_any_more_and_one_that_forgot_are_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    peer = FacePeer(says_first=b"".join(Frame(Message.FAULT, 1, bytes((code,))).packed() for code in (1, 2)))
    peer.flags = 4
    face = serial_face(peer)
    for _ in range(3):
        face.apply(still(Emotion.NEUTRAL))
    assert [message.partition(" ")[2][:30] for message in caplog.messages] == [
        "port: its stored settings were",
        "port: it restarted three times",
    ]


def test_the_boards_button_is_heard_and_is_no_approval() -> None:
    pressed: list[str] = []
    peer = FacePeer()
    face = serial_face(peer)
    face.on_button = pressed.append
    face.apply(still(Emotion.NEUTRAL))
    for action in (1, 2, 3, 4):
        peer.say(Message.BUTTON, struct.pack("<BH", action, 200))
    face.apply(still(Emotion.NEUTRAL))
    assert pressed == ["talk", "mute", "stop"]


def test_at_the_end_it_is_parked_before_the_port_is_given_back() -> None:
    peer = FacePeer()
    face = serial_face(peer)
    face.apply(still(Emotion.NEUTRAL))
    face.park()
    face.close()
    face.close()
    assert peer.commands[-1].type == Message.PARK and peer.is_closed


def test_settings_that_a_servo_cannot_bear_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match="500 to 2500"):
        BoardSettings.read({"lid": {"min_us": 100}})
    with pytest.raises(ValueError, match="unknown: ears"):
        BoardSettings.read({"ears": {}})
    with pytest.raises(ValueError, match="brightness_cap"):
        BoardSettings.read({"brightness_cap": 900})
    assert BoardSettings.read({"lid": {"is_reversed": True}}).lid.pulse_us(10) == 1400


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"lid": {"neutral_us": "wide"}}, "lid: neutral_us must be 500 to 2500 microseconds, not wide"),
        ({"lid": {"neutral_us": 1500.5}}, "lid: neutral_us must be 500 to 2500"),
        ({"lid": {"neutral_us": 1900, "max_us": 1800}}, "lid: neutral_us must lie between min_us and max_us"),
        ({"neck": {"us_per_degree": 0.001}}, "neck: us_per_degree must be above 0 and at most 50"),
        ({"neck": {"holds": 1}}, "neck: holds must be true or false"),
        ({"neck": {"colour": 1}}, "neck: unknown: colour; there are: holds"),
        ({"neck": 3}, "neck: must hold settings by name"),
        ({"brightness_cap": True}, "brightness_cap must be 0 to 255"),
        ([], "must hold settings by name: brightness_cap"),
    ],
)
def test_settings_that_are_none_are_refused_with_what_is_allowed(data: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        BoardSettings.read(data)


def test_settings_survive_their_file_and_their_board() -> None:
    lid = JointSettings(neutral_us=1480, us_per_degree=9.25, min_us=1100, max_us=1900, is_reversed=True, holds=True)
    settings = BoardSettings(brightness_cap=30, lid=lid)
    assert BoardSettings.read(settings.data) == settings
    told = dict(settings_entries(settings))
    assert settings_from([told[key] for key in settings_keys()]) == settings


@pytest.mark.parametrize("name", ["nonsense://x", "/dev/null"])
def test_a_port_that_is_none_is_said_by_its_name(name: str) -> None:
    with pytest.raises(OSError, match=f"{re.escape(name)} cannot be opened"):
        serial_port(name)


def test_a_port_that_is_not_there_is_said_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere is not there"):
        serial_port(str(tmp_path / "nowhere"))


def test_frames_survive_any_cut_of_the_bytes() -> None:
    frames = [Frame(Message.FACE, 3, bytes(range(6))), Frame(Message.PING, 255), Frame(Message.HELLO, 1, b"\0" * 48)]
    wire = b"noise" + b"".join(frame.packed() for frame in frames)
    for size in (1, 2, 7, len(wire)):
        reader = FrameReader()
        got = [frame for at in range(0, len(wire), size) for frame in reader.feed(wire[at : at + size])]
        assert got == frames and reader.damaged == 0


@pytest.mark.parametrize("at", range(1, 12))
def test_a_damaged_byte_is_never_taken_for_a_frame(at: int) -> None:
    wire = bytearray(Frame(Message.FACE, 3, bytes(range(1, 7))).packed())
    for flipped in range(1, 256):
        damaged = wire.copy()
        damaged[at] ^= flipped
        assert FrameReader().feed(bytes(damaged)) == []
