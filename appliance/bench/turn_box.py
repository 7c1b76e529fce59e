"""The box as a system of the benchmark of turns: all of it, but for its sound card."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from appliance import events
from appliance.audio import silence
from appliance.bench.paced_sound import Feeder, FirstSound, PacedSoundCard, PreparedClip
from appliance.bench.turn_worker import Floor, Setup, TurnTaken
from appliance.config import load
from appliance.errors import WeightsError
from appliance.home import Home
from appliance.ports_hearing import TurnDetector
from appliance.promptness import share_promptly
from appliance.wiring_turns import BoxOnCard, box_on_card

#: A turn that has not ended by then never will.
_LONGEST_TURN_SECONDS = 60.0
_CLAUSE, _JUDGED_SECONDS = "The museum opens at ten,", 8.0
#: Nothing but the reply may sound, and no line is spoken ahead meanwhile.
_SETTINGS = {
    "listen.earcons": "false",
    "speak.hum": "false",
    "speak.line_cache_megabytes": "0",
    "think.model": "stub",
}


class BoxSystem:
    """Meets ``Opened``; somebody presses the button and speaks."""

    def __init__(self, parts: BoxOnCard, detector: TurnDetector | None, card: PacedSoundCard) -> None:
        self._box = parts.box
        self._transcriber = parts.transcriber
        self._detector = detector
        self._card = card

    async def take_turn(self, clip: PreparedClip) -> TurnTaken:
        """See ``Opened``."""
        assistant, card, counted = self._box.assistant, self._card, self._transcriber
        seen, ended, starts_before = list[events.Event](), asyncio.Event(), counted.starts

        def watch(event: events.Event) -> None:
            seen.append(event)
            if isinstance(event, events.TurnEnded):
                ended.set()

        leave = self._box.bus.subscribe(watch)
        feeder = card.begin(clip)
        assistant.press()
        try:
            async with asyncio.timeout(_LONGEST_TURN_SECONDS):
                await ended.wait()
        except TimeoutError:
            assistant.stop()
        finally:
            card.end()
            leave()
        return _taken(seen, feeder, card.first_sound, counted.starts - starts_before)

    async def take_floor(self) -> Floor:
        """See ``Opened``; nothing else goes on meanwhile."""
        began = time.monotonic()
        if self._detector is not None:
            await self._detector.finished_probability(silence(_JUDGED_SECONDS))
        judged = time.monotonic()
        async for _ in self._box.synthesizer.synthesize(_CLAUSE):
            break
        return Floor(1000 * (judged - began), 1000 * (time.monotonic() - judged))


@asynccontextmanager
async def open_box_system(setup: Setup) -> AsyncIterator[BoxSystem]:
    """The box, loaded and living. Raises ``ApplianceError``."""
    given = {
        **_SETTINGS,
        "think.url": setup.url,
        "hear.model_path": setup.whisper_folder,
        "hear.threads": str(setup.threads),
        "speak.voice_path": setup.voice_file,
        "box.language": setup.language,
    }
    config = load(None, {}, {**given, **setup.settings})
    share_promptly()  # as the device does
    async with box_on_card(Home(Path(setup.home)), config, PacedSoundCard) as parts:
        box, card = parts.box, parts.box.card
        assert isinstance(card, PacedSoundCard)
        living = asyncio.create_task(box.live())
        await asyncio.gather(box.transcriber.warm_up(), box.synthesizer.warm_up())
        detector = parts.turn_detector
        try:
            if detector is not None:
                await detector.warm_up()
        except WeightsError:
            detector = None  # Then the box does without, too.
        try:
            yield BoxSystem(parts, detector, card)
        finally:
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)


def _taken(seen: list[events.Event], feeder: Feeder, first: FirstSound | None, transcripts: int) -> TurnTaken:
    ended_at = feeder.speech_ended_at
    problems = [event.message for event in seen if isinstance(event, events.ErrorRaised)]
    return TurnTaken(
        " ".join(event.text for event in seen if isinstance(event, events.Transcribed)),
        *feeder.cost_of(first),
        transcripts=transcripts,
        tool_calls=sum(isinstance(event, events.ToolStarted) for event in seen),
        was_cut=any(isinstance(event, events.SpeechEnded) and event.at_seconds < ended_at for event in seen),
        problem="; ".join(problems),
    )
