"""Python's own names (``print``, ``open``, ``len``): a plugin that replaces one replaces it for the whole program."""

from __future__ import annotations

import builtins

_ABSENT = object()


class BuiltinNames:
    """The names as they are when this is made: before any plugin runs. Names that a plugin adds are left alone."""

    def __init__(self) -> None:
        self._own = dict(vars(builtins))

    def restore(self) -> list[str]:
        """Put back what was replaced or removed since; its names. Any thread."""
        now = vars(builtins)
        # Told apart by identity: what stands there now may be anything, and be equal to everything.
        changed = [name for name, own in self._own.items() if now.get(name, _ABSENT) is not own]
        for name in changed:
            now[name] = self._own[name]
        return changed
