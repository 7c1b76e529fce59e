"""The files of ``systemd/``, and copies of them for a machine on which nothing is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent.parent / "systemd"
#: Where the installer puts the program.
PROGRAM = "/opt/appliance/current"

UNITS = ("appliance.service", "appliance-stopped.service", "appliance-worker.socket", "appliance-worker@.service")
USER_UNIT = "user/appliance.service"

#: What a manager that is not the system's cannot do, as the page of the operations says.
_ONLY_SYSTEM = ("User", "Group", "SupplementaryGroups", "DeviceAllow", "DevicePolicy", "LoadCredential")
_NOT_HERE = ("ProtectKernelTunables", "ProtectKernelLogs", "ProtectClock", "IPAddressDeny", "SocketUser", "SocketGroup")
BEYOND_A_USER = (*_ONLY_SYSTEM, *_NOT_HERE)


def text_of(name: str) -> str:
    """A file of the folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def lines_of(name: str) -> list[tuple[str, str, str]]:
    """Section, key and value of every line of a unit."""
    found, section = [], ""
    for line in text_of(name).replace("\\\n", "").splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = heading[1]
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.append((section, key, value))
    return found


def settings_of(name: str, section: str) -> dict[str, list[str]]:
    """All values of each key of a section."""
    found: dict[str, list[str]] = {}
    for there, key, value in lines_of(name):
        if there == section:
            found.setdefault(key, []).append(value)
    return found


def copy_unit(
    name: str,
    folder: Path,
    *,
    to: str = "",
    swaps: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    service: Sequence[str] = (),
) -> Path:
    """A copy under the name ``to``: ``swaps`` are replaced, keys ``without`` left out, ``service`` lines added."""
    text = text_of(name).replace("\\\n", "")
    for old, new in (swaps or {}).items():
        assert old in text, f"{name} says nothing of {old}"
        text = text.replace(old, new)
    kept = [line for line in text.splitlines() if line.partition("=")[0] not in without]
    if service:
        kept += ["", "[Service]", *service]
    file = folder / (to or Path(name).name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return file
