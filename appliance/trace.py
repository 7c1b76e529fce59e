"""Two observers of the bus: one writes every fact to a file, one keeps the times of each turn."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import TextIO

from appliance import events
from appliance.errors import StoreError
from appliance.events import Event
from appliance.store.turn_log import TurnLog

_LOG = logging.getLogger(__name__)

#: The first event of each kind in a turn ends a stage of it.
_STAGES: dict[type[Event], str] = {
    events.SpeechStarted: "speech_started",
    events.SpeechEnded: "speech_ended",
    events.Transcribed: "transcribed",
    events.ToolStarted: "first_tool",
    events.ToolFinished: "first_tool_done",
    events.PlaybackStarted: "first_sound",
    events.ReplySentenceSpoken: "first_reply_sound",
    events.TurnEnded: "ended",
}


class TraceFile:
    """Writes one JSON line per event, flushed at once so that a killed process leaves a readable trace."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, event: Event) -> None:
        self._stream.write(json.dumps(event.to_trace(), ensure_ascii=False) + "\n")
        self._stream.flush()


class Stopwatch:
    """Writes the times of each turn into the turn log: seconds from its start to the end of each stage.

    ``chat`` gives the id of the chat in use. Turns between two rings, in which nobody spoke, are not kept.
    """

    def __init__(self, log: TurnLog, chat: Callable[[], str]) -> None:
        self._log = log
        self._chat = chat
        self._started: dict[str, float] = {}
        self._reached: set[tuple[str, str]] = set()
        self._writing: set[asyncio.Task[None]] = set()

    def __call__(self, event: Event) -> None:
        if isinstance(event, events.TurnStarted):
            self._started[event.turn_id] = event.at_seconds
            self._log.begin(event.turn_id, self._chat(), event.origin)
        started = self._started.get(event.turn_id)
        stage = _STAGES.get(type(event))
        if started is None or stage is None:
            return
        if (event.turn_id, stage) not in self._reached:
            self._reached.add((event.turn_id, stage))
            self._log.stage(event.turn_id, stage, event.at_seconds - started)
        if isinstance(event, events.TurnEnded):
            del self._started[event.turn_id]
            self._reached = {entry for entry in self._reached if entry[0] != event.turn_id}
            writing = asyncio.create_task(self._write(event, self._chat()), name="turn log")
            self._writing.add(writing)
            writing.add_done_callback(self._writing.discard)

    async def close(self) -> None:
        """Wait until everything is written."""
        await asyncio.gather(*self._writing)

    async def _write(self, event: events.TurnEnded, chat: str) -> None:
        try:
            # Only now it is certain which chat this was: a turn asks for it when it begins to think.
            await self._log.end(event.turn_id, event.reason.value, chat=chat)
        except StoreError as error:
            _LOG.warning("the times of a turn could not be kept: %s", error)
