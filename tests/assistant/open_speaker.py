"""A box whose microphone stands beside its loudspeaker, for the stories in which people talk over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from appliance.adapters.fakes.echo_canceller import FakeEchoCanceller
from appliance.assembly_ground import Adapters
from appliance.audio import Samples
from appliance.listen.duplex import DuplexSoundCard
from appliance.listen.echo_meter import EchoMeter
from appliance.speak.mixer import Mixer
from tests.assistant.rig import Rig

#: An echo comes so much later than its sound.
_DELAY_SAMPLES = 800


class OpenSpeakerRig(Rig):
    """``echo_gain`` is what of our own voice comes back into the microphone, as if nothing had been taken out of it."""

    def __init__(self, *arguments: Any, echo_gain: float = 0.0, **parts: Any) -> None:
        super().__init__(*arguments, **parts)
        self.echo_gain = echo_gain
        self.canceller = FakeEchoCanceller()
        self.quiet_step_seconds = 0.05
        self.duplex_card: DuplexSoundCard

    async def hears_noise(self, seconds: float = 1.0) -> None:
        """Somebody speaks; a sentence, and no word that may be an echo."""
        await super().hears_noise(seconds)

    def _adapters(self) -> Adapters:
        def card(mixer: Mixer) -> DuplexSoundCard:
            self.mixer = mixer
            self.duplex_card = DuplexSoundCard(self.card, self.canceller, EchoMeter())
            return self.duplex_card

        return replace(super()._adapters(), card=card)

    def _mouth(self, wanted: int) -> Samples:
        person = super()._mouth(wanted).astype(np.float64)
        played = np.concatenate([np.zeros(_DELAY_SAMPLES, dtype=np.int16), *self._sound[-40:]])[-_DELAY_SAMPLES:]
        echo = played[:wanted] * self.echo_gain
        person[: len(echo)] += echo
        return np.clip(person, -32768, 32767).astype(np.int16)
