"""Markdown's line-level markup: fences, headings, lists, quotes, rules, tables.

Prose streams: only the start of a line is held back, until it is clear what kind of line it is.
"""

from __future__ import annotations

import enum
import re
from typing import Protocol

_FENCE_OPENING = re.compile(r"(`{3,}|~{3,})[^`]{0,80}")
_RULE = re.compile(r"[-*_=][-*_=\s]*")
_LIST_MARKER = re.compile(r"[-*+•‣▪◦]\s+")
_NUMBER_MARKER = re.compile(r"(\d{1,3})[.)]\s+")
_COULD_BE_NUMBER_MARKER = re.compile(r"\d{1,3}[.)]?")
_HEADING = re.compile(r"#{1,6}\s+")
_COULD_BE_HEADING = re.compile(r"#{1,6}")
_SEPARATOR_CELL = re.compile(r":?-+:?")


class LineSink(Protocol):
    """Takes text without line-level markup."""

    def push(self, character: str) -> None:
        """The next character of a line; never a line end."""
        ...

    def end_line(self) -> None:
        """The line is over."""
        ...


class _Mode(enum.Enum):
    START = enum.auto()
    PROSE = enum.auto()
    FENCE = enum.auto()
    TABLE = enum.auto()


class BlockMarkup:
    """Takes a text character by character and gives a sink its lines without markup; code is left out."""

    def __init__(self, sink: LineSink) -> None:
        self._sink = sink
        self._mode = _Mode.START
        self._held = ""
        self._fence = ""
        self._table = _Table()

    @property
    def is_code(self) -> bool:
        """Whether the text is inside a fence, or may be."""
        return self._mode is _Mode.FENCE or self._held.lstrip().startswith(("`", "~~~"))

    def push(self, character: str) -> None:
        """The next character."""
        if self._mode is _Mode.PROSE:
            self._push_prose(character)
        elif self._mode is _Mode.FENCE:
            self._push_fenced(character)
        elif self._mode is _Mode.TABLE:
            self._push_row(character)
        else:
            self._held += character
            self._decide()

    def end(self) -> None:
        """The text is over; starts afresh."""
        if self._mode is not _Mode.FENCE:
            self.push("\n")
            self._end_table()
        self._mode, self._held = _Mode.START, ""

    def _push_prose(self, character: str) -> None:
        if character == "\n":
            self._sink.end_line()
            self._mode = _Mode.START
        else:
            self._sink.push(character)

    def _push_fenced(self, character: str) -> None:
        if character != "\n":
            self._held += character
            return
        line, self._held = self._held.strip(), ""
        if len(line) >= len(self._fence) and not line.strip(self._fence[0]):
            self._mode = _Mode.START

    def _push_row(self, character: str) -> None:
        if character != "\n":
            self._held += character
            return
        line, self._held = self._held, ""
        self._mode = _Mode.START
        self._say_line(self._table.add(line))

    def _decide(self) -> None:
        """Look at the start of a line and go on as soon as its kind is certain."""
        start = self._held.lstrip(" \t")
        if not start:
            return
        if start.startswith("|"):
            self._mode = _Mode.TABLE
            return
        is_whole = start.endswith("\n")
        line = start.rstrip("\n")
        if not _RULE.fullmatch(line):
            self._decide_marker(start, line, is_whole)
        elif is_whole:
            self._held = ""
            self._end_table()
            self._sink.end_line()

    def _decide_marker(self, start: str, line: str, is_whole: bool) -> None:
        if line.startswith(("`", "~")) and self._decide_fence(line, is_whole):
            return
        if start.startswith(">"):
            self._go_on(start[1:])
        elif marker := _LIST_MARKER.match(start) or _HEADING.match(start):
            self._go_on(start[marker.end() :])
        elif number := _NUMBER_MARKER.match(start):
            self._end_table()
            for character in f"{number[1]}: ":
                self._sink.push(character)
            self._go_on(start[number.end() :])
        elif is_whole or not self._could_be_marker(line):
            self._end_table()
            self._mode, self._held = _Mode.PROSE, ""
            for character in start:
                self.push(character)

    def _decide_fence(self, line: str, is_whole: bool) -> bool:
        """Whether the line is a fence, or may still become one."""
        tick = line[0]
        ticks = len(line) - len(line.lstrip(tick))
        if ticks == len(line) < 3 and not is_whole:
            return True
        if not _FENCE_OPENING.fullmatch(line):
            return False
        if is_whole:
            self._end_table()
            self._mode, self._held, self._fence = _Mode.FENCE, "", tick * ticks
        return True

    @staticmethod
    def _could_be_marker(line: str) -> bool:
        return bool(
            _COULD_BE_HEADING.fullmatch(line)
            or _COULD_BE_NUMBER_MARKER.fullmatch(line)
            or line in ("+", "•", "‣", "▪", "◦")
        )

    def _go_on(self, rest: str) -> None:
        """Look at the line again behind its marker."""
        self._held = ""
        for character in rest:
            self.push(character)

    def _end_table(self) -> None:
        self._say_line(self._table.end())

    def _say_line(self, line: str) -> None:
        if line:
            for character in line:
                self._sink.push(character)
            self._sink.end_line()


class _Table:
    """Turns the rows of a table into lines such as "City: Oslo, Weather: snow"."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._header: list[str] = []

    def add(self, row: str) -> str:
        """What to say for this row; the first waits until it is clear whether it is a header."""
        cells = [cell.strip() for cell in row.strip().strip("|").replace("\\|", "/").split("|")]
        if self._first and all(_SEPARATOR_CELL.fullmatch(cell) for cell in cells):
            self._header, self._first = self._first, []
            return ""
        if self._header:
            return ", ".join(self._labelled(index, cell) for index, cell in enumerate(cells) if cell)
        before, self._first = self._first, cells
        return ", ".join(filter(None, before))

    def end(self) -> str:
        """The table is over; what is left to say of it."""
        rest, self._first, self._header = self._first, [], []
        return ", ".join(filter(None, rest))

    def _labelled(self, index: int, cell: str) -> str:
        label = self._header[index] if index < len(self._header) else ""
        return f"{label}: {cell}" if label else cell
