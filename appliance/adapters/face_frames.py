"""Frames of the face link: a type, a number, a payload and a check sum, packed so that a zero byte ends each.

The same as ``firmware/core/{cobs,crc16,link}.c``; both are tested against the vectors in ``firmware/vectors.tsv``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

PROTOCOL_VERSION = 1
PAYLOAD_MAX = 48
#: Longest packed frame between two delimiters: type, number, payload, CRC, and the byte that packing adds.
_PACKED_MAX = 2 + PAYLOAD_MAX + 2 + 1


class Message(enum.IntEnum):
    """What a frame is; an answer has the type of its command with the highest bit set."""

    HELLO = 0x01
    PING = 0x02
    FACE = 0x03
    MOUTH = 0x04
    GAZE = 0x05
    STATE = 0x06
    POSE = 0x07
    CONFIG = 0x08
    PARK = 0x09
    BOOT = 0xC0
    SAFE = 0xC1
    BUTTON = 0xC2
    FAULT = 0xC3
    NAK = 0xFF


#: Set in the type of an answer.
REPLY = 0x80


class Refusal(enum.IntEnum):
    """Why a board did not do what it was told; the payload of a NAK."""

    CRC = 1
    TYPE = 2
    LENGTH = 3
    RANGE = 4
    BUSY = 5
    NO_HELLO = 6
    VERSION = 7


@dataclass(frozen=True)
class Frame:
    """One frame; ``seq`` 0 wants no answer."""

    type: int
    seq: int
    payload: bytes = b""

    def packed(self) -> bytes:
        """Bytes for the wire: a leading zero ends whatever noise was before."""
        if len(self.payload) > PAYLOAD_MAX:
            raise ValueError(f"a payload has at most {PAYLOAD_MAX} bytes")
        body = bytes((self.type, self.seq)) + self.payload
        return b"\0" + _stuffed(body + crc16(body).to_bytes(2, "big")) + b"\0"


class FrameReader:
    """Bytes in as they come, whole frames out; damaged ones are counted and left out."""

    def __init__(self) -> None:
        self.damaged = 0
        self._buffer = bytearray()
        self._is_open = False

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes finished."""
        frames = []
        for byte in data:
            if byte:
                # Longer than any frame: noise, which its delimiter will end.
                if len(self._buffer) <= _PACKED_MAX:
                    self._buffer.append(byte)
                continue
            if self._buffer and self._is_open:
                frame = _read(bytes(self._buffer))
                if frame is None:
                    self.damaged += 1
                else:
                    frames.append(frame)
            self._buffer.clear()
            self._is_open = True
        return frames


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE; 0x29B1 for ``b"123456789"``."""
    crc = 0xFFFF
    for byte in data:
        x = (crc >> 8) ^ byte
        x ^= x >> 4
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


def _read(packed: bytes) -> Frame | None:
    body = _unstuffed(packed)
    if body is None or len(body) < 4 or len(packed) > _PACKED_MAX:
        return None
    if crc16(body[:-2]) != int.from_bytes(body[-2:], "big"):
        return None
    return Frame(body[0], body[1], body[2:-2])


def _stuffed(data: bytes) -> bytes:
    return b"".join(bytes((len(run) + 1,)) + run for run in data.split(b"\0"))


def _unstuffed(packed: bytes) -> bytes | None:
    runs, at = [], 0
    while at < len(packed):
        length = packed[at]
        run = packed[at + 1 : at + length]
        if len(run) != length - 1:
            return None
        runs.append(run)
        at += length
    return b"\0".join(runs)
