"""Which time zone the house is in, and which boot of the machine this is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LOCALTIME = Path("/etc/localtime")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def house_zone(environment: Mapping[str, str] = os.environ, localtime: Path = _LOCALTIME) -> tzinfo:
    """The system's time zone with its summer time rules (``Clock.now`` has only the offset of the moment).

    ``TZ`` first, then ``/etc/localtime``; UTC when neither is there.
    """
    name = environment.get("TZ", "").lstrip(":")
    try:
        if name:
            return ZoneInfo(name)
        with localtime.open("rb") as file:
            return ZoneInfo.from_file(file, key=localtime.resolve().name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return UTC


def boot_id(file: Path = _BOOT_ID) -> str:
    """Names this boot, so that monotonic times of another boot are not taken for ours; "" when unknown."""
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""
