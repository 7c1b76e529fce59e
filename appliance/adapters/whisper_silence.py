"""The encoded silence, kept between starts: working it out takes as long as loading the weights does."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class KeptSilence:
    """A file in ``folder``, which is for it alone, for the weights in ``weights``; another engine makes its own.

    A disk that takes nothing, or a file that is not whole, costs time and nothing else.
    """

    def __init__(self, folder: Path, weights: Path) -> None:
        self._folder = folder
        self._weights = weights

    def load(self) -> npt.NDArray[Any] | None:
        """What was kept, if it is whole."""
        with contextlib.suppress(OSError, ValueError, EOFError):
            kept: npt.NDArray[Any] = np.load(self._file(), allow_pickle=False)
            return kept
        return None

    def keep(self, silence: npt.NDArray[Any]) -> None:
        """Keep it, instead of that of other weights."""
        with contextlib.suppress(OSError):
            file = self._file()
            self._folder.mkdir(parents=True, exist_ok=True)
            for other in self._folder.glob("*.npy"):
                other.unlink()
            fresh = self._folder / f".{os.getpid()}.new"
            with fresh.open("wb") as stream:
                np.save(stream, silence, allow_pickle=False)
            fresh.replace(file)

    def _file(self) -> Path:
        import ctranslate2

        found = (self._weights / "model.bin").stat()
        made_of = f"{self._weights.name} {found.st_size} {found.st_mtime_ns} {ctranslate2.__version__}"
        return self._folder / f"{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.npy"
