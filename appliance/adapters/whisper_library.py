"""faster-whisper without two libraries that it imports first and that the box has no use for.

``av`` reads films and ``huggingface_hub`` fetches weights: half of its import together. A stand-in takes their places
while faster-whisper is imported, and brings the library when something is wanted of it after all.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_NEVER_USED = ("av", "huggingface_hub")


def whisper_model() -> Any:
    """``faster_whisper.WhisperModel``. Takes some hundred milliseconds when it is imported first; any thread."""
    with _stand_ins([name for name in _NEVER_USED if name not in sys.modules]):
        from faster_whisper import WhisperModel
    return WhisperModel


@contextmanager
def _stand_ins(names: list[str]) -> Iterator[None]:
    """For whoever imports these meanwhile."""
    put = [_StandIn(name) for name in names]
    sys.modules.update({module.__name__: module for module in put})
    try:
        yield
    finally:
        for module in put:
            module.leave()


class _StandIn(ModuleType):
    """Has whatever the library has, which is imported when that is asked for.

    The standard library's ``LazyLoader`` imports it at once: the import statement itself looks at ``__spec__``.
    """

    def __getattr__(self, name: str) -> Any:
        self.leave()
        return getattr(importlib.import_module(self.__name__), name)

    def leave(self) -> None:
        """Whoever imports the library from now on gets it."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
