"""Two observers of the bus: one writes every fact to a file, one keeps the times of each turn."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from collections.abc import Callable
from typing import Any, TextIO

from appliance import events
from appliance.errors import StoreError
from appliance.events import Event
from appliance.store.turn_log import TurnLog, TurnStep

_LOG = logging.getLogger(__name__)

#: The first event of each kind in a turn ends a stage of it.
_STAGES: dict[type[Event], str] = {
    events.SpeechStarted: "speech_started",
    events.SpeechEnded: "speech_ended",
    events.Transcribed: "transcribed",
    events.ApprovalRequested: "asked",
    events.ApprovalDecided: "decided",
    events.ToolStarted: "first_tool",
    events.ToolFinished: "first_tool_done",
    events.PlaybackStarted: "first_sound",
    events.ReplySentenceSpoken: "first_reply_sound",
    events.TurnEnded: "ended",
}


#: Fields of events that hold what was said.
_WORDS = ("text", "heard_text", "message", "note")
_HIDDEN = "(private)"


def traced(event: Event, *, is_private: bool) -> dict[str, Any]:
    """The event as a line of a trace; in a private chat without its words."""
    line = event.to_trace()
    return {name: _HIDDEN if is_private and value and name in _WORDS else value for name, value in line.items()}


class TraceFile:
    """Writes one JSON line per event, flushed at once so that a killed process leaves a readable trace.

    ``is_private`` tells whether the chat that is on is a private one.
    """

    def __init__(self, stream: TextIO, is_private: Callable[[], bool] = lambda: False) -> None:
        self._stream = stream
        self._is_private = is_private

    def __call__(self, event: Event) -> None:
        line = traced(event, is_private=self._is_private())
        self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._stream.flush()


class StepRows:
    """The rows and status lines of one turn's calls, put together from their events."""

    def __init__(self) -> None:
        self.rows: list[TurnStep] = []

    def add(self, event: Event, seconds: float) -> None:
        """Take one event, ``seconds`` after the turn began."""
        seconds = round(seconds, 4)
        match event:
            case events.StepStarted(call_id=call_id, tool=tool, kind=kind):
                self.rows.append(TurnStep(seconds, tool, kind, call_id))
            case events.StepDone(call_id=call_id, mark=mark, note=note):
                self._end(call_id, seconds, mark.value, note)
            case events.Peeked(tool=""):
                self._end("", seconds)
            case events.Peeked(tool=tool):
                self.rows.append(TurnStep(seconds, tool, "read"))

    def _end(self, call_id: str, seconds: float, mark: str = "", note: str = "") -> None:
        for index, row in enumerate(self.rows):
            if row.call_id == call_id and row.ended_seconds is None:
                self.rows[index] = dataclasses.replace(row, ended_seconds=seconds, mark=mark, note=note)


class Stopwatch:
    """Writes the times of each turn into the turn log: seconds from its start to the end of each stage.

    ``chat`` gives the id of the chat in use. Turns between two rings, in which nobody spoke, are not kept.
    """

    def __init__(self, log: TurnLog, chat: Callable[[], str]) -> None:
        self._log = log
        self._chat = chat
        self._started: dict[str, float] = {}
        self._reached: set[tuple[str, str]] = set()
        self._steps: dict[str, StepRows] = {}
        self._writing: set[asyncio.Task[None]] = set()

    def __call__(self, event: Event) -> None:
        if isinstance(event, events.TurnStarted):
            self._started[event.turn_id] = event.at_seconds
            self._log.begin(event.turn_id, self._chat(), event.origin)
        started = self._started.get(event.turn_id)
        if started is None:
            return
        if isinstance(event, events.StepStarted | events.StepDone | events.Peeked):
            rows = self._steps.setdefault(event.turn_id, StepRows())
            rows.add(event, event.at_seconds - started)
            self._log.add_steps(event.turn_id, rows.rows)
        stage = _STAGES.get(type(event))
        if stage is None or (stage == "decided" and (event.turn_id, "asked") not in self._reached):
            return  # Nobody waited for a decision that the settings had made.
        if (event.turn_id, stage) not in self._reached:
            self._reached.add((event.turn_id, stage))
            self._log.stage(event.turn_id, stage, event.at_seconds - started)
        if isinstance(event, events.TurnEnded):
            del self._started[event.turn_id]
            self._steps.pop(event.turn_id, None)
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
