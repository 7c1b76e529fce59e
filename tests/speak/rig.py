"""A whole speaking box without hardware: fake voice, mixer, speaker, and a virtual speaker that runs with the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.virtual_speaker import VirtualSpeaker
from appliance.clock import FakeClock
from appliance.events import Event
from appliance.speak.line_cache import LineCache
from appliance.speak.mixer import Mixer
from appliance.speak.speaker import Speaker
from appliance.turn import Turn

E = TypeVar("E", bound=Event)

RATE_HZ = 16_000
BLOCK_SECONDS = 0.02


def committed_turn() -> Turn:
    """A turn that is meant."""
    turn = Turn("voice", turn_id="turn-1")
    turn.commit()
    return turn


class Rig:
    """Volume 100 %, so that levels can be read back from what was played."""

    def __init__(
        self,
        *,
        cache: Callable[[FakeSynthesizer], LineCache] | None = None,
        block_seconds: float = BLOCK_SECONDS,
        word_seconds: float = 0.06,
    ) -> None:
        self.clock = FakeClock()
        self.events: list[Event] = []
        self.voice = FakeSynthesizer(sample_rate_hz=RATE_HZ, word_seconds=word_seconds)
        self.mixer = Mixer(RATE_HZ, volume_percent=100)
        self.output = VirtualSpeaker(self.mixer.render, self.clock, block_seconds=block_seconds)
        self.is_quiet = False
        self.is_busy = False
        self.speaker = Speaker(
            self.mixer,
            self.voice,
            self.clock,
            self.events.append,
            cache=cache(self.voice) if cache is not None else None,
            is_quiet=lambda: self.is_quiet,
            is_busy=lambda: self.is_busy,
        )

    async def play(self, seconds: float) -> list[str]:
        """Let the box run for ``seconds``; the texts that were heard meanwhile, in order."""
        return self.voice.texts_in(await self.output.play(seconds))

    @property
    def heard(self) -> list[str]:
        """Every text that was heard until now, in order."""
        return self.voice.texts_in(self.output.played)

    def told(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]
