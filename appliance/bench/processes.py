"""What a process and those that it started cost, as the kernel counts it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class ProcessCost:
    """Of a process and its descendants: processor time since they began, and memory that is in use now."""

    cpu_seconds: float
    rss_megabytes: float


def cost_of(pid: int, proc: Path = _PROC) -> ProcessCost:
    """What ``pid`` costs; processes that have ended and were waited for count with whoever waited."""
    table = {int(folder.name): fields for folder in proc.glob("[0-9]*") if (fields := _stat(folder))}
    family = [table[member] for member in _family(pid, table)]
    # Own time and that of children that have ended; fields are counted from behind the name.
    ticks = sum(sum(map(int, fields[11:15])) for fields in family)
    pages = sum(int(fields[21]) for fields in family)
    return ProcessCost(ticks / _TICKS, pages * _PAGE_BYTES / 1e6)


def _family(pid: int, table: dict[int, list[str]]) -> Iterator[int]:
    if pid in table:
        yield pid
    for child, fields in table.items():
        if int(fields[1]) == pid:
            yield from _family(child, table)


def _stat(folder: Path) -> list[str]:
    """The fields behind the name of a process; none when it has just ended."""
    try:
        return (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def pss_megabytes(pid: int, proc: Path = _PROC) -> float:
    """Memory of ``pid`` and its descendants, pages that several processes share counted in parts."""
    table = {int(folder.name): fields for folder in proc.glob("[0-9]*") if (fields := _stat(folder))}
    return sum(_pss_bytes(proc / str(member)) for member in _family(pid, table)) / 1e6


def _pss_bytes(folder: Path) -> int:
    try:
        return 1024 * int((folder / "smaps_rollup").read_text().partition("\nPss:")[2].split()[0])
    except (OSError, IndexError):
        return 0
