"""What a box is assembled from: its outside, and the ground that all its parts stand on."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from appliance.assistant import Assistant
from appliance.bus import Bus
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.config import Config
from appliance.doctor.examined import Outside
from appliance.ears import Ears
from appliance.home import Home
from appliance.live_settings import Knobs
from appliance.network.facade import Facade
from appliance.ports import (
    Answer,
    AsyncCallback,
    Button,
    ButtonLamp,
    FaceBackend,
    Power,
    SoundCard,
    Synthesizer,
    Transcriber,
    VoiceActivityDetector,
    WakeWordDetector,
)
from appliance.ports_hearing import QuickReader, TurnDetector
from appliance.ports_pictures import PictureMaker
from appliance.ports_sandbox import WorkerLauncher
from appliance.ports_think import ModelEndpoint, SentenceMatcher
from appliance.records import Records
from appliance.ringing import MissedRings
from appliance.speak.mixer import Mixer
from appliance.store.starts import Starts
from appliance.think.soul_file import SoulWatch
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
    pictures: PictureMaker
    #: Without one whatever sounds like a wake word is a call.
    quick_reader: QuickReader | None = None
    #: Has the transcriber expect the names that it is given a source of.
    expect_words: Callable[[Callable[[], Sequence[str]]], None] = lambda _words: None
    #: Without one a timer alone says when a person has finished.
    turn_detector: TurnDetector | None = None
    button: Button | None = None
    lamp: ButtonLamp | None = None
    #: Has the buttons of faces call that with "talk", "mute" or "stop", on any thread.
    face_buttons: Callable[[Callable[[str], None]], None] = lambda _pressed: None
    #: None where the box may not switch the machine off.
    power: Power | None = None
    #: The plugins' door to HTTP; without one they have no ``core.net``.
    facade: Facade | None = None
    #: Kinds of sandboxes for the programs that plugins run, best first.
    workers: Sequence[WorkerLauncher] = ()
    is_line_cached: bool = True
    #: How the last starts ended; None where that is of no interest.
    starts: Starts | None = None
    #: Whether the model's address is in the house.
    is_model_local: bool = False
    #: Makes the first request as quick as the others.
    warm_up_network: AsyncCallback | None = None
    #: What could not be had as it was wanted, in sentences.
    problems: tuple[str, ...] = ()
    #: What the doctor looks at the machine with; without it there is no doctor.
    doctor: Outside | None = None


@dataclass(frozen=True)
class Ground:
    """What everything stands on."""

    adapters: Adapters
    home: Home
    config: Config
    clock: Clock
    bus: Bus
    ears: Ears
    catalogue: Catalogue
    soul: SoulWatch
    zone: tzinfo
    records: Records
    #: Closes what was opened, last first.
    stack: contextlib.AsyncExitStack
    #: What the owner may change while the box runs.
    knobs: Knobs


class AtWork:
    """Lets parts that are made before the assistant ask it something later."""

    assistant: Assistant | None = None
    missed: MissedRings | None = None

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        #: Each pause of a tool is said, not only its first.
        self._numbers = itertools.count()

    @property
    def is_busy(self) -> bool:
        return self.assistant is not None and self.assistant.is_busy

    def tell_person(self, decision: Decision) -> None:
        """Say why a call may not run; in a typed turn the model's answer says it."""
        if self.assistant is not None and decision.person_text and decision.request.channel == "voice":
            self.assistant.say(decision.person_text)

    async def ask(self, question: str, seconds: float) -> Answer:
        """Ask the person aloud, inside the turn that is on; who answers "stop" ends it."""
        if self.assistant is None:
            return Answer("", "unreachable")
        answer = await self.assistant.ask(question, seconds)
        if self.assistant.offline.match_answer(answer.text) == "stop":
            self.assistant.stop()
        return answer

    async def tell_missed(self) -> None:
        """Somebody is there again."""
        if self.missed is not None:
            await self.missed.tell()

    def tell_tool_paused(self, plugin: str, tool: str) -> None:
        """A tool failed too often."""
        if self.assistant is not None:
            words = self._catalogue.say("plugins.tool_paused", tool=tool.replace("_", " "))
            self.assistant.notice(f"paused-{plugin}-{tool}-{next(self._numbers)}", words)

    def tell_paused(self, plugin: str) -> None:
        """A plugin got stuck too often."""
        if self.assistant is not None:
            self.assistant.notice(f"paused-{plugin}", self._catalogue.say("plugins.paused", plugin=plugin))
