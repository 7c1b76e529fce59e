"""A whole box made of fakes, with a person beside it, in a world whose time a test moves.

The microphone hears what the person says, the loudspeaker's sound is kept, and every fact is written down. Nothing
here waits for real time: sound, clock and box go on together, in small steps while anything sounds and in larger
ones while all is quiet.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from appliance.adapters.fakes.button import FakeButton
from appliance.adapters.fakes.chat_cipher import FakeChatCipher
from appliance.adapters.fakes.control import FakeControl
from appliance.adapters.fakes.lamp import FakeLamp
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint
from appliance.adapters.fakes.picture_maker import FakePictureMaker
from appliance.adapters.fakes.power import FakePower
from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.tool import FakeTool
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.assembly import assemble
from appliance.assembly_ground import Adapters
from appliance.audio import HEARING_FORMAT, Samples
from appliance.box import Box
from appliance.bus import Bus
from appliance.clock import FakeClock
from appliance.config import load
from appliance.events import EndReason, Event, PlaybackFinished, TurnEnded, TurnStarted
from appliance.home import Home, shipped
from appliance.listen.earcons import Earcon, earcon
from appliance.network.seen import Seen
from appliance.ports import FaceBackend
from appliance.ports_think import SentenceMatcher
from appliance.records import Records
from appliance.speak.mixer import Mixer
from appliance.store.approvals import StoredApprovals
from appliance.store.audit_log import AuditLog
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_log import StoredChatLog
from appliance.store.credentials import Credentials
from appliance.store.documents import StoredDocuments
from appliance.store.grants import StoredGrants
from appliance.store.images import StoredImages
from appliance.store.shapes import TurnRecord
from appliance.store.traffic_log import StoredTraffic
from appliance.store.turn_log import TurnLog
from tests.assistant.disk import FakeDisk
from tests.assistant.prompt_executor import PromptExecutor

E = TypeVar("E", bound=Event)

RATE_HZ = HEARING_FORMAT.sample_rate_hz
WAKE_WORD = "okay nabu"
SPEECH_SECONDS = 0.6

#: One step of the world while something sounds.
_LIVELY_SECONDS = 0.05
#: One step of a world in which a day goes by.
_LEAP_SECONDS = 5.0
#: Longer than any pause inside one tone, shorter than one between two sounds.
_GAP_SAMPLES = round(0.04 * RATE_HZ)
#: The soft edges of a tone are lost in rounding when it is played softly.
_TONE_TOLERANCE_SAMPLES = round(0.01 * RATE_HZ)


class Rig:
    """One box and one person. ``start`` it; ``close`` checks what must hold in every story."""

    def __init__(
        self,
        folder: Path,
        matcher: SentenceMatcher,
        *,
        model: FakeModelEndpoint | None = None,
        settings: Mapping[str, str] | None = None,
        disk: FakeDisk | None = None,
        clock: FakeClock | None = None,
        card: FakeSoundCard | None = None,
        faces: Sequence[FaceBackend] = (),
        bus: Bus | None = None,
        has_button: bool = False,
        is_model_local: bool = False,
        may_shut_down: bool = False,
    ) -> None:
        self.home = Home(folder)
        self.model = model
        self.disk = disk or FakeDisk()
        self.clock = clock or FakeClock()
        self.card = card or FakeSoundCard()
        #: The microphone in a recording that is played to the box.
        self.recording = FakeSoundCard()
        self.voice = FakeSynthesizer()
        self.ears = FakeTranscriber()
        self.wake_words = FakeWakeWords((WAKE_WORD,))
        #: In memory only: a box that is started again on the same disk does not have them.
        self.keys = ChatKeys(FakeChatCipher())
        self.is_model_local = is_model_local
        self.has_button = has_button
        self.button = FakeButton(self.clock)
        self.lamp = FakeLamp(self.clock)
        #: What the buttons of a face call.
        self.face_button: Callable[[str], None]
        self.power = FakePower()
        self.may_shut_down = may_shut_down
        self.facts: list[Event] = []
        #: What the log would show a maintainer: faults of ours that a person was spared.
        self.tracebacks: list[str] = []
        self.box: Box
        self.mixer: Mixer
        #: One step of the world while all is quiet.
        self.quiet_step_seconds = 0.25
        self._matcher = matcher
        self._settings = dict(settings or {})
        self._faces = tuple(faces)
        self._bus = bus
        self._stack = AsyncExitStack()
        self._life: asyncio.Task[None] | None = None
        self._to_say: list[Samples] = []
        self._sound: list[Samples] = []

    # ------------------------------------------------------------------------------------------ on and off

    async def start(self, *, is_living: bool = True) -> Rig:
        """Switch on; a box that is not living takes typed turns only."""
        self._watch_for_faults()
        asyncio.get_running_loop().set_default_executor(PromptExecutor())
        self.home.make()
        # The shipped plugins are not part of these stories: they would run on a thread of their own.
        plugins = [folder.name for folder in shipped("plugins").iterdir()]
        self.home.switch_file.write_text(json.dumps({"enabled": [], "disabled": plugins}))
        config = load(None, {}, self._settings, keep_going=True)
        self.box = await self._stack.enter_async_context(
            assemble(self._adapters(), self.home, config, self.clock, self._records(), bus=self._bus)
        )
        self.box.bus.subscribe(self.facts.append)
        if is_living:
            self._life = asyncio.create_task(self.box.live())
            while not (self.voice.is_warm and self.card.openings):  # Both come behind a thread.
                await asyncio.sleep(0)
            await self.runs(0.1)
        return self

    async def close(self) -> None:
        """Switch off, after a look at what must hold in every story; twice is once."""
        if self._life is not None:
            assert not self._life.done(), f"the device died: {self._life}"
            self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)
            self._life = None
        await self._stack.aclose()
        self.check_turns()
        assert self.tracebacks == []

    def lives_long(self) -> None:
        """From now on a quiet world goes on in leaps, and its microphone tells nothing of the silence in them."""
        self.quiet_step_seconds = _LEAP_SECONDS

    def forgets(self) -> None:
        """Look at what was told until now, and keep none of it: a long story would fill the memory."""
        self.check_turns()
        for kept in (self.facts, self._sound, self.ears.heard, self.model.requests if self.model is not None else []):
            kept.clear()

    def check_turns(self) -> None:
        """Each turn begins once, ends once, and nothing of it comes behind its end."""
        for turn_id in dict.fromkeys(fact.turn_id for fact in self.facts if fact.turn_id):
            story = [type(fact) for fact in self.facts if fact.turn_id == turn_id]
            assert story[0] is TurnStarted, f"{turn_id} does not begin with its start: {story}"
            assert story[-1] is TurnEnded, f"{turn_id} goes on behind its end: {story}"
            assert story.count(TurnStarted) == story.count(TurnEnded) == 1, f"{turn_id}: {story}"

    # ---------------------------------------------------------------------------------------- the person's side

    async def hears(self, *utterances: str) -> None:
        """The person says this, one utterance after the other; the wake word is found, the rest transcribed."""
        for text in utterances:
            if text == WAKE_WORD:
                self.wake_words.find_next(text)
                await self.runs(0.08)
            else:
                self.ears.will_hear(text)
                await self.hears_noise()

    async def hears_noise(self, seconds: float = SPEECH_SECONDS) -> None:
        """Somebody speaks, whatever is understood of it; until the utterance has ended."""
        self.speaks(seconds)
        await self.runs(seconds + 0.9)

    def speaks(self, seconds: float) -> None:
        """The person begins to speak, and goes on for so long while the world does."""
        self._to_say.append(speech(seconds))

    def falls_silent(self) -> None:
        """The person says no more of it."""
        self._to_say.clear()

    async def asks(self, question: str) -> None:
        """A whole spoken turn, until all is quiet."""
        await self.hears(WAKE_WORD, question)
        await self.rests()

    async def asks_and_waits(self, question: str) -> None:
        """A whole spoken turn, until the box waits for an answer to what it said."""
        await self.hears(WAKE_WORD, question)
        await self.until(lambda: self.endings and self.is_ear_open)

    async def types(self, text: str, *, is_voiced: bool = False) -> dict[str, Any]:
        """A whole typed turn, over the control socket; the report of it."""
        asking = asyncio.create_task(self.control.call("ask", {"text": text, "voice": is_voiced}))
        await self.until(asking.done)
        report: dict[str, Any] = await asking
        return report

    async def plays(self, recording: Samples, text: str) -> dict[str, Any]:
        """A whole turn with a recording in which this is said; the report of it."""
        self.ears.will_hear(text)
        self.recording.hear(recording)
        asking = asyncio.create_task(self.control.call("ask", {"wav": "question.wav"}))
        await self.until(asking.done)
        report: dict[str, Any] = await asking
        return report

    @property
    def control(self) -> FakeControl:
        """The control socket."""
        return FakeControl(self.box.all_handlers)

    async def sets_timer(self, seconds: float) -> None:
        """A timer, set without a turn."""
        await self.control.call("tool.run", {"name": "box_timer_set", "arguments": {"seconds": seconds}})

    def adds(self, *tools: FakeTool) -> None:
        """The box has these tools too."""
        for tool in tools:
            assert self.box.registry.add(tool)

    async def presses(self, seconds: float = 0.15) -> None:
        """A finger on the button."""
        self.button.press()
        await self.runs(seconds)
        self.button.release()
        await self.runs(0.06)

    async def presses_on_face(self, action: str) -> None:
        """A finger on a button of the face, which tells on a thread of its own."""
        await asyncio.to_thread(self.face_button, action)
        await self.runs(0.2)

    # -------------------------------------------------------------------------------------------- time goes on

    async def runs(self, seconds: float) -> None:
        """Let the world go on."""
        end = self.clock.monotonic_seconds() + seconds
        while (left := end - self.clock.monotonic_seconds()) > 1e-6:
            await self._step(min(left, self._step_seconds))

    async def until(self, is_so: Callable[[], object], at_most_seconds: float = 60.0) -> float:
        """Let the world go on until ``is_so``; how long that took."""
        began = self.clock.monotonic_seconds()
        while not is_so():
            if self.clock.monotonic_seconds() - began > at_most_seconds:
                told = "\n  ".join(map(str, self.facts[-20:]))
                raise AssertionError(f"it did not come about in {at_most_seconds:g} s; the last facts:\n  {told}")
            await self._step(self._step_seconds)
        return self.clock.monotonic_seconds() - began

    async def rests(self, at_most_seconds: float = 60.0) -> float:
        """Let the world go on until no turn is on and all is quiet; how long that took."""
        return await self.until(lambda: self.is_at_rest, at_most_seconds)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing goes on."""
        return not (self.box.assistant.is_busy or self.box.speaker.is_speaking or self._is_lively)

    @property
    def _is_lively(self) -> bool:
        return bool(self._to_say) or self.mixer.has_sound()

    @property
    def _step_seconds(self) -> float:
        return _LIVELY_SECONDS if self._is_lively else self.quiet_step_seconds

    async def _step(self, seconds: float) -> None:
        wanted = round(seconds * RATE_HZ)
        if seconds < _LEAP_SECONDS:
            self.card.hear(self._mouth(wanted))
        self._sound.append(self.card.play(wanted).copy())
        await self.clock.advance(seconds)

    def _mouth(self, wanted: int) -> Samples:
        """The next samples of what the person says; silence when that is nothing."""
        samples = np.zeros(wanted, dtype=np.int16)
        if self._to_say:
            taken, rest = self._to_say[0][:wanted], self._to_say[0][wanted:]
            samples[: len(taken)] = taken
            self._to_say[:1] = [rest] if len(rest) else []
        return samples

    # ------------------------------------------------------------------------------------------ what came of it

    @property
    def said(self) -> list[str]:
        """What was really heard from the loudspeaker, in order."""
        return [fact.heard_text for fact in self.told(PlaybackFinished) if fact.heard_text]

    def told(self, kind: type[E]) -> list[E]:
        """The facts of one kind."""
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def endings(self) -> list[EndReason]:
        """How the turns ended, in order."""
        return [fact.reason for fact in self.told(TurnEnded)]

    @property
    def sound(self) -> Samples:
        """All that came out of the loudspeaker."""
        return np.concatenate(self._sound)

    @property
    def tones(self) -> list[Earcon]:
        """The short sounds that were heard by themselves, in order."""
        return [tone for stretch in _stretches(self.sound) if (tone := _as_tone(stretch)) is not None]

    @property
    def last_tone(self) -> Earcon | None:
        """The short sound that was heard last of all; None when the last was something else."""
        end = int(np.flatnonzero(self.sound)[-1]) + 1
        lengths = {len(earcon(kind, RATE_HZ, 100).samples) for kind in Earcon}
        found = [tone for length in lengths if (tone := _as_tone(self.sound[end - length : end])) is not None]
        return found[0] if found else None

    @property
    def is_ear_open(self) -> bool:
        """Whether what is said now needs no wake word."""
        return self.box.ear.is_listening

    async def history(self) -> list[TurnRecord]:
        """The conversation, oldest first."""
        chats = self._records().chats
        return await chats.turns(await chats.current(), 100)

    async def audit(self) -> list[Mapping[str, Any]]:
        """What the lines of the audit trail say, oldest first."""
        return [line["entry"] for line in await self.control.call("audit.list")]

    def sentences(self, key: str) -> list[str]:
        """What the box may say for a catalogue key, as it is heard."""
        return list(self.box.catalogue.forms(key))

    # -------------------------------------------------------------------------------------------------- inside

    def _adapters(self) -> Adapters:
        def card(mixer: Mixer) -> FakeSoundCard:
            self.mixer = mixer
            return self.card

        return Adapters(
            card=card,
            synthesizer=self.voice,
            transcriber=self.ears,
            activity=LoudnessVoiceActivity,
            wake_words=self.wake_words,
            matcher=self._matcher,
            endpoint=self.model,
            faces=self._faces,
            recording=lambda _file: self.recording,
            pictures=FakePictureMaker(),
            button=self.button if self.has_button else None,
            lamp=self.lamp if self.has_button else None,
            face_buttons=lambda pressed: setattr(self, "face_button", pressed),
            power=self.power if self.may_shut_down else None,
            is_line_cached=False,
            is_model_local=self.is_model_local,
        )

    def _records(self) -> Records:
        secrets = Credentials(self.home.folder / "credentials.json", {}, self.clock)
        return Records(
            self.disk,
            secrets,
            StoredChatLog(self.disk, self.clock, self.keys),
            TurnLog(self.disk, self.clock, secrets.redact),
            AuditLog(self.disk, self.clock, "boot-1", keys=self.keys),
            StoredDocuments(self.disk),
            StoredApprovals(self.disk, self.clock, "boot-1"),
            StoredGrants(self.disk, self.clock),
            Seen(StoredTraffic(self.disk), self.clock),
            StoredImages(self.disk, self.clock, self.keys),
        )

    def _watch_for_faults(self) -> None:
        """Collect what nobody would see: exceptions that were only logged, and tasks whose failure was forgotten."""
        handler = _Tracebacks(self.tracebacks)
        logging.getLogger().addHandler(handler)
        self._stack.callback(logging.getLogger().removeHandler, handler)


