"""Unpacks a body in steps, so that a small one that grows without end costs no memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from appliance.errors import NetworkDecodingError

#: What we tell servers that we can unpack.
ACCEPTED = "gzip, deflate"
#: Largest piece that comes out at once.
_STEP_BYTES = 65_536
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_START = b"\x1f\x8b"
_ZLIB = zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS


class Inflater:
    """Unpacks one body. ``encoding`` is its ``Content-Encoding``; an unknown one raises ``NetworkDecodingError``."""

    def __init__(self, encoding: str) -> None:
        names = [name.strip().lower().removeprefix("x-") for name in encoding.split(",")]
        packed = [name for name in names if name not in ("", "identity")]
        if packed not in ([], ["gzip"], ["deflate"]):
            raise NetworkDecodingError(f"packed in a way we cannot read ({encoding[:20]!r})")
        self._packing = packed[0] if packed else ""
        self._stream: zlib._Decompress | None = None
        self._head = b""

    def feed(self, packed: bytes) -> Iterator[bytes]:
        """What came out of these bytes, in pieces of at most 64 KiB (unpacked ones as they are)."""
        if not self._packing:
            yield packed
            return
        try:
            yield from self._inflate(packed)
        except zlib.error as error:
            raise NetworkDecodingError(f"damaged ({self._packing})") from error

    def end(self) -> None:
        """The body is over; raises ``NetworkDecodingError`` when it ended in mid-stream."""
        if self._head or (self._stream is not None and not self._stream.eof):
            raise NetworkDecodingError(f"cut off ({self._packing})")

    def _inflate(self, packed: bytes) -> Iterator[bytes]:
        while packed:
            stream, packed = self._ready(self._head + packed)
            if stream is None:
                return
            yield from _unpack(stream, packed)
            packed = stream.unused_data

    def _ready(self, packed: bytes) -> tuple[zlib._Decompress | None, bytes]:
        """The stream that takes these bytes, and the bytes; None when nothing is to be done yet, or any more."""
        self._head = b""
        if self._stream is not None and not self._stream.eof:
            return self._stream, packed
        if self._stream is not None and (self._packing == "deflate" or not _GZIP_START.startswith(packed[:2])):
            return None, b""  # Filling behind the end.
        if len(packed) < 2:
            self._head = packed
            return None, b""
        self._stream = zlib.decompressobj(self._window(packed))
        return self._stream, packed

    def _window(self, head: bytes) -> int:
        """Deflate comes with the zlib header, as the standard says, or without, as some servers read it."""
        if self._packing == "gzip":
            return _GZIP
        has_header = head[0] & 0x0F == 8 and int.from_bytes(head[:2]) % 31 == 0
        return _ZLIB if has_header else _RAW


def _unpack(stream: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    while not stream.eof:
        piece = stream.decompress(packed, _STEP_BYTES)
        packed = stream.unconsumed_tail
        if piece:
            yield piece
        if not packed and len(piece) < _STEP_BYTES:  # a full piece may have left some behind
            return
