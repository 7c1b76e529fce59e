"""What a box is assembled from: its outside, and the ground that all its parts stand on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from appliance.assistant import Assistant
from appliance.bus import Bus
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.config import Config
from appliance.home import Home
from appliance.ports import (
    Button,
    ButtonLamp,
    FaceBackend,
    SoundCard,
    Synthesizer,
    Transcriber,
    VoiceActivityDetector,
    WakeWordDetector,
)
from appliance.ports_think import ModelEndpoint, SentenceMatcher
from appliance.records import Records
from appliance.ringing import MissedRings
from appliance.speak.mixer import Mixer
from appliance.think.soul import Soul
from appliance.tools.tool import Decision


@dataclass(frozen=True)
class Adapters:
    """The outside of a box. ``card`` is made last, for it asks the mixer whether there is anything to play."""

    card: Callable[[Mixer], SoundCard]
    synthesizer: Synthesizer
    transcriber: Transcriber
    activity: Callable[[], VoiceActivityDetector]
    wake_words: WakeWordDetector
    matcher: SentenceMatcher
    endpoint: ModelEndpoint | None
    faces: Sequence[FaceBackend]
    #: A sound card whose microphone is that file.
    recording: Callable[[Path], SoundCard]
    button: Button | None = None
    lamp: ButtonLamp | None = None
    is_line_cached: bool = True
    #: What could not be had as it was wanted, in sentences.
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ground:
    """What everything stands on."""

    adapters: Adapters
    home: Home
    config: Config
    clock: Clock
    bus: Bus
    catalogue: Catalogue
    soul: Soul
    zone: tzinfo
    records: Records
    #: Closes what was opened, last first.
    stack: contextlib.AsyncExitStack


class AtWork:
    """Lets parts that are made before the assistant ask it something later."""

    assistant: Assistant | None = None
    missed: MissedRings | None = None

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    @property
    def is_busy(self) -> bool:
        return self.assistant is not None and self.assistant.is_busy

    def tell_person(self, decision: Decision) -> None:
        """Say why a call may not run; in a typed turn the model's answer says it."""
        if self.assistant is not None and decision.person_text and decision.request.channel == "voice":
            self.assistant.say(decision.person_text)

    async def tell_missed(self) -> None:
        """Somebody is there again."""
        if self.missed is not None:
            await self.missed.tell()

    def tell_paused(self, plugin: str) -> None:
        """A plugin got stuck too often."""
        if self.assistant is not None:
            self.assistant.notice(f"paused-{plugin}", self._catalogue.say("plugins.paused", plugin=plugin))
