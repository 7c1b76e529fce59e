"""A warm model: while the person begins to speak, the model gets ready for what they will say.

A model in the house computes the beginning of the prompt (instructions, tools, conversation), which is most of it and
the same whatever is said; servers like llama.cpp keep that. To a model outside only the connection is opened, for
there tokens cost money.
"""

from __future__ import annotations

import asyncio
import logging

from appliance.clock import Clock
from appliance.errors import ApplianceError
from appliance.first_request import FirstRequest
from appliance.think.drafted_endpoint import DraftedEndpoint

_LOG = logging.getLogger(__name__)

#: A beginning that was computed so recently is still there: a talk in short turns keeps it warm by itself.
_BEGINNING_SECONDS = 15.0
#: Servers keep an idle connection for a minute at least, most of them.
_CONNECTION_SECONDS = 50.0


class WarmModel:
    """Warms the model up, at most once at a time and once in a while. No turn waits for it, none fails by it."""

    def __init__(self, endpoint: DraftedEndpoint, first: FirstRequest, clock: Clock, *, is_model_local: bool) -> None:
        self._endpoint = endpoint
        self._first = first
        self._clock = clock
        self._is_model_local = is_model_local
        self._not_before_seconds = 0.0
        self._warming: asyncio.Task[None] | None = None

    def begin(self, turn_id: str) -> None:
        """Somebody called the box; returns at once."""
        now = self._clock.monotonic_seconds()
        if now < self._not_before_seconds or (self._warming is not None and not self._warming.done()):
            return
        self._not_before_seconds = now + (_BEGINNING_SECONDS if self._is_model_local else _CONNECTION_SECONDS)
        self._warming = asyncio.create_task(self._warm(turn_id), name="warm model")

    async def close(self) -> None:
        """End what runs."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)

    async def _warm(self, turn_id: str) -> None:
        try:
            request = await self._first.beginning(turn_id)
            if request is not None:
                await self._endpoint.warm_up(request if self._is_model_local else None)
        except ApplianceError as error:
            # The turn will meet the same, and tell it.
            _LOG.info("the model could not be warmed up: %s", type(error).__name__)
        except Exception:
            _LOG.exception("warming up the model broke")
