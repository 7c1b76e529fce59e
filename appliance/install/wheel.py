"""A tool module that comes as a wheel, laid out as this box expects packages of a plugin's own."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import RefusedError
from appliance.install.packages import FOLDER

_FILE_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[A-Za-z0-9_.!+]+)(-\d[^-]*)?"
    r"-(?P<python>[a-z0-9_.]+)-(?P<abi>[a-z0-9_.]+)-(?P<platform>[a-z0-9_.]+)\.whl"
)
#: Beside what is laid out: what a wheel would install elsewhere.
WHEEL_REST = ".wheel-rest"
_PYTHONS = frozenset({"py3", "py311", "py312", "py313"})


@dataclass(frozen=True)
class WheelName:
    """What the file name of a wheel says. ``name`` is as package indexes write it."""

    name: str
    version: str


def read_wheel_name(file_name: str) -> WheelName:
    """Raises ``RefusedError`` for what is no wheel, or one that is not for every machine."""
    found = _FILE_NAME.fullmatch(file_name)
    if found is None:
        raise RefusedError(f"{file_name} is refused: it does not have the name of a wheel")
    is_for_all = found["abi"] == "none" and found["platform"] == "any"
    if not is_for_all or not _PYTHONS & set(found["python"].split(".")):
        raise RefusedError(
            f"{file_name} is refused: it is made for one kind of machine or Python; a plugin's own wheel ends in "
            "-py3-none-any.whl"
        )
    return WheelName(re.sub(r"[-_.]+", "-", found["name"]).lower(), found["version"])


def lay_out_wheel(unpacked: Path, into: Path, file_name: str) -> tuple[str, ...]:
    """Move what an unpacked wheel installs into ``into``; sentences on what it also wanted to install.

    Raises ``RefusedError``.
    """
    records = sorted(unpacked.glob("*.dist-info"))
    if len(records) != 1 or not (records[0] / "METADATA").is_file():
        raise RefusedError(f"{file_name} is refused: it does not say what it is in a dist-info folder with METADATA")
    if _metadata(records[0] / "WHEEL", "Wheel-Version").partition(".")[0] != "1":
        raise RefusedError(f"{file_name} is refused: it is a wheel of a kind that is not known here")
    into.mkdir(mode=0o755)
    target = into / FOLDER
    data = unpacked / f"{records[0].name.removesuffix('.dist-info')}.data"
    left_out = [kind for kind in _kinds(data) if kind not in ("purelib", "platlib")]
    for entry in sorted((data / "purelib", data / "platlib")):
        for inside in sorted(entry.iterdir()) if entry.is_dir() else ():
            if (unpacked / inside.name).exists():
                raise RefusedError(f"{file_name} is refused: it has {inside.name!r} in two places")
            inside.rename(unpacked / inside.name)
    if data.is_dir():
        data.rename(unpacked.with_name(WHEEL_REST))
    unpacked.rename(target)
    target.chmod(0o755)
    return tuple(f"its {kind} are left out: a plugin installs nothing outside its folder" for kind in left_out)


def _kinds(data: Path) -> Iterator[str]:
    if data.is_dir():
        yield from sorted(entry.name for entry in data.iterdir())


def _metadata(file: Path, field: str) -> str:
    try:
        return str(email.message_from_bytes(file.read_bytes()).get(field, ""))
    except OSError:
        return ""
