"""The knobs of the box, for its own tools: volume, pace, mute, stop; and how it is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from appliance import events
from appliance.clock import Clock
from appliance.errors import AudioError
from appliance.events import Event
from appliance.listen.ear import Ear
from appliance.listen.earcons import Earcon
from appliance.ports import AsyncCallback, Button, SoundCard
from appliance.speak.mixer import Mixer
from appliance.speak.speaker import Speaker

_LOG = logging.getLogger(__name__)


class Controls:
    """Puts values in force; the tools that set them store them."""

    def __init__(
        self,
        *,
        mixer: Mixer,
        speaker: Speaker,
        ear: Ear,
        clock: Clock,
        publish: Callable[[Event], None],
        sound: Callable[[Earcon], None],
        button: Button | None = None,
    ) -> None:
        self._mixer = mixer
        self._speaker = speaker
        self._ear = ear
        self._clock = clock
        self._publish = publish
        self._sound = sound
        self._button = button
        self._after_reply: list[AsyncCallback] = []

    @property
    def volume_percent(self) -> int:
        """Volume of speech, 0 to 100."""
        return self._mixer.volume_percent

    def set_volume(self, percent: int) -> None:
        """Set the volume of speech; alerts keep their floor."""
        self._mixer.set_volume_percent(percent)

    @property
    def speed(self) -> float:
        """Pace of speech; 1.0 is the voice's own."""
        return self._speaker.speed

    def set_speed(self, speed: float) -> None:
        """Set the pace of speech."""
        self._speaker.speed = speed

    @property
    def is_muted(self) -> bool:
        """Whether the microphone is closed."""
        return self._ear.is_muted

    async def mute(self, muted: bool) -> None:
        """Close the microphone, or open it again; with a sound and on the face, so that it is never a secret."""
        if muted != self._ear.is_muted:
            await self._put_in_force(muted)

    async def restore_mute(self, muted: bool) -> None:
        """At the start: as it was before. The ear may have known it, or have kept the microphone closed in doubt."""
        if muted or self._ear.is_muted:
            await self._put_in_force(muted)

    async def _put_in_force(self, muted: bool) -> None:
        await self._ear.mute(muted)
        self._publish(events.MuteChanged("", self._clock.monotonic_seconds(), muted))
        self._sound(Earcon.MUTED if muted else Earcon.UNMUTED)

    @property
    def has_button(self) -> bool:
        """Whether a button can bring the box back from mute."""
        return self._button is not None and self._button.is_present

    def stop_everything(self) -> None:
        """Drop what is still to be said; the turn that asks for it goes on to its end."""
        self._speaker.stop()

    def after_reply(self, action: AsyncCallback) -> None:
        """Do ``action`` when this turn is over."""
        self._after_reply.append(action)

    async def after_turn(self) -> None:
        """A turn is over: do what waited for that."""
        waiting, self._after_reply = self._after_reply, []
        for action in waiting:
            try:
                await action()
            except AudioError as error:
                # The turn is over and was good; a card that cannot be reached must not take the device down with it.
                _LOG.error("what was to follow the reply failed: %s", error)


@dataclass
class Health:
    """How the box is, honestly."""

    name: str
    card: SoundCard
    model: str
    #: Whether the last question could not reach the model.
    is_model_away: bool = False
    settled_problems: list[str] = field(default_factory=list)

    @property
    def microphone(self) -> str:
        """Name of the microphone, "" when there is none."""
        return self.card.info.microphone

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, in sentences."""
        return tuple(self.settled_problems)
