"""Deletes the chats that nobody has used for long, at the start, once a day, and when the owner changes how long."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import timedelta

from appliance.clock import Clock, within
from appliance.errors import StoreError
from appliance.store.chat_log import StoredChatLog

_LOG = logging.getLogger(__name__)

_DAY_SECONDS = 86_400.0
#: A board without a battery learns the time some seconds or minutes after its start.
_CLOCK_SECONDS = 600.0


class Retention:
    """``days`` is how long a chat may lie; 0 keeps all."""

    def __init__(self, chats: StoredChatLog, clock: Clock, days: int) -> None:
        self._chats = chats
        self._clock = clock
        self._days = days
        self._is_changed = asyncio.Event()

    def change(self, days: int) -> None:
        """Keep chats for so long from now on."""
        self._days = days
        self._is_changed.set()

    async def run(self) -> None:
        """For ever; a store that fails is tried again the next day."""
        while True:
            # A clock that is wrong would make everything old.
            while self._days and not self._clock.is_trusted():
                await self._clock.sleep(_CLOCK_SECONDS)
            self._is_changed.clear()
            if self._days:
                await self._delete_old()
            with contextlib.suppress(TimeoutError):
                await within(self._clock, _DAY_SECONDS, self._is_changed.wait())

    async def _delete_old(self) -> None:
        try:
            gone = await self._chats.delete_unused(self._clock.now() - timedelta(days=self._days))
            if gone:
                _LOG.info("%d chats were not used for %d days and are deleted", len(gone), self._days)
        except StoreError as error:
            _LOG.warning("old chats cannot be deleted: %s", error)
