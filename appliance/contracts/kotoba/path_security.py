"""The path jail that tool modules import as ``kotoba.core.path_security``."""

from __future__ import annotations

from os import PathLike
from pathlib import Path


class PathSecurityError(Exception):
    """A path leads out of the folder that it must stay in."""


def validate_within_dir(path: str | PathLike[str], root: str | PathLike[str]) -> Path:
    """``path`` as an absolute path inside ``root``; it need not exist.

    ``~``, ``..`` and symbolic links are followed first; a relative path starts at ``root``. Raises
    ``PathSecurityError`` when it ends outside. Nothing here guards against a change between check and use.
    """
    base = Path(root).expanduser().resolve()
    target = (base / Path(path).expanduser()).resolve()
    if not target.is_relative_to(base):
        raise PathSecurityError(f"{path} is outside {base}")
    return target
