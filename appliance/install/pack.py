"""A plugin's folder as one zip that every box takes."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from appliance.errors import StoreError, UsageError
from appliance.install.archive import unpack
from appliance.install.fetch import NoFetch
from appliance.install.staging import stage

#: A zip knows no earlier one.
_FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)
_FILE_MODE = 0o100644 << 16
_UNIX = 3


def pack(folder: Path, out: Path) -> None:
    """Write the zip; the same files give the same bytes, on every machine: nothing in it is packed tight.

    Raises ``RefusedError`` for what no box would take, ``UsageError``, ``StoreError``. Blocks.
    """
    if out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{out} would lie in the folder that is packed; name another place")
    try:
        with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=".pack-") as work:
            staged = stage(str(folder), Path(work, "stage"), fetch=NoFetch())
            packed = Path(work, "packed.zip")
            names = {staged.place_name: staged.place} if staged.place.is_file() else _files(staged.place)
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
                for name in sorted(names):
                    archive.writestr(_entry(name), names[name].read_bytes())
            again = Path(work, "again")
            again.mkdir()
            unpack(packed, again, str(out))
            packed.replace(out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror or error}") from error


def _files(place: Path) -> dict[str, Path]:
    """Below one folder with the plugin's name: a tool module has no name else."""
    return {
        f"{place.name}/{path.relative_to(place).as_posix()}": path for path in place.rglob("*") if not path.is_dir()
    }


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _FIRST_MOMENT)
    entry.create_system = _UNIX
    entry.external_attr = _FILE_MODE
    return entry
