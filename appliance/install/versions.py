"""Which of two versions is the older one."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(.*)", re.DOTALL)
#: What is before the release itself: 2.0rc1, 2.0.dev3, 2.0-beta.
_EARLY = re.compile(r"[-_.]?(dev|a|alpha|b|beta|c|rc|pre|preview)[-_.]?(\d*)", re.IGNORECASE)
_EARLY_ORDER = ("dev", "a", "alpha", "b", "beta", "c", "rc", "pre", "preview")


def is_older(version: str, other: str) -> bool:
    """Whether ``version`` comes before ``other``; False when one of both is no version that can be compared."""
    mine, theirs = _rank(version), _rank(other)
    return mine is not None and theirs is not None and mine < theirs


def _rank(version: str) -> tuple[tuple[int, ...], int, int] | None:
    found = _VERSION.fullmatch(version.strip())
    if found is None:
        return None
    numbers = tuple(map(int, found[1].split(".")))
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    early = _EARLY.match(found[2])
    if early is None:
        return numbers, len(_EARLY_ORDER), 0
    return numbers, _EARLY_ORDER.index(early[1].lower()), int(early[2] or 0)
