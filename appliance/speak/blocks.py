"""Markdown's line-level markup: fences, headings, lists, quotes, rules, tables.

Prose streams: only the start of a line is held back, until it is clear what kind of line it is.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

_FENCE_OPENING = re.compile(r"(`{3,}|~{3,})[^`]{0,80}")
_RULE = re.compile(r"[-*_=][-*_=\s]*")
_LIST_MARKER = re.compile(r"[-*+•‣▪◦]\s+")
_NUMBER_MARKER = re.compile(r"(\d{1,3})[.)]\s+")
_COULD_BE_NUMBER_MARKER = re.compile(r"\d{1,3}[.)]?")
_HEADING = re.compile(r"#{1,6}\s+")
_COULD_BE_HEADING = re.compile(r"#{1,6}")
_BOUND = re.compile(r">=?\d|>=")
_SEPARATOR_CELL = re.compile(r":?-+:?")


class LineSink(Protocol):
    """Takes text without line-level markup."""

    def push(self, character: str) -> None:
        """The next character of a line; never a line end."""
        ...

    def end_line(self) -> None:
        """The line is over."""
        ...


@dataclass(frozen=True)
class BlockWords:
    """How blocks are announced; ``{count}`` is how many there are. Empty texts announce nothing."""

    rows: str = ""
    line_of_code: str = ""
    lines_of_code: str = ""


#: By language. Like the names of units they belong to reading aloud; the catalogue has what the box says of itself.
BLOCK_WORDS: Mapping[str, BlockWords] = {
    "en": BlockWords("{count} rows:", "one line of code.", "{count} lines of code."),
    "de": BlockWords("{count} Zeilen:", "eine Zeile Code.", "{count} Zeilen Code."),
    "es": BlockWords("{count} filas:", "una línea de código.", "{count} líneas de código."),
}


class _Mode(enum.Enum):
    START = enum.auto()
    PROSE = enum.auto()
    FENCE = enum.auto()
    TABLE = enum.auto()


class BlockMarkup:
    """Takes a text character by character and gives a sink its lines without markup.

    Only what has to be counted waits for its end: of code no more is said than its length, a table is said row by
    row behind their number.
    """

    def __init__(self, sink: LineSink, language: str = "en") -> None:
        self._sink = sink
        self._words = BLOCK_WORDS.get(language, BlockWords())
        self._mode = _Mode.START
        self._held = ""
        self._fence = ""
        self._code_lines = 0
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
        self.push("\n")
        if self._mode is _Mode.FENCE:
            self._end_fence()
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
            self._end_fence()
        elif line:
            self._code_lines += 1

    def _end_fence(self) -> None:
        lines, self._code_lines, self._mode = self._code_lines, 0, _Mode.START
        words = self._words.line_of_code if lines == 1 else self._words.lines_of_code
        self._say_line(words.format(count=lines) if lines else "")

    def _push_row(self, character: str) -> None:
        if character != "\n":
            self._held += character
            return
        line, self._held = self._held, ""
        self._mode = _Mode.START
        self._table.add(line)

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
        if start == ">":
            return  # a quote, or ">90 %"
        if start.startswith(">") and not _BOUND.match(start):
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
        rows = self._table.end()
        if len(rows) > 1:
            self._say_line(self._words.rows.format(count=len(rows)))
        for row in rows:
            self._say_line(row)

    def _say_line(self, line: str) -> None:
        if line:
            for character in line:
                self._sink.push(character)
            self._sink.end_line()


class _Table:
    """Turns the rows of a table into lines such as "City: Oslo, Weather: snow"."""

    def __init__(self) -> None:
        self._header: list[str] = []
        self._rows: list[list[str]] = []

    def add(self, row: str) -> None:
        """The next row; a line of dashes makes the row before it the header."""
        cells = [cell.strip() for cell in row.strip().strip("|").replace("\\|", "/").split("|")]
        if all(_SEPARATOR_CELL.fullmatch(cell) for cell in cells):
            if len(self._rows) == 1 and not self._header:
                self._header = self._rows.pop()
        elif any(cells):
            self._rows.append(cells)

    def end(self) -> list[str]:
        """The table is over; what to say for each row. A header without rows is said as a row."""
        lines = [", ".join(self._labelled(index, cell) for index, cell in enumerate(row) if cell) for row in self._rows]
        if self._header and not lines:
            lines = [", ".join(filter(None, self._header))]
        self._header, self._rows = [], []
        return lines

    def _labelled(self, index: int, cell: str) -> str:
        label = self._header[index] if index < len(self._header) else ""
        return f"{label}: {cell}" if label else cell
