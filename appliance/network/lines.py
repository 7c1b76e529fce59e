"""Bytes to lines, as server-sent events define them."""

from __future__ import annotations

import re

from appliance.errors import NetworkError

#: Only these end a line. ``str.splitlines`` also splits at U+2028, which may stand raw inside a JSON text.
_LINE_END = re.compile(rb"\r\n|\n|\r")


class LineSplitter:
    """Cuts a body into lines however its bytes arrive; ends are LF, CRLF or CR, text is UTF-8."""

    def __init__(self, longest_line_bytes: int) -> None:
        self._longest_line_bytes = longest_line_bytes
        self._open_line: list[bytes] = []
        self._open_bytes = 0
        self._after_carriage_return = False

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that this chunk finished. Raises ``NetworkError`` when a line is too long."""
        if self._after_carriage_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_carriage_return = False
        if not chunk:
            return []
        self._after_carriage_return = chunk.endswith(b"\r")
        *finished, rest = _LINE_END.split(chunk)
        lines = []
        for part in finished:
            self._grow(part)
            lines.append(self._take())
        self._grow(rest)
        return lines

    def end(self) -> str:
        """What stands behind the last line end."""
        return self._take()

    def _grow(self, part: bytes) -> None:
        self._open_line.append(part)
        self._open_bytes += len(part)
        if self._open_bytes > self._longest_line_bytes:
            raise NetworkError(f"a line of the answer is longer than {self._longest_line_bytes:,} bytes")

    def _take(self) -> str:
        line = b"".join(self._open_line).decode("utf-8", errors="replace")
        self._open_line.clear()
        self._open_bytes = 0
        return line
