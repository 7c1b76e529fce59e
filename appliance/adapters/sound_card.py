"""The sound card, through PortAudio: both directions, found by name, opened at whatever rate and channels it has.

PortAudio blocks and is not made for several threads, so one thread of our own opens and closes; the audio threads run
only what is in ``sound_streams``. A microphone that goes away is noticed by its stream ending, or by ``SoundWatch``;
``chunks`` then raises, and called again it opens what is lost. A speaker that goes away is opened again without that,
as long as the devices need not be listed anew: nobody is cut short for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from appliance.adapters import sound_devices
from appliance.adapters.open_devices import Ears, OpenDevices
from appliance.adapters.sound_devices import Direction
from appliance.adapters.sound_streams import OUTPUT_LATENCY_SECONDS
from appliance.adapters.sound_watch import LOOK_SECONDS, Found, SoundWatch, Trouble
from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.clock import Clock, within
from appliance.errors import AudioError, SoundCardLostError
from appliance.ports import Render, SoundCardHealth, SoundCardInfo

_LOG = logging.getLogger(__name__)

#: With no device at all there is nothing to disturb: look again this often.
_LOOK_AGAIN_SECONDS = 30.0
#: Opening and closing take far less; a sound server that hangs must not hang us.
_PATIENCE_SECONDS = 10.0
_HANGS = "the sound system does not answer; restart it, or the box"
#: Promised when there is no speaker to ask.
_DEFAULT_OUTPUT_RATE_HZ = 48_000
#: A speaker that was lost a moment ago still counts as there: what is to be said waits in the mixer meanwhile.
_BLINK_SECONDS = 4.0
#: Wait before a lost speaker is opened again, by number of failures; the last one repeats.
_SPEAKER_PATIENCE_SECONDS = (0.0, 0.5, 0.5, 1.0)
#: After so many openings without any sound, opening the microphone as it was is not enough.
_FRUITLESS = 2


class PortAudioSoundCard:
    """Meets ``SoundCard``. ``microphone`` and ``speaker`` are names or parts of names; "" takes the system's choice.

    ``info.output_rate_hz`` stays as it was after ``open``: a speaker that comes later and cannot play at that rate is
    given resampled sound. ``signs`` is a text that changes when devices may have come or gone; ``asleep`` tells how
    long the machine has been suspended.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        microphone: str = "",
        speaker: str = "",
        load: Callable[[], Any] = sound_devices.load_portaudio,
        signs: Callable[[], str] = sound_devices.signs_of_change,
        asleep: Callable[[], float] = sound_devices.seconds_asleep,
    ) -> None:
        self._clock = clock
        self._follows_default = not (microphone and speaker)
        wanted = {Direction.INPUT: microphone, Direction.OUTPUT: speaker}
        ears = Ears(
            news=lambda: self._post(self._news.set),
            microphone_gone=lambda reason: self._post(self._lose, reason),
            speaker_gone=lambda reason: self._post(_LOG.info, "%s", reason),
            tap=self._tell_taps,
        )
        self._devices = OpenDevices(clock, wanted, ears, load, signs)
        self._watching = SoundWatch(clock, asleep)
        self._watch_task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sound card")
        self._one_at_a_time = asyncio.Lock()
        self._hanging: tuple[Future[None], float] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._is_closed = False
        self._loss = ""
        self._fruitless = 0
        self._nothing_seconds = 0.0
        self._taps: list[Callable[[AudioChunk], None]] = []
        # The speaker that worked last, since when it does not, and how often it was tried since then.
        self._speaker_then = ""
        self._speaker_lost_at: float | None = None
        self._speaker_tries = 0
        self._speaker_try_at = 0.0

    # ------------------------------------------------------------------------------------------- the port

    @property
    def info(self) -> SoundCardInfo:
        """What is open; a microphone that is only muted keeps its name, and so does a speaker lost a moment ago."""
        return SoundCardInfo(
            self._devices.names[Direction.INPUT],
            self._speaker_name,
            self._devices.output_rate_hz,
            "; ".join(dict.fromkeys([*([_HANGS] if self._hangs else []), *self._devices.problems.values()])),
            OUTPUT_LATENCY_SECONDS,
            self._watching.is_microphone_dead,
        )

    @property
    def health(self) -> SoundCardHealth:
        """Counters since ``open``, over all losses."""
        counted = self._devices.counters
        hanging_seconds = 0.0
        if self._hanging is not None and self._hangs:
            hanging_seconds = self._clock.monotonic_seconds() - self._hanging[1]
        return SoundCardHealth(counted.overruns, counted.underruns, counted.dropped, counted.arrived, hanging_seconds)

    async def open(self, render: Render) -> None:
        """Open what exists; ``info.problem`` says what does not. ``render`` runs on the audio thread."""
        self._loop = asyncio.get_running_loop()
        self._devices.render = render
        with contextlib.suppress(SoundCardLostError):  # told in info.problem
            await self._on_thread(self._devices.start_anew)
        self._devices.output_rate_hz = self._devices.output_rate_hz or _DEFAULT_OUTPUT_RATE_HZ
        self._note_speaker()
        self._watch_task = asyncio.create_task(self._watch(), name="sound card watch")

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """Microphone blocks until ``close``. Raises ``SoundCardLostError``; called again, opens the device anew."""
        if self._loss and not self._is_closed:
            await self._recover()
        while not self._is_closed:
            await self._news.wait()
            self._news.clear()
            if self._loss:
                raise SoundCardLostError(self._loss)
            microphone = self._devices.microphone
            for samples in microphone.chunks() if microphone else ():
                self._fruitless = 0
                yield AudioChunk(samples, HEARING_FORMAT)

    def set_attentive(self, attentive: bool) -> None:
        """Blocks of 20 ms instead of 80 ms; the stream stays, so that no sound is lost."""
        self._devices.is_attentive = attentive
        if self._devices.microphone is not None:
            self._devices.microphone.set_attentive(attentive)

    async def mute(self, muted: bool) -> None:
        """Close the input stream or open it again; one that cannot be opened counts as lost."""
        self._devices.is_muted = muted
        if not self._devices.is_loaded:
            return
        try:
            await self._on_thread(self._devices.close_microphone if muted else self._devices.open_microphone)
        except AudioError as error:
            self._lose(str(error))

    def output_ready(self) -> None:
        """Nothing to do: the device has a clock of its own and asks for sound all the time."""

    def tap(self, heard: Callable[[AudioChunk], None]) -> Callable[[], None]:
        """Call ``heard`` with what ``chunks`` takes, as the device gave it, until what is given back is called."""
        self._taps.append(heard)
        return lambda: self._taps.remove(heard)

    async def close(self) -> None:
        """Stop both streams; safe to call twice."""
        self._is_closed = True
        self._news.set()
        if self._watch_task is not None:
            self._watch_task.cancel()
            await asyncio.gather(self._watch_task, return_exceptions=True)
        with contextlib.suppress(AudioError, RuntimeError):  # a thread that was shut down takes no more work
            await self._on_thread(self._devices.close)
        self._thread.shutdown(wait=False)

    # ------------------------------------------------------------------------------------- loss and recovery

    async def _recover(self) -> None:
        self._fruitless += 1
        await self._on_thread(partial(self._devices.repair, thoroughly=self._fruitless > _FRUITLESS))
        if not self._devices.can_hear:
            raise SoundCardLostError(self._devices.problems.get(Direction.INPUT, "no microphone was found"))
        self._loss = ""
        self._news.clear()

    async def _watch(self) -> None:
        """Notice what tells nobody, and open a lost speaker again."""
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            try:
                speaker = self._devices.speaker if self._devices.is_speaker_alive else None
                for found in self._watching.look(None if self._loss else self._devices.microphone, speaker):
                    await self._act_on(found)
                await self._look_after_speaker()
                if not self._loss and self._devices.are_signs_new and (self._is_lacking or self._may_follow):
                    self._lose("sound devices came or went")
                self._look_for_anything()
            except AudioError as error:
                _LOG.info("%s", error)
            except Exception:
                _LOG.exception("the sound card's watch failed")

    async def _act_on(self, found: Found) -> None:
        _LOG.info("%s", found.why)
        if found.trouble in (Trouble.SLEPT, Trouble.SPEAKER) and self._devices.speaker is not None:
            self._devices.speaker.give_up()
        if found.trouble in (Trouble.SLEPT, Trouble.MICROPHONE):
            self._lose(found.why)
        elif found.trouble is Trouble.PERFECT_SILENCE and not self._devices.is_attentive:
            await self._open_microphone_anew()

    async def _open_microphone_anew(self) -> None:
        try:
            await self._on_thread(self._devices.open_microphone)
        except AudioError as error:
            self._lose(str(error))

    @property
    def _is_lacking(self) -> bool:
        return self._devices.speaker is None or not self._devices.can_hear

    @property
    def _may_follow(self) -> bool:
        """Whether the system may have made another choice, and nobody would be cut short by looking."""
        speaker = self._devices.speaker
        is_sounding = speaker is not None and speaker.is_sounding
        return self._follows_default and not self._devices.is_attentive and not is_sounding

    def _look_for_anything(self) -> None:
        has_nothing = self._devices.speaker is None and self._devices.microphone is None and not self._loss
        self._nothing_seconds = self._nothing_seconds + LOOK_SECONDS if has_nothing else 0.0
        if self._nothing_seconds >= _LOOK_AGAIN_SECONDS and not self._devices.is_muted:
            self._lose("there is no sound device")

    async def _look_after_speaker(self) -> None:
        if self._devices.is_speaker_alive or not self._speaker_then:
            self._note_speaker()
            return
        now = self._clock.monotonic_seconds()
        if self._speaker_lost_at is None:
            self._speaker_lost_at = self._speaker_try_at = now
        # Whoever opens a lost microphone opens the speaker too.
        if self._loss or now < self._speaker_try_at:
            return
        await self._on_thread(self._devices.mend_speaker)
        self._speaker_tries += 1
        pauses = _SPEAKER_PATIENCE_SECONDS
        pause = pauses[min(self._speaker_tries, len(pauses) - 1)]
        self._speaker_try_at = now + max(pause, self._devices.patience_seconds)
        if self._devices.speaker is not None:
            if self._devices.names[Direction.OUTPUT] != self._speaker_then:
                self._lose("the speaker is another one")  # Whoever listens with its sound in mind begins anew.
            self._note_speaker()
        elif not self._devices.is_attentive and self._devices.may_look_again:
            self._lose("the speaker is gone")

    def _note_speaker(self) -> None:
        if self._devices.is_speaker_alive:
            self._speaker_then = self._devices.names[Direction.OUTPUT]
            self._speaker_lost_at, self._speaker_tries = None, 0

    @property
    def _speaker_name(self) -> str:
        if self._devices.is_speaker_alive:
            return self._devices.names[Direction.OUTPUT]
        lost_at = self._speaker_lost_at
        is_blink = lost_at is None or self._clock.monotonic_seconds() - lost_at < _BLINK_SECONDS
        return self._speaker_then if is_blink else ""

    def _lose(self, reason: str) -> None:
        if not self._loss and not self._is_closed:
            self._loss = reason
            self._news.set()

    def _post(self, callback: Callable[..., None], *arguments: object) -> None:
        """Run ``callback`` on the loop, from any thread; a loop that has ended needs to know nothing."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(callback, *arguments)

    def _tell_taps(self, sound: AudioChunk) -> None:
        for heard in list(self._taps):
            heard(sound)

    @property
    def _hangs(self) -> bool:
        return self._hanging is not None and not self._hanging[0].done()

    async def _on_thread(self, work: Callable[[], None]) -> None:
        """Run ``work`` on the sound thread. Raises ``SoundCardLostError`` when that hangs, or still does."""
        async with self._one_at_a_time:
            if self._hangs:
                raise SoundCardLostError(_HANGS)
            running = self._thread.submit(work)
            began_at = self._clock.monotonic_seconds()
            try:
                await within(self._clock, _PATIENCE_SECONDS, asyncio.wrap_future(running))
            except TimeoutError as error:
                self._hanging = running, began_at
                raise SoundCardLostError(_HANGS) from error
