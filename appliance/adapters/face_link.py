"""The link to a face on a microcontroller: one command at a time, asked again when no answer comes.

A board that restarts, answers rubbish or goes away is an ``OSError`` here; who called opens a new link. Every frame is
logged in words (DEBUG).
"""

from __future__ import annotations

import logging
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from appliance.adapters.face_frames import PROTOCOL_VERSION, REPLY, Frame, FrameReader, Message, Refusal
from appliance.adapters.face_words import described, refusal, reset_cause

_LOG = logging.getLogger(__name__)

#: An answer takes 3 ms; a board whose lights are being sent needs a little longer.
_ANSWER_SECONDS = 0.15
#: A board is given up when nothing whole came from it for so long, or no answer at all: on a bad cable, where one byte
#: in ten is lost or damaged, one try in ten succeeds.
_SILENT_SECONDS, _PATIENCE_SECONDS = 2.0, 10.0
#: A board that was reset by opening the port spends up to two seconds in its bootloader.
_HELLO_SECONDS, _HELLO_EVERY_SECONDS = 5.0, 0.3
_MOST_BYTES = 256
_DAMAGED = bytes((Refusal.CRC,))
_EVENTS = (Message.BOOT, Message.SAFE, Message.BUTTON, Message.FAULT)


class Port(Protocol):
    """What is used of ``serial.Serial``, opened with a short read time-out."""

    @property
    def in_waiting(self) -> int:
        """Bytes that can be read at once."""
        ...

    def read(self, size: int) -> bytes:
        """Up to so many bytes, within the time-out. Raises ``OSError``."""
        ...

    def write(self, data: bytes) -> int | None:
        """Send. Raises ``OSError``."""
        ...

    def close(self) -> None:
        """Give the port back."""
        ...


class BoardRestartedError(OSError):
    """The board has restarted: nothing that it was told is there any more."""


class RefusedByBoardError(OSError):
    """The board understood, and said no."""

    def __init__(self, message: Message, code: int) -> None:
        super().__init__(f"the board refused {message.name} ({refusal(code)})")
        self.code = code


@dataclass(frozen=True)
class Hello:
    """What a board says about itself."""

    protocol: int
    firmware: str
    capabilities: int
    servos: int
    pixels: int
    moods: int
    reset_cause: int
    flags: int
    boot_id: int
    config_crc: int


