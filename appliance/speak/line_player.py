"""The line player: lines wait here for their turn on the speaker, one sounds, the next is already being synthesised.

Order: priority first, then the order of arrival. A line that sounds is not cut for another, except for an alert:
then it is said again from its start when the alert is over. No line can block the queue for ever: a voice that gives
no sound and a speaker that takes none are given up and reported.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Coroutine
from functools import partial

from appliance import events
from appliance.clock import Clock, within
from appliance.errors import ApplianceError, SoundCardLostError, SynthesisError, TurnDroppedError
from appliance.events import Event
from appliance.ports import CommitGate, Priority
from appliance.speak.clip import Clip
from appliance.speak.line import Line
from appliance.speak.line_voice import LineVoice, VoiceGivenUpError
from appliance.speak.mixer import Lane, Mixer
from appliance.speak.synthesis import Synthesis

_LOG = logging.getLogger(__name__)

#: A speaker that takes nothing at all for this long is gone or stuck.
STALL_SECONDS = 5.0
#: How often a held line asks whether it may sound now.
_HOLD_SECONDS = 0.2
#: How long after its end a line may still come back from the room: two sound buffers and a wake word detector.
_ECHO_SECONDS = 1.0
#: How many lines are synthesised at a time: the one that comes next, and the one behind it.
_AHEAD = 2


class LinePlayer:
    """Plays lines through the mixer; everything on the loop's thread."""

    def __init__(
        self,
        mixer: Mixer,
        voice: LineVoice,
        clock: Clock,
        publish: Callable[[Event], None],
        *,
        has_speaker: Callable[[], bool] = lambda: True,
    ) -> None:
        self._has_speaker = has_speaker
        self._mixer = mixer
        self._voice = voice
        self._clock = clock
        self._publish = publish
        self._waiting: list[Line] = []
        self._current: Line | None = None
        #: When lines ended, and what they said.
        self._ended: list[tuple[float, str]] = []
        self._news = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._helpers: dict[Line, set[asyncio.Task[None]]] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a line sounds or waits."""
        return bool(self._current or self._waiting)

    @property
    def now_saying(self) -> str:
        """The text of the line that is on the speaker right now; "" when none is."""
        return self._current.text if self._current is not None and self._current.has_started else ""

    @property
    def lately_said(self) -> str:
        """What sounds now or did until a moment ago: the card, the room and whoever listens there are late."""
        return " ".join([*(text for _, text in self._echoes()), self.now_saying])

    @property
    def is_synthesizing(self) -> bool:
        """Whether the voice is at work for a line."""
        return any(line.synthesis is not None and not line.synthesis.is_over for line in self._lines())

    def add(self, line: Line) -> None:
        """Put a line in the queue."""
        if self._is_stale(line):
            line.finish()
            return
        self._put(line)
        if line.gate is not None:
            self._help(line, self._watch_gate(line, line.gate))
        if line.priority is Priority.ALERT:
            self._help(line, self._make_way(line, self._synthesize(line)))
        self._synthesize_ahead()
        self._wake()

    def withdraw(self, line: Line) -> None:
        """Drop a line unless it sounds right now."""
        if line is not self._current or not line.has_started:
            self._end(line)

    def stop(self) -> None:
        """Silence now: drops what sounds and what waits, except alerts that nobody has heard yet."""
        self._voice.forget()
        self._mixer.flush(Lane.SPEECH, Lane.HUM)
        for line in self._lines():
            if line.priority is not Priority.ALERT or line.has_started:
                self._end(line)

    async def close(self) -> None:
        """Drop everything, alerts too, and end every task."""
        self._voice.forget()
        for line in self._lines():
            self._end(line)
        tasks = [task for task in (self._worker, self._playing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _echoes(self) -> list[tuple[float, str]]:
        oldest = self._clock.monotonic_seconds() - _ECHO_SECONDS
        return [ended for ended in self._ended if ended[0] > oldest]

    # --------------------------------------------------------------------------------- who comes next

    def _lines(self) -> list[Line]:
        return [*([self._current] if self._current else []), *self._waiting]

    def _put(self, line: Line) -> None:
        self._waiting.append(line)
        self._waiting.sort(key=lambda entry: (-entry.priority, entry.number))

    def _is_stale(self, line: Line) -> bool:
        return line.generation != self._mixer.generation(line.lane)

    def _wake(self) -> None:
        self._news.set()
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(), name="line player")

    async def _work(self) -> None:
        """Play until nothing waits."""
        while self._waiting:
            self._news.clear()
            line = self._next()
            if line is None:
                await self._wait_for_news()
                continue
            self._waiting.remove(line)
            self._current = line
            self._synthesize_ahead()
            self._playing = asyncio.create_task(self._play(line), name="line")
            await asyncio.wait({self._playing})
            self._current = None

    def _next(self) -> Line | None:
        """The line that may sound now; a held one keeps those behind it waiting, an uncommitted one does not."""
        line = next((line for line in self._waiting if line.is_committed), None)
        return None if line is None or _is_held(line) else line

    async def _wait_for_news(self) -> None:
        if not any(_is_held(line) for line in self._waiting):
            await self._news.wait()
            return
        with contextlib.suppress(TimeoutError):
            await within(self._clock, _HOLD_SECONDS, self._news.wait())

    def _help(self, line: Line, work: Coroutine[None, None, None]) -> None:
        """Run ``work`` for as long as ``line`` is not over."""
        self._helpers.setdefault(line, set()).add(asyncio.create_task(work, name="line helper"))

    async def _watch_gate(self, line: Line, gate: CommitGate) -> None:
        try:
            await gate.committed()
        except TurnDroppedError:
            self._end(line)
            return
        line.is_committed = True
        self._wake()

    async def _make_way(self, alert: Line, synthesis: Synthesis) -> None:
        """When the alert's sound is there, and not before, what sounds now is put back to be said again."""
        try:
            await synthesis.chunk(0)
        except Exception:
            return  # There is nothing to make way for; ``_play`` meets the same error and reports it.
        line = self._current
        if line is None or line.is_over or line.priority is Priority.ALERT or alert.is_over:
            return
        if line.clip is not None:
            line.clip.drop()
        self._put(line)
        if self._playing is not None:
            self._playing.cancel()

    # ------------------------------------------------------------------------------------- one line

    def _synthesize_ahead(self) -> None:
        for line in self._lines()[:_AHEAD]:
            self._synthesize(line)

    def _synthesize(self, line: Line) -> Synthesis:
        if line.synthesis is None:
            in_haste = self._lines() == [line]
            line.synthesis = self._voice.begin(line.text, line.turn_id, in_haste=in_haste, growing=line.growing)
        return line.synthesis

    async def _play(self, line: Line) -> None:
        try:
            clip = await self._start(line)
            if clip is not None:
                await self._played_out(clip)
        except VoiceGivenUpError:
            _LOG.info("a line was not said, for the voice hung before in this turn")
        except SynthesisError as error:
            self._report(line, "voice", error)
        except SoundCardLostError as error:
            self._report(line, "speaker", error)
            for waiting in self._lines():
                self._end(waiting)
        except Exception as error:
            # Whatever an adapter does, the lines behind this one must still be said.
            _LOG.exception("a line could not be said")
            self._report(line, "voice", error)
        finally:
            if line not in self._waiting:
                self._end(line)

    async def _start(self, line: Line) -> Clip | None:
        """Write the line's sound into the mixer as it is made; the clip, or None when there was no sound."""
        if self._is_stale(line):
            return None
        synthesis = self._synthesize(line)
        clip: Clip | None = None
        for index in itertools.count():
            chunk = await self._voice.piece(synthesis, index, line.text, line.turn_id)
            if chunk is None:
                break
            if clip is None:
                clip = line.clip = self._mixer.open_clip(line.lane, line.text, partial(self._begin, line))
            if not clip.write(chunk.audio, chunk.phonemes):
                break
        if clip is not None:
            clip.end()
        return clip

    async def _played_out(self, clip: Clip) -> None:
        """Wait for the last sample. Raises ``SoundCardLostError`` when no speaker takes it (any more)."""
        if not self._has_speaker():
            raise SoundCardLostError("there is no speaker")
        while True:
            before = self._mixer.rendered_frames
            try:
                await within(self._clock, STALL_SECONDS, clip.finished())
                return
            except TimeoutError as error:
                if self._mixer.rendered_frames == before:
                    raise SoundCardLostError(f"the speaker took no sound for {STALL_SECONDS:g} s") from error

    def _begin(self, line: Line) -> None:
        """The first sample has left the mixer."""
        if line.has_started or line.is_over:
            return
        line.has_started = True
        self._publish(events.PlaybackStarted(line.turn_id, self._clock.monotonic_seconds(), line.lane.value))
        if line.on_started is not None:
            line.on_started()

    def _end(self, line: Line) -> None:
        """The line is over: said, cut or given up."""
        if line.is_over:
            return
        if line in self._waiting:
            self._waiting.remove(line)
        if line.synthesis is not None:
            line.synthesis.cancel()
        if line.clip is not None:
            line.clip.drop()
            if line.clip.heard_seconds > 0.0:
                self._begin(line)  # A stop may come before the audio thread's word that it began.
        for helper in self._helpers.pop(line, ()):
            if helper is not asyncio.current_task():
                helper.cancel()
        line.finish()
        if line is self._current and self._playing is not None and self._playing is not asyncio.current_task():
            self._playing.cancel()
        if line.has_started:
            self._ended = [*self._echoes(), (self._clock.monotonic_seconds(), line.text)]
            self._publish(events.PlaybackFinished(line.turn_id, self._clock.monotonic_seconds(), line.heard_text))
        self._news.set()

    def _report(self, line: Line, where: str, error: Exception) -> None:
        message = str(error) if isinstance(error, ApplianceError) else type(error).__name__
        self._publish(events.ErrorRaised(line.turn_id, self._clock.monotonic_seconds(), where, message))


def _is_held(line: Line) -> bool:
    return line.is_committed and line.hold is not None and line.hold()
