"""Both directions at once: a sound card whose microphone does not hear what its loudspeaker plays.

It stands between the card and everybody else. What is rendered for the loudspeaker is kept (on the audio thread, and
no more than that), and taken out of what the microphone heard on the hearing side. While nothing sounds it does
nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.listen.echo_meter import EchoMeter
from appliance.listen.far_signal import FarSignal
from appliance.ports import Render, SoundCard, SoundCardHealth, SoundCardInfo
from appliance.ports_doctor import TappedSound
from appliance.ports_hearing import EchoCanceller

_RATE_HZ = HEARING_FORMAT.sample_rate_hz
#: What the canceller takes at a time.
_STEP_SAMPLES = _RATE_HZ // 100
#: So long after our last sound its echo may still be heard: buffers of a sound server, then the room.
_ECHO_SAMPLES = round(1.5 * _RATE_HZ)
_RAW_SAMPLES = 6 * _RATE_HZ


class TappedCard(SoundCard, TappedSound, Protocol):
    """A sound card that can be listened in on."""


class DuplexSoundCard:
    """Meets ``SoundCard`` around another one. With ``is_always_on`` the canceller also hears what comes while nothing
    is played, for the sake of what it does beside (noise, gain).
    """

    def __init__(
        self, card: TappedCard, canceller: EchoCanceller, meter: EchoMeter, *, is_always_on: bool = False
    ) -> None:
        self.meter = meter
        self._card = card
        self._canceller = canceller
        self._is_always_on = is_always_on
        self._far = FarSignal()
        self._rest: Samples = np.zeros(0, dtype=np.int16)
        self._silent = _ECHO_SAMPLES
        self._sounding = asyncio.Event()
        self._devices = ("", "")
        self._faults = 0
        self._raw: deque[Samples] = deque()
        self._raw_length = 0

    # ---------------------------------------------------------------------------------------- our own sound

    @property
    def is_sounding(self) -> bool:
        """Whether our own sound, or its echo, may be in what is heard now."""
        return self._sounding.is_set()

    def raw_lately(self, count: int) -> Samples:
        """The last ``count`` samples as the microphone gave them, while something is played; at most six seconds."""
        return np.concatenate(self._raw)[-count:] if self._raw else np.zeros(0, dtype=np.int16)

    def for_wake_words(self, clean: Samples) -> Samples:
        """The newest samples, which ``clean`` is, as a wake word is found in them best.

        Where there is no echo, or none was measured yet, that is as the microphone heard them. What we say ourselves is
        no call, whatever it sounds like.
        """
        figure = self.meter.figure
        if not self.is_sounding or (figure is not None and not figure.is_none):
            return clean
        raw = self.raw_lately(len(clean))
        return raw if len(raw) == len(clean) else clean

    async def sounding(self) -> None:
        """Wait until something is played."""
        await self._sounding.wait()

    # --------------------------------------------------------------------------------------------- the port

    @property
    def info(self) -> SoundCardInfo:
        """Of the card."""
        return self._card.info

    @property
    def health(self) -> SoundCardHealth:
        """Of the card."""
        return self._card.health

    async def open(self, render: Render) -> None:
        """Open the card, which is given what ``render`` gives, and a copy is kept."""
        note = self._far.note

        def render_and_keep(frames: int) -> Samples:
            samples = render(frames)
            note(samples)
            return samples

        await self._card.open(render_and_keep)

    async def warm_up(self) -> None:
        """Load the canceller; what was measured without it is forgotten."""
        await self._canceller.warm_up()
        self.meter.forget()
        self.meter.relearn()

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """What the microphone hears, without what is played."""
        self._restart()
        async for chunk in self._card.chunks():
            yield AudioChunk(self._clean(chunk.samples), HEARING_FORMAT)

    def set_attentive(self, attentive: bool) -> None:
        """Of the card."""
        self._card.set_attentive(attentive)

    async def mute(self, muted: bool) -> None:
        """Of the card; what was played meanwhile is of no interest."""
        await self._card.mute(muted)
        self._far.restart()

    def output_ready(self) -> None:
        """Of the card."""
        self._card.output_ready()

    def tap(self, heard: Callable[[AudioChunk], None]) -> Callable[[], None]:
        """Of the card: as the device gave it, echo and all."""
        return self._card.tap(heard)

    async def close(self) -> None:
        """Of the card."""
        await self._card.close()

    # ---------------------------------------------------------------------------------------------- private

    def _restart(self) -> None:
        """Devices were opened; other ones than before stand elsewhere."""
        self._far.restart()
        self.meter.relearn()
        devices = (self._card.info.microphone, self._card.info.speaker)
        if any(self._devices) and devices != self._devices:
            self.meter.forget()
        self._devices = devices

    def _clean(self, near: Samples) -> Samples:
        far = self._far.pull(len(near), self._card.info.output_rate_hz)
        self._watch(far)
        if not (self._sounding.is_set() or self._is_always_on):
            return near
        # Cards give multiples of 10 ms; whatever else comes is heard as it is.
        whole = len(near) // _STEP_SAMPLES * _STEP_SAMPLES
        delay_seconds = max(0.0, self._card.info.output_latency_seconds - self._far.ahead_seconds)
        self._keep_raw(near)
        clean = near.copy()
        for start in range(0, whole, _STEP_SAMPLES):
            step = slice(start, start + _STEP_SAMPLES)
            self._canceller.play(far[step])
            clean[step] = self._canceller.hear(near[step], delay_seconds)
        if self._sounding.is_set():
            self._check_step()
            self.meter.hear(far, near, clean)
        figure = self.meter.figure
        # Nobody listens over us before our echo was measured; what is said behind our last word is not to suffer.
        is_harmless = figure is None or figure.is_none
        return near if is_harmless and not self._is_always_on else clean

    def _keep_raw(self, near: Samples) -> None:
        self._raw.append(near)
        self._raw_length += len(near)
        while self._raw_length - len(self._raw[0]) >= _RAW_SAMPLES:
            self._raw_length -= len(self._raw.popleft())

    def _check_step(self) -> None:
        """Sound that was lost on its way moves the echo: until it is found again nothing is safe."""
        health = self._card.health
        faults = health.output_underruns + health.input_overruns + health.dropped_chunks + self._far.jumps
        if faults != self._faults:
            self._faults = faults
            self.meter.lose_step()

    def _watch(self, far: Samples) -> None:
        if far.any():
            self._silent = 0
            self._sounding.set()
        elif self._silent < _ECHO_SAMPLES:
            self._silent += len(far)
            if self._silent >= _ECHO_SAMPLES:
                self._sounding.clear()
                self._raw.clear()
                self._raw_length = 0
                self.meter.silence()
