"""What ringing means: bursts of a bell that grow, what it is about, and a gap in which "stop" needs no wake word.

Several things that come due together ring as one. A reminder is no alarm: it is said a few times and then kept
for the next time that somebody speaks. Everything ends: by stop, by snooze, or after ``ring_seconds``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from appliance.audio import AudioChunk
from appliance.clock import Clock
from appliance.device.entry import Due, Kind, RingEnding
from appliance.device.tone import Tone, burst
from appliance.errors import StoreError

_LOG = logging.getLogger(__name__)

#: How long the ear is open between two bursts.
GAP_SECONDS = 3.0
#: What it is about is said with the first burst and then with every third: a bell is heard better than a sentence.
_SAID_EVERY = 3
#: Loudness of the first burst, and how many bursts it takes to grow to full.
_FIRST_LOUDNESS = 0.25
_GROWING_BURSTS = 6
_REMINDER_TIMES = 3
_REMINDER_PAUSE_SECONDS = 20.0


@dataclass(frozen=True)
class RingAnswer:
    """How a person ended the ring; ``snooze_seconds`` counts with ``SNOOZED`` only."""

    ending: RingEnding
    snooze_seconds: float = 0.0


@dataclass(frozen=True)
class RingPorts:
    """What the ringer needs from the house.

    ``play`` and ``say`` return when the sound is over (alert lane, never quieter than the alert floor) and are
    cancelled when the ring is ended. ``gap(seconds)`` opens the ear that long (and takes that long when there is no
    ear) and gives what the person answered; None when nothing was said, or when the answer already ended the ring
    through ``Ringer.end``. It is never cancelled. ``tell(key, text)`` gives a notice that may wait. ``words`` says
    what is due. ``ended`` stores how a ring ended; it may raise ``StoreError``.
    """

    play: Callable[[AudioChunk], Awaitable[None]]
    say: Callable[[str], Awaitable[None]]
    gap: Callable[[float], Awaitable[RingAnswer | None]]
    tell: Callable[[str, str], None]
    words: Callable[[Sequence[Due]], str]
    ended: Callable[[Due, RingEnding, float], Awaitable[None]]


class Ringer:
    """Rings for what is due, one ring at a time; lives on the loop."""

    def __init__(
        self, ports: RingPorts, clock: Clock, *, ring_seconds: float = 600.0, sample_rate_hz: int = 22_050
    ) -> None:
        self._ports = ports
        self._clock = clock
        self._ring_seconds = ring_seconds
        self._sample_rate_hz = sample_rate_hz
        self._dues: list[Due] = []
        self._stopped: list[Due] = []
        self._to_tell: list[Due] = []
        self._joined_seconds = 0.0
        self._bursts = 0
        self._arrived = asyncio.Event()
        self._over = asyncio.Event()

    @property
    def ringing(self) -> tuple[Due, ...]:
        """What rings now."""
        return tuple(self._dues)

    def add(self, due: Due) -> None:
        """Ring for it, together with what already rings; what is far too late is only told."""
        if due.is_only_told:
            self._to_tell.append(due)
        else:
            self._dues.append(due)
            # Whoever joins has the whole time to be heard.
            self._joined_seconds, self._bursts = self._clock.monotonic_seconds(), 0
        self._arrived.set()

    def stop(self) -> bool:
        """Silence at once (button, wake word), stored a moment later; False when nothing rings."""
        dues = self._take()
        if dues:
            self._stopped += dues
            self._over.set()
            self._arrived.set()
        return bool(dues)

    async def end(self, answer: RingAnswer) -> tuple[Due, ...]:
        """End the ring as answered and return what rang; all of it is stored by then.

        Raises ``StoreError`` when storing failed; the ring has ended as answered nevertheless.
        """
        dues = self._take()
        if dues:
            self._over.set()
        problem: StoreError | None = None
        for due in dues:
            try:
                await self._ports.ended(due, answer.ending, answer.snooze_seconds)
            except StoreError as error:
                problem = error
        if problem is not None:
            raise problem
        return tuple(dues)

    async def run(self) -> None:
        """Ring for whatever is added, for ever."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await self._tell_late()
            stopped, self._stopped = self._stopped, []
            await self._close(stopped, RingAnswer(RingEnding.STOPPED))
            if self._dues:
                await self._ring()

    async def _tell_late(self) -> None:
        while self._to_tell:
            due = self._to_tell.pop(0)
            self._ports.tell(f"late-{due.entry.entry_id}", self._ports.words([due]))
            await self._close([due], RingAnswer(RingEnding.STOPPED))

    async def _ring(self) -> None:
        """One ring, from the first burst to its end."""
        self._over.clear()
        answer = RingAnswer(RingEnding.UNANSWERED)
        while not self._is_spent:
            given = await self._burst()
            await self._tell_late()
            if self._over.is_set():
                # What came due while the other was being stopped rings next.
                return
            if given is not None:
                answer = given
                break
        await self._close(self._take(), answer)

    async def _burst(self) -> RingAnswer | None:
        """Sound, words, gap; how a person answered in the gap."""
        number, is_reminder = self._bursts, self._is_reminder
        self._bursts += 1
        loudness = min(1.0, _FIRST_LOUDNESS + (1.0 - _FIRST_LOUDNESS) * number / _GROWING_BURSTS)
        await self._unless_over(self._ports.play(burst(self._tone, loudness, self._sample_rate_hz)))
        if self._dues and (is_reminder or number % _SAID_EVERY == 0):
            await self._unless_over(self._ports.say(self._ports.words(self._dues)))
        if self._over.is_set():
            return None
        given = await self._gap()
        if given is None and is_reminder and self._bursts < _REMINDER_TIMES:
            await self._unless_over(self._clock.sleep(_REMINDER_PAUSE_SECONDS))
        return given

    async def _gap(self) -> RingAnswer | None:
        try:
            return await self._ports.gap(GAP_SECONDS)
        except Exception:
            # Deaf, but the alarm must go on ringing.
            _LOG.exception("nobody can be heard while something rings")
            await self._unless_over(self._clock.sleep(GAP_SECONDS))
            return None

    async def _unless_over(self, sound: Awaitable[None]) -> None:
        """Wait for ``sound``, but not beyond the end of the ring."""
        work = asyncio.ensure_future(sound)
        end = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({work, end}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            end.cancel()
            work.cancel()
        (failure,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(failure, Exception):
            # Mute, but the next burst may be heard again; without sound there is nothing that takes time.
            _LOG.error("an alarm cannot be heard: %s", failure)
            await self._clock.sleep(GAP_SECONDS)

    async def _close(self, dues: Sequence[Due], answer: RingAnswer) -> None:
        for due in dues:
            try:
                await self._ports.ended(due, answer.ending, answer.snooze_seconds)
            except StoreError as error:
                _LOG.error("the end of a ring could not be stored, it may ring again after a restart: %s", error)

    def _take(self) -> list[Due]:
        dues, self._dues = self._dues, []
        return dues

    @property
    def _is_spent(self) -> bool:
        """Whether it rang long enough."""
        if self._is_reminder:
            return self._bursts >= _REMINDER_TIMES
        return self._clock.monotonic_seconds() - self._joined_seconds >= self._ring_seconds

    @property
    def _is_reminder(self) -> bool:
        return all(due.entry.kind is Kind.REMINDER for due in self._dues)

    @property
    def _tone(self) -> Tone:
        if self._is_reminder:
            return Tone.REMINDER
        return Tone.ALARM if any(due.entry.kind is Kind.ALARM for due in self._dues) else Tone.TIMER
