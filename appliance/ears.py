"""The ears of the box: everything that hears and sounds, before there is anybody to think.

A device opens them first and loads the rest behind. Whoever calls meanwhile hears at once that the ear is open; what
they say is kept, and answered when there is somebody to answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from appliance import events
from appliance.bus import Bus
from appliance.clock import Clock
from appliance.listen.config import ListenConfig
from appliance.listen.duplex import DuplexSoundCard
from appliance.listen.ear import Ear
from appliance.listen.earcons import Earcon, earcon
from appliance.ports import SoundCard, VoiceActivityDetector, WakeWordDetector
from appliance.speak.mixer import Lane, Mixer
from appliance.speak.mouth import MouthTrack


class Ears:
    """One card with what is behind it: the mixer that it plays, the ear that hears it.

    ``settings`` are the owner's as they are now; ``problems`` what could not be had as it was wanted, in sentences.
    """

    def __init__(
        self,
        *,
        bus: Bus,
        clock: Clock,
        mixer: Mixer,
        mouth: MouthTrack,
        card: SoundCard,
        activity: VoiceActivityDetector,
        wake_words: WakeWordDetector,
        listen: ListenConfig,
        problems: tuple[str, ...] = (),
    ) -> None:
        self.bus = bus
        self.clock = clock
        self.mixer = mixer
        self.mouth = mouth
        self.card = card
        self.wake_words = wake_words
        self.ear = Ear(card, activity, wake_words, clock, listen, bus.publish)
        if isinstance(card, DuplexSoundCard):
            self.ear.wake_sound = card.for_wake_words
        self.ear.when_called_early = self._answer_early
        self.settings: Callable[[], ListenConfig] = lambda: listen
        self.problems = problems
        self._hearing: asyncio.Task[None] | None = None
        self._has_answered_early = False

    def begin(self) -> None:
        """Hear from now on; the card is open."""
        self._hearing = asyncio.create_task(self.ear.run(), name="ear")
        if self.ear.can_hear:
            self.bus.publish(events.EarOpened("", self.clock.monotonic_seconds()))

    async def hear(self) -> None:
        """Hear for ever; goes on with what ``begin`` began."""
        if self._hearing is None:
            self.begin()
        assert self._hearing is not None
        await self._hearing

    def play(self, kind: Earcon) -> None:
        """A short sound, where the owner wants any. Who was answered early is not answered twice."""
        if kind is Earcon.WOKE and self._has_answered_early:
            self._has_answered_early = False
            return
        settings = self.settings()
        if settings.earcons:
            clip = self.mixer.open_clip(Lane.HUM)
            clip.write(earcon(kind, self.mixer.sample_rate_hz, settings.earcon_volume_percent))
            clip.end()

    async def close(self) -> None:
        """Hear no more, and give the card back."""
        await self.card.close()
        if self._hearing is not None:
            self._hearing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(self._hearing, return_exceptions=True)

    def _answer_early(self) -> None:
        self.play(Earcon.WOKE)
        self._has_answered_early = True


@contextlib.asynccontextmanager
async def opened(ears: Ears) -> AsyncIterator[None]:
    """With the card open; at the end nothing is heard any more."""
    await open_card(ears.card, ears.mixer, ears.mouth)
    try:
        yield
    finally:
        await ears.close()


async def open_card(card: SoundCard, mixer: Mixer, mouth: MouthTrack) -> None:
    """The card plays what the mixer gives, at a rate that both know."""
    await card.open(mixer.render)
    mixer.set_sample_rate(card.info.output_rate_hz)
    mouth.latency_seconds = card.info.output_latency_seconds