class FaceLink:
    """Talks to one board over an open port, on one thread.

    ``on_event`` gets unasked frames (start, safe, button, fault), ``on_frame`` every frame with whether we sent it.
    ``now_seconds`` is the clock. Every method raises ``OSError`` when the board is gone, or has to be greeted anew.
    """

    def __init__(
        self,
        port: Port,
        now_seconds: Callable[[], float],
        on_event: Callable[[Frame], None],
        on_frame: Callable[[bool, Frame], None] = lambda _is_ours, _frame: None,
    ) -> None:
        self._port = port
        self._now_seconds = now_seconds
        self._on_event = on_event
        self._on_frame = on_frame
        self._reader = FrameReader()
        self._arrived: list[Frame] = []
        self._seq = random.SystemRandom().randrange(1, 256)
        self._boot_id: int | None = None
        #: When the board last answered.
        self.answered_at_seconds = now_seconds()
        self._heard_at_seconds = now_seconds()

    def hello(self) -> Hello:
        """Wait for the board and shake hands. Raises ``OSError`` that says what to do."""
        deadline = self._now_seconds() + _HELLO_SECONDS
        self._boot_id = None
        while self._now_seconds() < deadline:
            nonce = random.SystemRandom().getrandbits(32)
            payload = struct.pack("<BBI", PROTOCOL_VERSION, PROTOCOL_VERSION, nonce)
            frame = self._ask_once(Message.HELLO, payload, self._next_seq(), _HELLO_EVERY_SECONDS)
            if frame is None:
                continue
            if frame.type == Message.NAK and frame.payload[:1] == bytes((Refusal.VERSION,)):
                raise OSError("the board speaks another version of the protocol; run: appliance face flash")
            if frame.type == Message.HELLO | REPLY and frame.payload[-4:] == struct.pack("<I", nonce):
                hello = _read_hello(frame.payload)
                self._boot_id = hello.boot_id
                return hello
        raise OSError("no face answers; is the firmware on the board? run: appliance face flash")

    def command(self, message: Message, payload: bytes = b"") -> bytes:
        """Tell the board and wait for its answer's payload; asked again with the same number when none comes.

        The board acts once, however often it is asked with one number.
        """
        seq, began = self._next_seq(), self._now_seconds()
        while self._is_there_since(began):
            frame = self._ask_once(message, payload, seq, _ANSWER_SECONDS)
            if frame is None:
                continue
            if frame.type == Message.NAK:
                raise RefusedByBoardError(message, frame.payload[0] if frame.payload else 0)
            return frame.payload
        raise OSError("the face does not answer any more")

    def tell(self, message: Message, payload: bytes) -> None:
        """Send what wants no answer."""
        self._send(Frame(message, 0, payload))

    def listen(self) -> None:
        """Take what came unasked."""
        waiting = self._port.in_waiting
        if waiting:
            self._take(self._port.read(min(waiting, _MOST_BYTES)))

    def close(self) -> None:
        """Give the port back."""
        self._port.close()

    # ------------------------------------------------------------------------------------------- private

    def _ask_once(self, message: Message, payload: bytes, seq: int, seconds: float) -> Frame | None:
        """The answer; None when there is none in time, or the board says that something came to it damaged."""
        self._arrived.clear()
        self._send(Frame(message, seq, payload))
        deadline = self._now_seconds() + seconds
        while self._now_seconds() < deadline:
            self._take(self._port.read(max(1, min(self._port.in_waiting, _MOST_BYTES))))
            for frame in self._arrived:
                if frame.seq == seq and frame.type in (message | REPLY, Message.NAK):
                    self.answered_at_seconds = self._now_seconds()
                    return frame
                if frame.type == Message.NAK and frame.seq == 0 and frame.payload == _DAMAGED:
                    return None
        return None

    def _is_there_since(self, began: float) -> bool:
        heard_at = max(began, self._heard_at_seconds)
        return self._now_seconds() < min(heard_at + _SILENT_SECONDS, began + _PATIENCE_SECONDS)

    def _send(self, frame: Frame) -> None:
        self._note(True, frame)
        self._port.write(frame.packed())

    def _take(self, data: bytes) -> None:
        for frame in self._reader.feed(data):
            self._note(False, frame)
            self._heard_at_seconds = self._now_seconds()
            if frame.type not in _EVENTS:
                self._arrived.append(frame)
                continue
            self._on_event(frame)
            if self._boot_id is not None:
                self._check(frame)

    def _check(self, event: Frame) -> None:
        """Whether a board that was greeted still knows us."""
        if event.type == Message.BOOT and event.payload[4:6] != struct.pack("<H", self._boot_id):
            cause = event.payload[3] if len(event.payload) > 3 else 0
            raise BoardRestartedError(f"the face has restarted ({reset_cause(cause)})")
        if event.type == Message.SAFE:
            raise OSError("the board had lost us")

    def _note(self, is_ours: bool, frame: Frame) -> None:
        if _LOG.isEnabledFor(logging.DEBUG):
            _LOG.debug("%s %s", "->" if is_ours else "<-", described(frame))
        self._on_frame(is_ours, frame)

    def _next_seq(self) -> int:
        self._seq = self._seq % 255 + 1
        return self._seq


def _read_hello(payload: bytes) -> Hello:
    try:
        protocol, major, minor, can, servos, pixels, moods, cause, flags, boot, crc, _ = struct.unpack(
            "<9BHHI", payload
        )
    except struct.error:
        raise OSError("the board's greeting cannot be read; run: appliance face flash") from None
    return Hello(protocol, f"{major}.{minor}", can, servos, pixels, moods, cause, flags, boot, crc)
