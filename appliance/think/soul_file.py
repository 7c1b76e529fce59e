"""The soul in force: the owner's file while it can be used, else the shipped one; edited, it is read again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.clock import Clock
from appliance.errors import ConfigError
from appliance.think.soul import Soul

_LOG = logging.getLogger(__name__)

#: How often the file is looked at.
_LOOK_SECONDS = 3.0

#: Told when the soul has changed.
Follow = Callable[[Soul], Awaitable[None]]


@dataclass(frozen=True)
class FoundSoul:
    """A soul, and in sentences for the owner what is wrong with their file."""

    soul: Soul
    problems: tuple[str, ...] = ()


def find_soul(own: Path, shipped: Path) -> FoundSoul:
    """The owner's soul, else the shipped one. Reads the disk; raises ``ConfigError`` when not even that can be read."""
    try:
        soul = Soul.load(own)
    except ConfigError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return FoundSoul(Soul.load(shipped))
        return FoundSoul(Soul.load(shipped), (f"{error}; the shipped one is used",))
    if soul == Soul():
        what = "no name, and no heading such as ## Personality with a text under it"
        problem = f"the soul {own} holds nothing that I understand ({what}); the shipped one is used"
        return FoundSoul(Soul.load(shipped), (problem,))
    return FoundSoul(soul, tuple(f"the soul {own}: {remark}" for remark in soul.remarks))


class SoulWatch:
    """Keeps the soul in force, and tells its followers when the owner has edited their file. Used on our loop."""

    def __init__(self, own: Path, shipped: Path, clock: Clock) -> None:
        """Read it; blocks on the disk. Raises ``ConfigError`` when there is no soul at all."""
        self._own = own
        self._shipped = shipped
        self._clock = clock
        self._followers: list[Follow] = []
        self._seen = _state_of(own)
        self._found = find_soul(own, shipped)
        #: Language and voice are chosen once, when the box starts.
        self._chosen = _choice(self.soul)

    @property
    def soul(self) -> Soul:
        """The soul in force."""
        return self._found.soul

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the owner's file, or to be known about it, in sentences."""
        if _choice(self.soul) == self._chosen:
            return self._found.problems
        return (*self._found.problems, "another language or voice in the soul counts from the next start")

    def follow(self, follower: Follow) -> None:
        """Tell this one of every later change, even when only the problems are others."""
        self._followers.append(follower)

    async def run(self) -> None:
        """Look at the file again and again, until cancelled."""
        while True:
            await self._clock.sleep(_LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Read the file again if it was changed. A soul that cannot be read any more leaves the one in force."""
        state = await asyncio.to_thread(_state_of, self._own)
        if state == self._seen:
            return
        self._seen = state
        try:
            self._found = await asyncio.to_thread(find_soul, self._own, self._shipped)
        except ConfigError as error:
            _LOG.error("%s", error)
            return
        for follower in self._followers:
            try:
                await follower(self.soul)
            except Exception:
                _LOG.exception("a change of the soul was not followed")


def _choice(soul: Soul) -> tuple[str, str]:
    """Language and voice; "auto" leaves the choice as nothing does."""
    return "" if soul.language == "auto" else soul.language, soul.voice


def _state_of(file: Path) -> tuple[int, ...]:
    """Differs when the file does; () when there is none."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode)