class _Tracebacks(logging.Handler):
    """Keeps the messages of log records that carry an exception."""

    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        if record.exc_info is not None:
            self._found.append(f"{record.getMessage()}: {record.exc_info[1]!r}")


def speech(seconds: float) -> Samples:
    """Sound that counts as speech."""
    noise = np.random.default_rng(1).normal(0.0, 4000.0, round(seconds * RATE_HZ))
    return np.clip(noise, -32000, 32000).astype(np.int16)


def _stretches(sound: Samples) -> list[Samples]:
    """The pieces of sound between silences."""
    loud = np.flatnonzero(sound)
    if len(loud) == 0:
        return []
    cuts = np.flatnonzero(np.diff(loud) > _GAP_SAMPLES)
    starts, ends = [loud[0], *loud[cuts + 1]], [*loud[cuts], loud[-1]]
    return [sound[start : end + 1] for start, end in zip(starts, ends, strict=True)]


def _as_tone(stretch: Samples) -> Earcon | None:
    """Which earcon a stretch of sound is, at whatever volume; None when it is none."""
    heard = stretch.astype(np.float64)
    for kind in Earcon:
        wanted = earcon(kind, RATE_HZ, 100).samples.astype(np.float64)
        if abs(len(wanted) - len(heard)) < _TONE_TOLERANCE_SAMPLES:
            likeness = np.correlate(wanted, heard, "full").max() / np.sqrt(np.sum(wanted**2) * np.sum(heard**2))
            if likeness > 0.95:
                return kind
    return None
