"""The two streams of a sound card, opened and opened anew, all on one thread: PortAudio is not made for more.

What was open is opened again as it was, which takes a moment and leaves the other direction alone. PortAudio sees new
devices only after being started again, which silences both directions; that is done when there is a sign that
devices came or went, and else now and then, the more rarely the longer something is lost.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.adapters import sound_devices
from appliance.adapters.sound_devices import Direction, SoundDevice
from appliance.adapters.sound_streams import Counters, Loudspeaker, Microphone, open_first
from appliance.audio import AudioChunk
from appliance.clock import Clock
from appliance.errors import AudioError
from appliance.ports import Render

_LOG = logging.getLogger(__name__)

#: How long to wait until PortAudio is started again, by how long something has been lost: while nothing works there
#: is nothing to disturb, but on a small board it takes a third of a second of the processor.
_OFTEN = ((60.0, 1.5), (600.0, 5.0), (math.inf, 10.0))
#: Opening what is known is cheap; but PortAudio writes some lines to standard error for each failure.
_PATIENT_AFTER_SECONDS, _PATIENCE_SECONDS = 600.0, 10.0
#: While one direction works.
_RARELY = ((60.0, 10.0), (600.0, 60.0), (math.inf, 300.0))


@dataclass(frozen=True)
class Ears:
    """Who is told what: ``news`` that enough sound waits, the others that a stream ended, and why. Audio threads.

    ``tap`` gets what the microphone gave.
    """

    news: Callable[[], None]
    microphone_gone: Callable[[str], None]
    speaker_gone: Callable[[str], None]
    tap: Callable[[AudioChunk], None]


class OpenDevices:
    """Methods are for the sound thread; attributes and properties may be read anywhere.

    ``output_rate_hz`` is set by the first speaker, or from outside, and stays: later speakers are brought to it.
    """

    def __init__(
        self,
        clock: Clock,
        wanted: Mapping[Direction, str],
        ears: Ears,
        load: Callable[[], Any],
        signs: Callable[[], str],
    ) -> None:
        self.microphone: Microphone | None = None
        self.speaker: Loudspeaker | None = None
        self.names = dict.fromkeys(Direction, "")
        self.problems: dict[Direction, str] = {}
        self.counters = Counters()
        self.output_rate_hz = 0
        self.is_muted = self.is_attentive = False
        self.render: Render | None = None
        self._clock = clock
        self._wanted = wanted
        self._ears = ears
        self._load = load
        self._signs = signs
        self._portaudio: Any = None
        self._found: tuple[SoundDevice, ...] = ()
        self._signs_then = ""
        self._looked_at = self._tried_at = -math.inf
        self._lost_since: float | None = None

    # ------------------------------------------------------------------------------------------- any thread

    @property
    def is_loaded(self) -> bool:
        """Whether anything was opened or looked for yet."""
        return self._portaudio is not None

    @property
    def is_speaker_alive(self) -> bool:
        """Whether a speaker is open and takes sound, as far as is known."""
        return self.speaker is not None and self.speaker.is_alive

    @property
    def can_hear(self) -> bool:
        """Whether the microphone is open, or closed on purpose."""
        return self.microphone is not None or self.is_muted

    @property
    def are_signs_new(self) -> bool:
        """Whether devices may have come or gone since they were listed."""
        return self._signs() != self._signs_then

    @property
    def may_look_again(self) -> bool:
        """Whether enough time has passed to start PortAudio again, and nobody would hear it."""
        works = self.microphone is not None or self.is_speaker_alive
        if works and self.speaker is not None and self.speaker.is_sounding and self.speaker.is_alive:
            return False
        now = self._clock.monotonic_seconds()
        since = now if self._lost_since is None else self._lost_since
        pause = next(pause for until, pause in (_RARELY if works else _OFTEN) if now - since < until)
        return now - (max(since, self._looked_at) if works else self._looked_at) >= pause

    @property
    def patience_seconds(self) -> float:
        """How long to wait between two attempts, if there is no sign of change."""
        since = self._lost_since
        is_long = since is not None and self._clock.monotonic_seconds() - since >= _PATIENT_AFTER_SECONDS
        return _PATIENCE_SECONDS if is_long else 0.0

    # ------------------------------------------------------------------------------------- the sound thread

    def start_anew(self) -> None:
        """List the devices as they are now and open both directions; what fails is in ``problems``."""
        self.close()
        self.names = dict.fromkeys(Direction, "")
        signs_before, self._signs_then = self._signs_then, self._signs()
        self._looked_at = self._clock.monotonic_seconds()
        try:
            self._found = self._list()
        except AudioError as error:
            self.problems = {Direction.INPUT: str(error)}
        else:
            self._try(Direction.OUTPUT, self._open_speaker)
            self._try(Direction.INPUT, self.open_microphone)
        if self.can_hear and self.is_speaker_alive:
            self._lost_since = None
        elif signs_before != self._signs_then or self._lost_since is None:
            self._lost_since = self._looked_at

    def repair(self, *, thoroughly: bool = False) -> None:
        """Open what does not work any more. ``thoroughly`` does not believe that opening it as it was is enough."""
        self.close_microphone()
        now = self._clock.monotonic_seconds()
        if self._lost_since is None:
            self._lost_since = now
        has_failed = Direction.INPUT in self.problems and not self.are_signs_new
        if has_failed and not self.is_muted and now - self._tried_at < self.patience_seconds:
            return
        self._tried_at = now
        if not self.are_signs_new:
            if not self.is_speaker_alive:
                self.mend_speaker()
            self.names[Direction.INPUT] = ""
            self._try(Direction.INPUT, self.open_microphone)
            if self.can_hear and not thoroughly:
                self._lost_since = None
                return
        if self.are_signs_new or self.may_look_again:
            self.start_anew()

    def mend_speaker(self) -> None:
        """Open the speaker as it was; when that fails, ``speaker`` is None."""
        self._close_speaker()
        self.names[Direction.OUTPUT] = ""
        self._try(Direction.OUTPUT, self._open_speaker)
        if self.speaker is None and self._lost_since is None:
            self._lost_since = self._clock.monotonic_seconds()

    def open_microphone(self) -> None:
        """Open it anew, unless it is muted. Raises ``AudioError``."""
        devices = self._candidates(Direction.INPUT)
        if self.is_muted:
            self.names[Direction.INPUT] = devices[0].name
            return
        self.close_microphone()
        self.microphone = open_first(self._portaudio, Direction.INPUT, devices, self._make_microphone)
        self.microphone.set_attentive(self.is_attentive)
        self.names[Direction.INPUT] = self.microphone.device.name

    def close_microphone(self) -> None:
        """Safe to call twice, as all of these."""
        microphone, self.microphone = self.microphone, None
        if microphone is not None:
            microphone.close()

    def close(self) -> None:
        """Close both directions."""
        self.close_microphone()
        self._close_speaker()

    # ------------------------------------------------------------------------------------------- private

    def _close_speaker(self) -> None:
        speaker, self.speaker = self.speaker, None
        if speaker is not None:
            speaker.close()

    def _list(self) -> tuple[SoundDevice, ...]:
        is_first = self._portaudio is None
        self._portaudio = self._load()
        if not is_first:
            sound_devices.look_again(self._portaudio)
        return sound_devices.list_devices(self._portaudio)

    def _try(self, direction: Direction, open_it: Callable[[], None]) -> None:
        known = self.problems.pop(direction, "")
        try:
            open_it()
        except AudioError as error:
            self.problems[direction] = str(error)
            if str(error) != known:
                _LOG.info("%s", error)

    def _open_speaker(self) -> None:
        devices = self._candidates(Direction.OUTPUT)
        rates_hz = (self.output_rate_hz,) if self.output_rate_hz else ()
        self.speaker = open_first(self._portaudio, Direction.OUTPUT, devices, self._make_speaker, rates_hz)
        self.output_rate_hz = self.output_rate_hz or self.speaker.rate_hz
        self.names[Direction.OUTPUT] = self.speaker.device.name

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
            self.counters,
            news=self._ears.news,
            gone=lambda reason: self._ears.microphone_gone(f"the microphone {device.name!r} is gone: {reason}"),
            tap=self._ears.tap,
        )

    def _make_speaker(self, device: SoundDevice, shape: tuple[int, int]) -> Loudspeaker:
        assert self.render is not None
        return Loudspeaker(
            self._portaudio,
            device,
            shape,
            self.counters,
            render=self.render,
            render_rate_hz=self.output_rate_hz,
            gone=lambda reason: self._ears.speaker_gone(f"the speaker {device.name!r} is gone: {reason}"),
        )
