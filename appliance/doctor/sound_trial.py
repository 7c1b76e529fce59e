"""Listens in on the microphone for some seconds, and plays a chirp to hear how much of it comes back.

It uses the sound card as the box does, and takes nothing from whoever listens besides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from appliance.audio import AudioChunk
from appliance.clock import Clock
from appliance.doctor.sound_signal import Echo, chirp, echo_of
from appliance.ports import SoundCard, SoundCardHealth, SoundCardInfo
from appliance.ports_doctor import TappedSound
from appliance.speak.mixer import Lane, Mixer, volume_gain

#: How long a room is listened to.
_LISTEN_SECONDS = 2.0
#: The chirp, the way through a sound server, and the room.
_CHIRP_SECONDS = 2.5


@dataclass(frozen=True)
class Heard:
    """What came in ``seconds``. ``sound`` has the device's rate and all its channels; None when nothing came.

    ``frames_per_second`` is how fast it came. ``lost`` counts overruns and dropped blocks meanwhile, ``gaps`` those in
    what was played.
    """

    sound: AudioChunk | None
    seconds: float
    frames_per_second: float = 0.0
    lost: int = 0
    gaps: int = 0


class SoundTrial:
    """One sound card, tried. Somebody takes its ``chunks`` meanwhile, as the ear of a running box does.

    ``told_echo_loss`` is told how much weaker a chirp came back; ``duplex`` says what that allows.
    """

    def __init__(
        self,
        card: SoundCard,
        mixer: Mixer,
        clock: Clock,
        *,
        is_muted: Callable[[], bool] = lambda: False,
        is_busy: Callable[[], bool] = lambda: False,
        told_echo_loss: Callable[[float], None] = lambda _decibels: None,
        duplex: Callable[[], str] = lambda: "",
    ) -> None:
        self._card = card
        self._mixer = mixer
        self._clock = clock
        self._is_muted = is_muted
        self._is_busy = is_busy
        self._told_echo_loss = told_echo_loss
        self._duplex = duplex
        self._listening: asyncio.Task[Heard] | None = None

    @property
    def info(self) -> SoundCardInfo:
        """What the card turned out to be."""
        return self._card.info

    @property
    def health(self) -> SoundCardHealth:
        """Its counters since it was opened."""
        return self._card.health

    @property
    def is_muted(self) -> bool:
        """Whether the microphone is closed on purpose."""
        return self._is_muted()

    @property
    def is_busy(self) -> bool:
        """Whether the box speaks or listens to somebody, so that nothing may be played."""
        return self._is_busy()

    @property
    def duplex(self) -> str:
        """Whether people may talk over the box, and what is known of its echo; "" where nobody knows."""
        return self._duplex()

    @property
    def volume_percent(self) -> int:
        """How loud the box is."""
        return self._mixer.volume_percent

    @property
    def is_real(self) -> bool:
        """Whether this is a sound card that can be listened in on; a box for typed turns has a file instead."""
        return isinstance(self._card, TappedSound)

    @property
    def can_listen(self) -> bool:
        """Whether there is a microphone, and it is open."""
        return self.is_real and bool(self.info.microphone) and not self.is_muted

    async def heard(self) -> Heard:
        """What the microphone hears; the first one who asks makes it, the others get the same."""
        if self._listening is None or self._listening.cancelled():
            self._listening = asyncio.ensure_future(self._listen(_LISTEN_SECONDS))
        return await asyncio.shield(self._listening)

    async def echo(self) -> Echo | None:
        """Play a chirp; how it came back, None when it did not."""
        sound = chirp(self._mixer.sample_rate_hz)
        clip = self._mixer.play(Lane.SPEECH, sound)
        try:
            heard = await self._listen(_CHIRP_SECONDS)
        finally:
            clip.drop()
        if heard.sound is None:
            return None
        echo = await asyncio.to_thread(echo_of, heard.sound, volume_gain(self._mixer.volume_percent))
        if echo is not None:
            self._told_echo_loss(echo.loss_decibels)
        return echo

    async def _listen(self, seconds: float) -> Heard:
        if not isinstance(self._card, TappedSound):
            return Heard(None, seconds)
        pieces: list[AudioChunk] = []
        arrivals: list[float] = []

        def take(piece: AudioChunk) -> None:
            pieces.append(piece)
            arrivals.append(self._clock.monotonic_seconds())

        before = self._card.health
        leave = self._card.tap(take)
        try:
            await self._clock.sleep(seconds)
        finally:
            leave()
        after = self._card.health
        lost = after.input_overruns - before.input_overruns + after.dropped_chunks - before.dropped_chunks
        gaps = after.output_underruns - before.output_underruns
        sound = _joined(pieces)
        return Heard(sound, seconds, _frames_per_second(pieces, arrivals), lost, gaps)


def _joined(pieces: list[AudioChunk]) -> AudioChunk | None:
    """One chunk, of the format that came last: a device may have been opened anew meanwhile."""
    if not pieces:
        return None
    alike = [piece.samples for piece in pieces if piece.format == pieces[-1].format]
    return AudioChunk(np.concatenate(alike), pieces[-1].format)


def _frames_per_second(pieces: list[AudioChunk], arrivals: list[float]) -> float:
    """From the first arrival to the last: what came with the first one was waiting before."""
    if len(pieces) < 2 or arrivals[-1] <= arrivals[0]:
        return 0.0
    return sum(len(piece.samples) for piece in pieces[1:]) / (arrivals[-1] - arrivals[0])
