"""Putting a damaged file aside instead of deleting it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from appliance.durable import sync_folder

#: More would fill a small card when something damages files again and again.
_KEPT = 3

#: A board without a clock may see the same second twice: then a number follows, and nothing is ever overwritten.
_ENDING = re.compile(r"\.corrupt\.(?P<time>\d{8}T\d{6})(n(?P<number>\d+))?")


def move_aside(file: Path, now: datetime, *, parts: Sequence[str] = ("",)) -> Path:
    """Rename ``file`` to ``file.corrupt.<UTC time>``; the oldest of more than three go. Raises ``OSError``.

    ``parts`` are endings of files that belong together; each that exists gets the same new name before its ending.
    """
    earlier = _earlier(file)
    time = now.astimezone(UTC).strftime("%Y%m%dT%H%M%S")
    numbers = [number for stamp, number in earlier if stamp == time]
    target = file.with_name(_name(file, time, max(numbers) + 1 if numbers else 0))
    for stamp, number in earlier[: max(0, len(earlier) - (_KEPT - 1))]:
        for part in parts:
            file.with_name(f"{_name(file, stamp, number)}{part}").unlink(missing_ok=True)
    for part in parts:
        source = Path(f"{file}{part}")
        if source.exists():
            source.rename(f"{target}{part}")
    sync_folder(file.parent)
    return target


def _name(file: Path, time: str, number: int) -> str:
    return f"{file.name}.corrupt.{time}{f'n{number}' if number else ''}"


def _earlier(file: Path) -> list[tuple[str, int]]:
    """Time and number of those put aside before, oldest first."""
    endings = (found.name.removeprefix(file.name) for found in file.parent.glob(f"{file.name}.corrupt.*"))
    matches = (_ENDING.fullmatch(ending) for ending in endings)
    return sorted((match["time"], int(match["number"] or 0)) for match in matches if match)
