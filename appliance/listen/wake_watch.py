"""The watch for wake words: the model behind its loudness gate, the second look, and whoever waits to be called.

The sound from a wake word on is kept from the moment it is found, while the second look goes on: nothing that is
said behind it is lost. A finding that turns out to be no call leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.listen.loudness_gate import LOOK_BACK_SECONDS, LoudnessGate
from appliance.listen.pre_roll import PreRoll
from appliance.listen.wake_check import LOOK_SECONDS, WakeCheck
from appliance.ports import WakeWordDetector

_LOG = logging.getLogger(__name__)

#: One saying of the wake word is found once.
_REFRACTORY_SECONDS = 1.0

_RATE_HZ = HEARING_FORMAT.sample_rate_hz


class WakeWatch:
    """Looks at sound that is in ``pre_roll`` already. ``check`` may be set; without one every finding is a call.

    ``woken_at`` is the position in ``pre_roll`` at which the last call was found; its owner clears it.
    """

    def __init__(self, detector: WakeWordDetector, pre_roll: PreRoll, when_early: Callable[[], None]) -> None:
        self.check: WakeCheck | None = None
        self.woken_at: int | None = None
        self._detector = detector
        self._pre_roll = pre_roll
        self._gate = LoudnessGate()
        self._was_open = True
        self._deaf_until = 0
        self._waiting: list[asyncio.Future[str]] = []
        self._looks: set[asyncio.Task[None]] = set()
        #: The wake word that was found before anybody had ever waited for one.
        self._early_phrase = ""
        self._is_awaited = False
        self._when_early = when_early

    async def wake(self) -> str:
        """Wait for the next wake word; its phrase. Several may wait, all are told.

        One that was found while nobody had waited yet is the next, for as long as the sound behind it is kept.
        """
        self._is_awaited, early, self._early_phrase = True, self._early_phrase, ""
        if early and self.woken_at is not None:
            return early
        waiting: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            return await waiting
        finally:
            self._waiting.remove(waiting)

    def hear(self, samples: Samples) -> None:
        """Look for a wake word that ends in ``samples``, the newest of the pre-roll."""
        was_open, self._was_open = self._was_open, self._gate.is_open_for(samples)
        if not self._was_open:
            return
        if not was_open:
            # What the model heard last is long ago; its word may have begun softly, before the gate opened.
            self._detector.reset()
            samples = self._pre_roll.since(self._pre_roll.end - len(samples) - round(LOOK_BACK_SECONDS * _RATE_HZ))
        phrase = self._detector.detect(AudioChunk(samples, HEARING_FORMAT))
        if phrase is None or self._pre_roll.end < self._deaf_until:
            return
        self._detector.reset()
        self._find(phrase)

    def reset(self) -> None:
        """The sound that follows is not joined to what came before."""
        self._detector.reset()

    def forget(self) -> None:
        """The same, and nothing that was found before counts any more."""
        self.reset()
        self.woken_at = None
        for look in self._looks:
            look.cancel()

    def _find(self, phrase: str) -> None:
        self.woken_at = self._pre_roll.end
        self._deaf_until = self._pre_roll.end + round(_REFRACTORY_SECONDS * _RATE_HZ)
        if self.check is None:
            self._call(phrase)
            return
        sound = self._pre_roll.since(self._pre_roll.end - round(LOOK_SECONDS * _RATE_HZ))
        look = asyncio.create_task(self._look_again(self.check, phrase, sound, self.woken_at), name="wake check")
        self._looks.add(look)
        look.add_done_callback(self._looks.discard)

    async def _look_again(self, check: WakeCheck, phrase: str, sound: Samples, found_at: int) -> None:
        try:
            is_call = await check.is_call(phrase, sound)
        except Exception:
            _LOG.exception("the second look at a wake word failed")
            is_call = True
        if is_call:
            self._call(phrase)
        elif self.woken_at == found_at:
            self.woken_at = None

    def _call(self, phrase: str) -> None:
        if not self._is_awaited:
            self._early_phrase = phrase
            self._when_early()
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(phrase)
