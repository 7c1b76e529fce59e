"""The ear hears without end: it waits for the wake word, and records an utterance when it is asked to.

It owns the microphone's side of the sound card. A card that goes away is opened again, until it is back; the ear
itself never ends. While an utterance is recorded no wake word is looked for, so that a command that sounds like
one cannot wake the box a second time; unless it is only overheard: people who talk among themselves may still call.

Voice activity and wake words run here on the loop: both together need well under a millisecond for each chunk.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.clock import Clock, within
from appliance.errors import AudioError, SoundCardLostError
from appliance.events import ErrorRaised, Event
from appliance.listen.config import ListenConfig
from appliance.listen.endpointing import LATE_START_SECONDS, Endpointing
from appliance.listen.pre_roll import PreRoll
from appliance.listen.utterance import STEP_SAMPLES, Progress, Utterance, UtteranceRecorder
from appliance.listen.wake_check import LOOK_SECONDS, WakeCheck
from appliance.listen.wake_tail import command_start
from appliance.listen.wake_watch import WakeWatch
from appliance.ports import SoundCard, VoiceActivityDetector, WakeWordDetector

#: ``Utterance`` is what ``listen`` gives.
__all__ = ["Ear", "Utterance"]

_LOG = logging.getLogger(__name__)

#: Sound kept while nothing is going on; the second look at a wake word needs as much.
_PRE_ROLL_SECONDS = LOOK_SECONDS
#: Sound kept from a wake word until ``listen`` asks for it: whoever answers the wake word may be busy for a moment.
_HELD_SECONDS = 15.0
#: Without a wake word, people speak as they press the button, not behind it.
_BEFORE_BUTTON_SECONDS = 0.3
#: Sound that shows voice activity the room before it has to decide.
_WARM_UP_SECONDS = 0.5
#: Wait before the card is opened again, by number of failures; the last one repeats. The card knows what each attempt
#: costs, and does not list its devices each time.
_PATIENCE_SECONDS = (0.25, 0.5, 1.0)
#: An open ear to which no sound comes is given up this long after its last possible end.
_STALLED_SECONDS = 10.0

_RATE_HZ = HEARING_FORMAT.sample_rate_hz


def _ignore(_event: Event) -> None:
    """For a box that nobody watches."""


class Ear:
    """One pair of ears for the whole program; ``run`` must be running for anything to be heard.

    ``when_card_lost`` and ``when_card_found`` may be set: called once when the microphone stops working, with the
    reason, and once when it works again; ``when_called_early`` when a wake word is found before anybody waits for it.
    ``wake_sound`` gives for the newest samples as many in which wake words are to be looked for instead.
    """

    def __init__(
        self,
        card: SoundCard,
        activity: VoiceActivityDetector,
        wake_words: WakeWordDetector,
        clock: Clock,
        config: ListenConfig,
        publish: Callable[[Event], None] = _ignore,
    ) -> None:
        self.when_card_lost: Callable[[AudioError], None] | None = None
        self.when_card_found: Callable[[], None] | None = None
        self.when_called_early: Callable[[], None] | None = None
        self._card = card
        self._activity = activity
        self._clock = clock
        self._config = config
        self._publish = publish
        self._wake_check: WakeCheck | None = None
        self._pre_roll = PreRoll()
        #: The same stretch, as wake words are found in it best.
        self._wake_roll = PreRoll()
        self.wake_sound: Callable[[Samples], Samples] = lambda samples: samples
        self._watch = WakeWatch(wake_words, self._wake_roll, self._called_early)
        self._is_muted = False
        self._failures = 0
        self._last_fault = ""
        self._recorder: UtteranceRecorder | None = None
        self._is_overhearing = False
        self._done: asyncio.Future[None] | None = None

    @property
    def is_muted(self) -> bool:
        """Whether the microphone is closed on request."""
        return self._is_muted

    @property
    def is_listening(self) -> bool:
        """Whether an utterance is being recorded."""
        return self._recorder is not None

    @property
    def is_overhearing(self) -> bool:
        """Whether that is one which is only overheard: nobody was asked to speak."""
        return self._recorder is not None and self._is_overhearing

    @property
    def can_hear(self) -> bool:
        """Whether there is a microphone that works and is not muted."""
        return bool(self._card.info.microphone) and not self._is_muted and not self._failures

    def change(self, config: ListenConfig) -> None:
        """Settings for every utterance from the next on, and for the next wake word."""
        self._config = config
        self.check_wake_words(self._wake_check)

    def check_wake_words(self, check: WakeCheck | None) -> None:
        """Look twice at what sounds like a wake word, with ``check``, where the owner wants it."""
        self._wake_check = check
        self._watch.check = check if self._config.wake_check == "auto" else None

    async def warm_up(self) -> None:
        """Load voice activity, on another thread, so that the first ``listen`` is not slow. Raises ``WeightsError``."""
        await asyncio.to_thread(self._activity.probability, np.zeros(STEP_SAMPLES, dtype=np.int16))
        if self._wake_check is not None:
            await self._wake_check.warm_up()

    # ------------------------------------------------------------------------------------------ hearing on

    async def run(self) -> None:
        """Hear until the card is closed; call it once, after the card was opened."""
        while True:
            try:
                await self._hear_on()
                return
            except AudioError as error:
                self._lose_card(error)
            except Exception as error:
                _LOG.exception("the sound card broke in a way that it should not")
                self._lose_card(SoundCardLostError(f"{type(error).__name__}: {error}"))
            await self._clock.sleep(_PATIENCE_SECONDS[min(self._failures, len(_PATIENCE_SECONDS)) - 1])

    async def _hear_on(self) -> None:
        async for chunk in self._card.chunks():
            if self._failures:
                self._find_card()
            try:
                self._hear(chunk.samples)
            except Exception as error:
                # A detector that breaks on one chunk must not leave the box deaf for ever.
                self._tell_fault(error)
                self._stop_listening()

    def _hear(self, samples: Samples) -> None:
        if self._is_muted:
            return  # sound from before the microphone closed
        woken_at = self._watch.woken_at
        if woken_at is not None and self._pre_roll.end - woken_at > _HELD_SECONDS * _RATE_HZ:
            woken_at = self._watch.woken_at = None
        wake_sound, keep_seconds = self.wake_sound(samples), _PRE_ROLL_SECONDS if woken_at is None else _HELD_SECONDS
        self._pre_roll.append(samples, keep_seconds=keep_seconds)
        self._wake_roll.append(wake_sound, keep_seconds=keep_seconds)
        recorder = self._recorder
        if recorder is not None:
            self._record(recorder, samples)
        if recorder is None or self._is_overhearing:
            self._watch.hear(wake_sound)

    def _lose_card(self, error: AudioError) -> None:
        self._failures += 1
        self._stop_listening()
        self._forget()
        if self._failures == 1:
            _LOG.info("the microphone is lost: %s", error)
            if self.when_card_lost is not None:
                self._tell(partial(self.when_card_lost, error))

    def _find_card(self) -> None:
        _LOG.info("the microphone works again: %s", self._card.info.microphone)
        self._failures = 0
        if self.when_card_found is not None:
            self._tell(self.when_card_found)

    def _tell(self, callback: Callable[[], None]) -> None:
        """Whoever is told must not end our hearing."""
        try:
            callback()
        except Exception:
            _LOG.exception("a listener of the ear failed")

    def _tell_fault(self, error: Exception) -> None:
        """Tell of a fault once, not with each of a thousand chunks."""
        if repr(error) != self._last_fault:
            self._last_fault = repr(error)
            _LOG.error("hearing failed", exc_info=error)
            self._publish_error(error)

    def _publish_error(self, error: Exception) -> None:
        message = f"{type(error).__name__}: {error}"
        self._publish(ErrorRaised("", self._clock.monotonic_seconds(), "listening", message))

    # ------------------------------------------------------------------------------------------- wake word

    async def wake(self) -> str:
        """Wait for the next wake word; its phrase. Several may wait, all are told.

        One that was found while nobody had waited yet is the next, for as long as the sound behind it is kept.
        """
        return await self._watch.wake()

    @property
    def refused_wake_words(self) -> int:
        """How often something only sounded like the wake word, since the start."""
        return self._wake_check.refused if self._wake_check is not None else 0

    def _called_early(self) -> None:
        if self.when_called_early is not None:
            self._tell(self.when_called_early)

    # ------------------------------------------------------------------------------------------- utterance

    async def listen(
        self,
        *,
        no_speech_seconds: float,
        after_wake_word: bool,
        discard_seconds: float = 0.0,
        is_overhearing: bool = False,
        activity: VoiceActivityDetector | None = None,
        on_speech_started: Callable[[], None] | None = None,
        rules: ListenConfig | None = None,
        on_soft_end: Callable[[AudioChunk], None] | None = None,
        on_pause: Callable[[AudioChunk], None] | None = None,
        on_resumed: Callable[[], None] | None = None,
    ) -> Utterance | None:
        """Record one utterance; None when nothing was said in time, or nothing can be heard.

        ``after_wake_word`` begins right behind the wake word that was found last, however long ago that is, so that a
        command spoken without a pause is whole. ``discard_seconds`` lets the room's echo of our own voice pass; then
        nothing from before the call is used. Otherwise a little from before the call belongs to it.
        ``rules`` are other ones than the owner's, for this utterance, and ``activity`` tells speech from other sound.
        ``is_overhearing`` goes on looking for the wake word, and gives way (None) to whoever opens the ear after it.
        The callbacks come while it goes on: speech began; its soft end (with the sound so far; when nobody speaks
        again, the utterance has exactly that sound); a pause that may be the end of the turn (with the sound so far;
        who is sure that it is calls ``finish_utterance``); the person went on after either.
        Cancelling it closes the ear. Raises ``RuntimeError`` when the ear is open already.
        """
        if self._recorder is not None and not self._is_overhearing:
            raise RuntimeError("the ear is open already")
        if not self.can_hear:
            return None
        self._drop_utterance()
        progress, rules = Progress(on_speech_started, on_soft_end, on_pause, on_resumed), rules or self._config
        woken_at = self._watch.woken_at
        activity = activity or self._activity
        recorder, backlog = self._open(activity, rules, no_speech_seconds, after_wake_word, discard_seconds, progress)
        if is_overhearing:
            self._watch.woken_at = woken_at  # whoever answers that call needs it
        self._recorder, self._is_overhearing = recorder, is_overhearing
        done = self._done = asyncio.get_running_loop().create_future()
        self._card.set_attentive(True)
        try:
            self._record(recorder, backlog)
            longest = discard_seconds + no_speech_seconds + LATE_START_SECONDS + rules.longest_utterance_seconds
            with contextlib.suppress(TimeoutError):
                await within(self._clock, longest + _STALLED_SECONDS, done)
            return recorder.utterance
        finally:
            if self._recorder is recorder:
                self._recorder = self._done = None
                self._card.set_attentive(False)
                self._watch.reset()

    def finish_utterance(self) -> None:
        """The person released the button: the utterance ends here, with what was said until now."""
        if self._recorder is not None:
            self._recorder.finish()
        self._stop_listening()

    def _open(
        self,
        activity: VoiceActivityDetector,
        rules: ListenConfig,
        no_speech_seconds: float,
        after_wake_word: bool,
        discard_seconds: float,
        progress: Progress,
    ) -> tuple[UtteranceRecorder, Samples]:
        """A recorder, and the sound that is here already and belongs to it."""
        end, woken_at, self._watch.woken_at = self._pre_roll.end, self._watch.woken_at, None
        lead_in_seconds = 0.0
        if after_wake_word and woken_at is not None:
            everything = self._pre_roll.since(0)
            lead_in = command_start(everything[: max(0, len(everything) - (end - woken_at))])
            start = woken_at - lead_in
            lead_in_seconds = lead_in / _RATE_HZ
        elif discard_seconds > 0.0:
            start = end
        else:
            start = end - round(_BEFORE_BUTTON_SECONDS * _RATE_HZ)
        endpointing = Endpointing(rules, no_speech_seconds=no_speech_seconds, lead_in_seconds=lead_in_seconds)
        recorder = UtteranceRecorder(activity, endpointing, progress, round(discard_seconds * _RATE_HZ))
        warm_up = self._pre_roll.since(start - round(_WARM_UP_SECONDS * _RATE_HZ))
        backlog = self._pre_roll.since(start)
        recorder.warm_up(warm_up[: len(warm_up) - len(backlog)])
        return recorder, backlog

    def _record(self, recorder: UtteranceRecorder, samples: Samples) -> None:
        recorder.hear(samples)
        if recorder.is_over:
            self._stop_listening()

    def _drop_utterance(self) -> None:
        if self._recorder is not None:
            self._recorder.drop()
            self._stop_listening()

    def _stop_listening(self) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    # ------------------------------------------------------------------------------------------------ mute

    async def mute(self, muted: bool) -> None:
        """Close the microphone, so that nothing is captured at all; or open it again.

        An utterance that is being recorded is thrown away: whoever mutes does not want to be heard.
        """
        self._is_muted = muted
        if muted:
            self._drop_utterance()
        self._forget()
        await self._card.mute(muted)

    def _forget(self) -> None:
        """Nothing heard before is to be joined to what comes."""
        self._pre_roll.clear()
        self._wake_roll.clear()
        self._watch.forget()
