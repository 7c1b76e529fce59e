"""A face board that exists in words only: it answers like the firmware, or as badly as a test wants."""

from __future__ import annotations

import struct

from appliance.adapters.face_board import settings_crc, settings_entries
from appliance.adapters.face_frames import REPLY, Frame, FrameReader, Message, Refusal
from appliance.ports_face import BoardSettings


class FacePeer:
    """Meets ``face_link.Port``. Time passes only while somebody reads in vain.

    ``commands`` is what it acted on. ``deaf_for`` swallows the next answers; ``says_first`` comes before anything else.
    """

    def __init__(self, *, moods: int = 14, says_first: bytes = b"", deaf_for: int = 0) -> None:
        self.commands: list[Frame] = []
        self.mouths: list[int] = []
        self.config = BoardSettings()
        self.moods = moods
        self.protocol = 1
        self.boot_id = 7
        self.flags = 0
        self.deaf_for = deaf_for
        self.refuses: dict[int, Refusal] = {}
        #: Everything that comes is damaged, it says.
        self.refuses_all = False
        self.is_gone = False
        self.is_closed = False
        self.seconds = 100.0
        self._out = bytearray(says_first)
        self._reader = FrameReader()
        self._last: tuple[Frame, Frame] | None = None

    # -------------------------------------------------------------------------------------------- the port

    @property
    def in_waiting(self) -> int:
        self._check()
        return len(self._out)

    def read(self, size: int) -> bytes:
        self._check()
        if not self._out:
            self.seconds += 0.02
        taken, self._out = bytes(self._out[:size]), self._out[size:]
        return taken

    def write(self, data: bytes) -> int:
        self._check()
        for frame in self._reader.feed(data):
            self._take(frame)
        return len(data)

    def close(self) -> None:
        self.is_closed = True

    # --------------------------------------------------------------------------------------- the test's side

    def told(self, message: Message) -> list[bytes]:
        """The payloads of one kind of command that it acted on."""
        return [frame.payload for frame in self.commands if frame.type == message]

    def say(self, message: Message, payload: bytes, *, seq: int = 1) -> None:
        """Something unasked."""
        self._out += Frame(message, seq, payload).packed()

    def restart(self) -> None:
        """Everything it was told is gone."""
        self.boot_id += 1
        self.commands.clear()
        self.say(Message.BOOT, struct.pack("<4BH", 1, 1, 0, 8, self.boot_id))

    # --------------------------------------------------------------------------------------------- private

    def _check(self) -> None:
        if self.is_gone:
            raise OSError("device reports readiness to read but returned no data")

    def _take(self, frame: Frame) -> None:
        if frame.type == Message.MOUTH:
            self.mouths.append(frame.payload[0])
            return
        if self.refuses_all:
            self.seconds += 0.05
            self.say(Message.NAK, bytes((Refusal.CRC,)), seq=0)
            return
        if self._last is not None and self._last[0] == frame:
            answer = self._last[1]
        else:
            answer = self._act(frame)
            self._last = (frame, answer)
        if self.deaf_for:
            self.deaf_for -= 1
        else:
            self._out += answer.packed()

    def _act(self, frame: Frame) -> Frame:
        if frame.type in self.refuses:
            return Frame(Message.NAK, frame.seq, bytes((self.refuses[frame.type],)))
        self.commands.append(frame)
        return Frame(frame.type | REPLY, frame.seq, self._answer(frame))

    def _answer(self, frame: Frame) -> bytes:
        match frame.type:
            case Message.HELLO:
                boot, crc, nonce = self.boot_id, settings_crc(self.config), frame.payload[2:]
                parts = (self.protocol, 1, 0, 7, 5, 16, self.moods, 1, self.flags)
                return struct.pack("<9BHH4s", *parts, boot, crc, nonce)
            case Message.CONFIG if len(frame.payload) == 1:
                (key,) = frame.payload
                return struct.pack("<BH", key, dict(settings_entries(self.config))[key])
            case Message.CONFIG | Message.STATE | Message.GAZE:
                return frame.payload
            case Message.FACE:
                return frame.payload[:1]
            case Message.POSE:
                return frame.payload[1:]
            case Message.PING:
                return struct.pack("<IBHHH", 12_300, 0, 1, 2, 4980)
        return b""
