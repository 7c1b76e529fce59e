"""The narrator: the only place that decides which line, or hum, is said when around a tool call.

A tool brings four kinds of lines. ANNOUNCE is said once per tool and turn before it runs; a HEARTBEAT after 9 s and
every 21 s, the last one again and again; COMPLETE after success or FAIL after failure, one of them once per tool and
turn; nothing after a refusal. A model that narrates by itself (a reasoning model) gets no lines: one hum takes the
place of each heartbeat. A typed turn is silent. The face follows in every turn.

A heartbeat never follows the end of its call, waits while the call waits for a person, and nothing is said over a
person while the ear is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from appliance import events
from appliance.clock import Clock
from appliance.events import Emotion, Event, LineKind, Outcome
from appliance.ports import CommitGate
from appliance.speak.clip import Clip
from appliance.speak.hum import Hum
from appliance.speak.saying import Saying
from appliance.speak.speaker import Speaker
from appliance.tools.tool import CallContext, Tool, ToolCall, ToolResult, VoiceLines

#: From the page of the tool module contract ("about 9 s, then about every 21 s").
FIRST_HEARTBEAT_SECONDS = 9.0
NEXT_HEARTBEAT_SECONDS = 21.0
#: A heartbeat that falls into a wait for a person is due again after this.
DEFERRED_SECONDS = 9.0
#: How often a heartbeat looks whether the ear has closed.
_LOOK_SECONDS = 0.5
#: A hum that sounds while its tool ends fades out this slowly, as a voice would.
_HUM_FADE_SECONDS = 0.08


@dataclass
class _Turn:
    """What the narrator knows of the turn that is on; the sets hold names of tools."""

    turn_id: str
    gate: CommitGate
    is_voice: bool
    is_reasoning: bool
    announced: set[str] = field(default_factory=set)
    concluded: set[str] = field(default_factory=set)

    @property
    def has_lines(self) -> bool:
        return self.is_voice and not self.is_reasoning


@dataclass
class _Call:
    """One running call."""

    turn_id: str
    turn: _Turn | None
    waits: int = 0
    beats: asyncio.Task[None] | None = None
    heartbeat: Saying | None = None
    hum: Clip | None = None

    def end(self) -> None:
        """No heartbeat and no hum any more; a heartbeat that sounds is said to its end."""
        if self.beats is not None:
            self.beats.cancel()
        if self.heartbeat is not None:
            self.heartbeat.withdraw()
        if self.hum is not None:
            self.hum.drop(_HUM_FADE_SECONDS)


class Narrator:
    """Meets ``CallObserver``. ``hum`` is None when hums are switched off; ``is_listening`` tells an open ear."""

    def __init__(
        self,
        speaker: Speaker,
        clock: Clock,
        publish: Callable[[Event], None],
        hum: Hum | None = None,
        *,
        is_listening: Callable[[], bool] = lambda: False,
    ) -> None:
        self._speaker = speaker
        self._clock = clock
        self._publish = publish
        self._hum = hum
        self._is_listening = is_listening
        self._turn: _Turn | None = None
        self._calls: dict[str, _Call] = {}

    def begin_turn(self, turn_id: str, gate: CommitGate, channel: str, is_reasoning: bool) -> None:
        """A turn starts: ``channel`` is voice or text, ``is_reasoning`` whether its model narrates by itself."""
        self.end_turn()
        self._turn = _Turn(turn_id, gate, channel == "voice", is_reasoning)

    def end_turn(self) -> None:
        """The turn is over: whatever still runs has nothing more to say."""
        for call in self._calls.values():
            call.end()
        self._calls.clear()
        self._turn = None

    # -------------------------------------------------------------------------------------- CallObserver

    def started(self, call: ToolCall, tool: Tool, context: CallContext) -> None:
        """The call is about to run: focus face, ANNOUNCE, and heartbeats from now on."""
        turn = self._turn if self._turn is not None and self._turn.turn_id == context.turn_id else None
        running = self._calls[call.call_id] = _Call(context.turn_id, turn)
        self._show(context.turn_id, tool.expressions.focus, "focus")
        if turn is None or not turn.is_voice:
            return
        lines = tool.voice_lines
        if turn.has_lines:
            if tool.name not in turn.announced and self._say(turn, LineKind.ANNOUNCE, lines.announce):
                turn.announced.add(tool.name)
            self._speaker.prepare(_fixed_lines(lines), soon=True)
        if not tool.is_interactive and (lines.heartbeat or turn.is_reasoning):
            running.beats = asyncio.create_task(self._beat(turn, running, lines.heartbeat), name="heartbeats")

    def waiting_for_person(self, call: ToolCall, is_waiting: bool) -> None:
        """The call is blocked on a human, or no longer; waits may overlap."""
        running = self._calls.get(call.call_id)
        if running is not None:
            running.waits += 1 if is_waiting else -1

    def finished(self, call: ToolCall, tool: Tool, result: ToolResult) -> None:
        """The call ended: COMPLETE, or FAIL with its face, or nothing."""
        running = self._calls.pop(call.call_id, None)
        if running is None:
            return
        running.end()
        kind = {Outcome.OK: LineKind.COMPLETE, Outcome.FAILED: LineKind.FAIL}.get(result.outcome)
        if kind is LineKind.FAIL:
            self._show(running.turn_id, tool.expressions.fail, "fail")
        turn = running.turn
        if turn is None or kind is None or not turn.has_lines or tool.name in turn.concluded:
            return
        lines = tool.voice_lines
        if self._say(turn, kind, lines.complete if kind is LineKind.COMPLETE else lines.fail):
            turn.concluded.add(tool.name)

    # ------------------------------------------------------------------------------------------- private

    def _say(self, turn: _Turn, kind: LineKind, line: str) -> Saying | None:
        """Queue a line; None when it is blank."""
        text = line.strip()
        if not text:
            return None
        return self._speaker.say(
            text,
            turn_id=turn.turn_id,
            gate=turn.gate,
            hold=self._is_listening,
            on_started=partial(self._narrated, turn, kind, text),
        )

    async def _beat(self, turn: _Turn, call: _Call, lines: Sequence[str]) -> None:
        """Heartbeats of one call, until it is cancelled."""
        beats = 0
        wait_seconds = FIRST_HEARTBEAT_SECONDS
        while True:
            await self._clock.sleep(wait_seconds)
            wait_seconds = self._deferred_seconds(turn, call)
            if wait_seconds > 0.0:
                continue
            if turn.is_reasoning:
                call.hum = self._play_hum(turn)
            else:
                call.heartbeat = self._say(turn, LineKind.HEARTBEAT, lines[min(beats, len(lines) - 1)])
            beats += 1
            wait_seconds = NEXT_HEARTBEAT_SECONDS

    def _deferred_seconds(self, turn: _Turn, call: _Call) -> float:
        """How much later a heartbeat that is due now must come; 0 for now."""
        if call.waits > 0:
            return DEFERRED_SECONDS
        if self._is_listening() or (turn.is_reasoning and self._speaker.is_speaking):
            return _LOOK_SECONDS
        if call.heartbeat is not None and not call.heartbeat.is_over:
            return DEFERRED_SECONDS  # The last one still waits behind something: do not pile them up.
        return 0.0

    def _play_hum(self, turn: _Turn) -> Clip | None:
        sound = self._hum.next_sound() if self._hum is not None else None
        if sound is None:
            return None
        return self._speaker.hum(sound, turn.turn_id, partial(self._narrated, turn, LineKind.HUM, ""))

    def _narrated(self, turn: _Turn, kind: LineKind, text: str) -> None:
        self._publish(events.Narrated(turn.turn_id, self._clock.monotonic_seconds(), kind, text))

    def _show(self, turn_id: str, emotion: Emotion, source: str) -> None:
        self._publish(events.EmotionChanged(turn_id, self._clock.monotonic_seconds(), emotion, source))


def _fixed_lines(lines: VoiceLines) -> list[str]:
    """What may be said from now on, in the order in which it may be needed."""
    return [text for text in (*lines.heartbeat, lines.complete, lines.fail, lines.announce) if text.strip()]
