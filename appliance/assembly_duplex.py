"""Joins barge-in to the box, where the sound card takes our own voice out of what it hears."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.assembly_ground import Ground
from appliance.assembly_parts import SoundParts
from appliance.assistant import Assistant
from appliance.assistant_parts import Parts
from appliance.barge_in import BargeIn
from appliance.echo_record import EchoRecord
from appliance.listen.duplex import DuplexSoundCard


@dataclass(frozen=True)
class Duplex:
    """Both directions at once: who hears people talk over the box, and what is known of its echo."""

    card: DuplexSoundCard
    record: EchoRecord
    barge_in: BargeIn

    @property
    def in_words(self) -> str:
        """The mode and the figure behind it."""
        figure = self.card.meter.figure
        return f"{self.barge_in.mode}; {figure.in_words if figure is not None else 'the echo was not measured yet'}"

    async def warm_up(self) -> None:
        """Load the canceller, and what was measured before."""
        await self.card.warm_up()
        await self.record.load()

    async def run(self) -> None:
        """For ever."""
        await self.barge_in.run()


def make_duplex(ground: Ground, assistant: Assistant, parts: Parts, sound: SoundParts) -> Duplex | None:
    """None where the card cannot be heard while it plays, such as a file."""
    card = sound.card
    if not isinstance(card, DuplexSoundCard):
        return None
    record = EchoRecord(ground.records.documents, card)
    barge_in = BargeIn(
        assistant,
        card,
        parts.ear,
        sound.mixer,
        sound.speaker,
        ground.adapters.transcriber,
        ground.adapters.activity(),
        parts.offline,
        ground.catalogue,
        ground.clock,
        publish=ground.bus.publish,
        sound=sound.earcon,
        rules=lambda: ground.knobs.listen,
        is_ringing=lambda: parts.alarm.is_ringing,
        when_silent=record.keep,
    )
    return Duplex(card, record, barge_in)
