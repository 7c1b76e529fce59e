"""A person's voice, as the asking side needs it: whoever takes turns stands behind this.

A voice may refuse, and stop. It never allows anything: whoever says yes is only told where the button is.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class SpokenAnswer(enum.StrEnum):
    """What somebody said to a question that waits for a hand; everything else that people say is none."""

    NO = "no"
    #: No, and everything else that goes on is to end too.
    STOP = "stop"
    YES = "yes"


class Ears(Protocol):
    """Hears what is said while a question is open. On the loop."""

    @property
    def can_hear(self) -> bool:
        """Whether somebody who says no now would be heard."""
        ...

    def asking(self, turn_id: str) -> AbstractContextManager[None]:
        """Inside the block that turn waits for the person, and says so to whoever looks; nothing without one."""
        ...

    async def listen(self, turn_id: str, tell: Callable[[SpokenAnswer], None]) -> None:
        """Tell every answer that is heard in that turn, until cancelled. The box's own voice is none."""
        ...

    def stop(self) -> None:
        """End what goes on, the turn that asks too."""
        ...
