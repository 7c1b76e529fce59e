"""The sound card, through PortAudio: both directions, found by name, opened at whatever rate and channels it has.

PortAudio blocks and is not made for several threads, so one thread of our own opens and closes; the audio threads run
only what is in ``sound_streams``. A device that goes away is noticed by its stream ending, or by no sound coming for
five seconds; ``chunks`` then raises, and called again it starts anew. PortAudio sees new devices only after being
started again, which silences a working speaker, so that is done only when cards came or went, or nothing works.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from appliance.adapters import sound_devices
from appliance.adapters.sound_devices import Direction, SoundDevice
from appliance.adapters.sound_streams import OUTPUT_LATENCY_SECONDS, Counters, Loudspeaker, Microphone, open_first
from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.clock import Clock, within
from appliance.errors import AudioError, SoundCardLostError
from appliance.ports import Render, SoundCardHealth, SoundCardInfo

_LOG = logging.getLogger(__name__)

#: A microphone that is open and silent as a block for this long is stuck; even a silent room has blocks.
_STUCK_SECONDS = 5
#: With no device at all there is nothing to disturb: look again this often.
_LOOK_AGAIN_SECONDS = 30
#: Opening and closing take far less; a sound server that hangs must not hang us.
_PATIENCE_SECONDS = 20.0
#: Promised when there is no speaker to ask.
_DEFAULT_OUTPUT_RATE_HZ = 48_000


class PortAudioSoundCard:
    """Meets ``SoundCard``. ``microphone`` and ``speaker`` are names or parts of names; "" takes the system's choice.

    ``info.output_rate_hz`` stays as it was after ``open``: a speaker that comes later and cannot play at that rate is
    not used.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        microphone: str = "",
        speaker: str = "",
        load: Callable[[], Any] = sound_devices.load_portaudio,
        cards: Callable[[], str] = sound_devices.cards_of_this_machine,
    ) -> None:
        self._clock = clock
        self._wanted = {Direction.INPUT: microphone, Direction.OUTPUT: speaker}
        self._load = load
        self._cards = cards
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sound card")
        self._one_at_a_time = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._render: Render | None = None
        self._counters = Counters()
        self._is_attentive = self._is_muted = self._is_closed = False
        self._loss = ""
        self._output_rate_hz = 0
        self._problems: dict[Direction, str] = {}
        self._names = {Direction.INPUT: "", Direction.OUTPUT: ""}
        self._taps: list[Callable[[AudioChunk], None]] = []
        # Set on the sound thread only.
        self._portaudio: Any = None
        self._found: tuple[SoundDevice, ...] = ()
        self._cards_then = ""
        self._microphone: Microphone | None = None
        self._speaker: Loudspeaker | None = None

    # ------------------------------------------------------------------------------------------- the port

    @property
    def info(self) -> SoundCardInfo:
        """What is open; a microphone that is only muted keeps its name."""
        return SoundCardInfo(
            self._names[Direction.INPUT],
            self._names[Direction.OUTPUT],
            self._output_rate_hz,
            "; ".join(dict.fromkeys(self._problems.values())),
            OUTPUT_LATENCY_SECONDS,
        )

    @property
    def health(self) -> SoundCardHealth:
        """Counters since ``open``, over all losses."""
        counted = self._counters
        return SoundCardHealth(counted.overruns, counted.underruns, counted.dropped, counted.arrived)

    async def open(self, render: Render) -> None:
        """Open what exists; ``info.problem`` says what does not. ``render`` runs on the audio thread."""
        self._loop = asyncio.get_running_loop()
        self._render = render
        with contextlib.suppress(SoundCardLostError):  # told in info.problem
            await self._on_thread(self._start_anew)
        self._output_rate_hz = self._output_rate_hz or _DEFAULT_OUTPUT_RATE_HZ

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """Microphone blocks until ``close``. Raises ``SoundCardLostError``; called again, opens the device anew."""
        if self._loss and not self._is_closed:
            await self._recover()
        watch = asyncio.create_task(self._watch(), name="sound card watch")
        try:
            while not self._is_closed:
                await self._news.wait()
                self._news.clear()
                if self._loss:
                    raise SoundCardLostError(self._loss)
                for samples in self._microphone.chunks() if self._microphone else ():
                    yield AudioChunk(samples, HEARING_FORMAT)
        finally:
            watch.cancel()

    def set_attentive(self, attentive: bool) -> None:
        """Blocks of 20 ms instead of 80 ms; the stream stays, so that no sound is lost."""
        self._is_attentive = attentive
        if self._microphone is not None:
            self._microphone.set_attentive(attentive)

    async def mute(self, muted: bool) -> None:
        """Close the input stream or open it again; one that cannot be opened counts as lost."""
        self._is_muted = muted
        if self._portaudio is None:
            return
        try:
            await self._on_thread(self._close_microphone if muted else self._open_microphone)
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
        with contextlib.suppress(AudioError, RuntimeError):  # a thread that was shut down takes no more work
            await self._on_thread(self._close_all)
        self._thread.shutdown(wait=False)

    # ------------------------------------------------------------------------------------- loss and recovery

    async def _recover(self) -> None:
        await self._on_thread(self._restart)
        if self._microphone is None and not self._is_muted:
            raise SoundCardLostError(self._problems.get(Direction.INPUT, "no microphone was found"))
        self._loss = ""
        self._news.clear()

    async def _watch(self) -> None:
        """Notice what tells nobody: a stuck microphone, a card that was plugged in."""
        arrived_then, still_seconds, waited_seconds = -1, 0, 0
        while True:
            await self._clock.sleep(1.0)
            waited_seconds += 1
            microphone = self._microphone
            is_still = microphone is not None and microphone.arrived == arrived_then
            still_seconds = still_seconds + 1 if is_still else 0
            arrived_then = microphone.arrived if microphone is not None else -1
            if still_seconds >= _STUCK_SECONDS:
                self._lose(f"no sound came from the microphone for {_STUCK_SECONDS} seconds")
            elif self._is_lacking() and self._may_have_come(waited_seconds):
                self._lose("sound devices came or went")

    def _is_lacking(self) -> bool:
        return self._speaker is None or (self._microphone is None and not self._is_muted)

    def _may_have_come(self, waited_seconds: int) -> bool:
        if self._cards() != self._cards_then:
            return True
        has_nothing = self._speaker is None and self._microphone is None
        return has_nothing and waited_seconds >= _LOOK_AGAIN_SECONDS

    def _lose(self, reason: str) -> None:
        if not self._loss and not self._is_closed:
            self._loss = reason
            self._news.set()

    def _post(self, callback: Callable[..., None], *arguments: object) -> None:
        """Run ``callback`` on the loop, from any thread; a loop that has ended needs to know nothing."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(callback, *arguments)

    async def _on_thread(self, work: Callable[[], None]) -> None:
        """Run ``work`` on the sound thread. Raises ``SoundCardLostError`` when that hangs."""
        async with self._one_at_a_time:
            running = asyncio.get_running_loop().run_in_executor(self._thread, work)
            try:
                await within(self._clock, _PATIENCE_SECONDS, running)
            except TimeoutError as error:
                self._problems[Direction.INPUT] = "the sound system does not answer; restart it, or the box"
                raise SoundCardLostError(self._problems[Direction.INPUT]) from error

    # ------------------------------------------------------------------------------- on the sound thread only

    def _start_anew(self) -> None:
        """List the devices as they are now and open both directions; what fails is in ``_problems``."""
        self._close_all()
        self._names = dict.fromkeys(Direction, "")
        self._cards_then = self._cards()
        try:
            self._found = self._list()
        except AudioError as error:
            self._problems = {Direction.INPUT: str(error)}
            return
        self._try(Direction.OUTPUT, self._open_speaker)
        self._try(Direction.INPUT, self._open_microphone)

    def _list(self) -> tuple[SoundDevice, ...]:
        is_first = self._portaudio is None
        self._portaudio = self._load()
        if not is_first:
            sound_devices.look_again(self._portaudio)
        return sound_devices.list_devices(self._portaudio)

    def _restart(self) -> None:
        """Open what is lost: the microphone alone while the speaker works, else everything."""
        self._close_microphone()
        speaker_works = self._speaker is not None and self._speaker.is_alive
        if speaker_works and self._cards() == self._cards_then:
            self._names[Direction.INPUT] = ""
            self._try(Direction.INPUT, self._open_microphone)
        else:
            self._start_anew()

    def _try(self, direction: Direction, open_it: Callable[[], None]) -> None:
        known = self._problems.pop(direction, "")
        try:
            open_it()
        except AudioError as error:
            self._problems[direction] = str(error)
            if str(error) != known:
                _LOG.info("%s", error)

    def _open_microphone(self) -> None:
        devices = self._candidates(Direction.INPUT)
        if self._is_muted:
            self._names[Direction.INPUT] = devices[0].name
            return
        self._close_microphone()
        self._microphone = open_first(self._portaudio, Direction.INPUT, devices, self._make_microphone)
        self._microphone.set_attentive(self._is_attentive)
        self._names[Direction.INPUT] = self._microphone.device.name

    def _open_speaker(self) -> None:
        devices = self._candidates(Direction.OUTPUT)
        rates_hz = (self._output_rate_hz,) if self._output_rate_hz else ()
        self._speaker = open_first(self._portaudio, Direction.OUTPUT, devices, self._make_speaker, rates_hz)
        self._output_rate_hz = self._speaker.rate_hz
        self._names[Direction.OUTPUT] = self._speaker.device.name

    def _candidates(self, direction: Direction) -> list[SoundDevice]:
        wanted = self._wanted[direction]
        devices = sound_devices.candidates(self._found, wanted, direction)
        if not devices:
            raise AudioError(sound_devices.missing(self._found, wanted, direction))
        return devices

    def _make_microphone(self, device: SoundDevice, shape: tuple[int, int]) -> Microphone:
        return Microphone(
            self._portaudio,
            device,
            shape,
            self._counters,
            news=lambda: self._post(self._news.set),
            gone=lambda reason: self._post(self._lose, f"the microphone {device.name!r} is gone: {reason}"),
            tap=self._tell_taps,
        )

    def _make_speaker(self, device: SoundDevice, shape: tuple[int, int]) -> Loudspeaker:
        assert self._render is not None
        return Loudspeaker(
            self._portaudio,
            device,
            shape,
            self._counters,
            render=self._render,
            gone=lambda reason: self._post(self._lose, f"the speaker {device.name!r} is gone: {reason}"),
        )

    def _tell_taps(self, sound: AudioChunk) -> None:
        for heard in list(self._taps):
            heard(sound)

    def _close_microphone(self) -> None:
        microphone, self._microphone = self._microphone, None
        if microphone is not None:
            microphone.close()

    def _close_all(self) -> None:
        self._close_microphone()
        speaker, self._speaker = self._speaker, None
        if speaker is not None:
            speaker.close()
