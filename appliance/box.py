"""The box: everything put together, and what it does as a device besides taking turns."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field

from appliance.approve.asker import PersonAsker
from appliance.approve.button_watch import ButtonWatch
from appliance.assistant import Assistant
from appliance.bus import Bus
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.control import Caller, Handler
from appliance.controls import Controls
from appliance.device.ringer import Ringer
from appliance.device.schedule import Schedule
from appliance.errors import ApplianceError, AudioError
from appliance.face.stage import Stage
from appliance.listen.ear import Ear
from appliance.network.seen import Seen
from appliance.ports import AsyncCallback, Json, SoundCard, Synthesizer, Transcriber
from appliance.speak.speaker import Speaker
from appliance.store.ballast import Ballast
from appliance.store.retention import Retention
from appliance.store.shapes import Documents
from appliance.think.offline_brain import OfflineBrain
from appliance.think.soul import Soul
from appliance.think.soul_file import SoulWatch
from appliance.tools.registry import Registry

_LOG = logging.getLogger(__name__)

#: Collection and key of the document that remembers the introduction.
GREETED = ("box", "greeted")
#: Tables of the catalogue whose sentences are fixed and come often.
_SPOKEN_AHEAD = ("assistant.", "brain.", "talk.", "offline.", "private.")


@dataclass(frozen=True)
class Facts:
    """What was found while the box was put together."""

    wake_phrases: tuple[str, ...] = ()
    model: str = ""
    #: What is wrong with plugins, asked anew each time.
    plugin_problems: Callable[[], Sequence[str]] = lambda: ()
    #: Which kind of sandbox plugins have for programs, and what it does not protect from.
    sandbox: Callable[[], str] = lambda: ""
    #: Key and sentence of what the person is to be told of plugins, each once; reads and writes the disk.
    plugin_news: Callable[[], Sequence[tuple[str, str]]] = lambda: ()
    #: Why no plugin of the owner is loaded; "" when they are.
    safe_mode: Callable[[], str] = lambda: ""
    #: Key of the catalogue sentence and the same in words for the log.
    store_notes: tuple[tuple[str, str], ...] = ()
    settings_problems: tuple[str, ...] = ()
    was_muted: bool = False
    #: A private chat was in use before the restart, which has locked it.
    is_private_chat_locked: bool = False


@dataclass(frozen=True)
class Box:
    """A whole box. It can take turns as it is; ``live`` makes it a device."""

    facts: Facts
    assistant: Assistant
    card: SoundCard
    ear: Ear
    speaker: Speaker
    transcriber: Transcriber
    synthesizer: Synthesizer
    offline: OfflineBrain
    schedule: Schedule
    ringer: Ringer
    controls: Controls
    documents: Documents
    catalogue: Catalogue
    clock: Clock
    bus: Bus
    stage: Stage
    registry: Registry
    handlers: Mapping[str, Handler]
    asker: PersonAsker
    seen: Seen
    soul: SoulWatch
    retention: Retention
    #: What plugins do without being called, for ever.
    live_plugins: Callable[[], Coroutine[None, None, None]]
    #: Whether the chat in use is a private one.
    is_private: Callable[[], bool]
    #: Whether what is said now may belong to a private one, and is in no trace.
    hides_words: Callable[[], bool]
    button: ButtonWatch | None = None
    #: Room that is given up when the disk is full; None where nothing can be full.
    ballast: Ballast | None = None
    warm_up_network: AsyncCallback | None = None
    started_at: float = field(default_factory=time.time)

    async def live(self, is_up: Callable[[], None] = lambda: None) -> None:
        """Be a device until cancelled: hear, take turns, ring. Never ends by itself.

        ``is_up`` is called when sound, button and state can be used; weights may still be loading.
        """
        self.asker.is_shell_open = True
        self.ear.when_card_lost = self._microphone_lost
        self.ear.when_card_found = self._microphone_found
        if self.facts.was_muted:
            await self.controls.mute(True)
        await self._tell_what_is_wrong()
        self.soul.follow(self._tell_of_soul)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._hear(), name="ear")
            tasks.create_task(self.schedule.run(self.ringer.add), name="schedule")
            tasks.create_task(self.ringer.run(), name="ringer")
            tasks.create_task(self.assistant.live(), name="assistant")
            tasks.create_task(self._warm_up(), name="warm up")
            tasks.create_task(self.seen.run(), name="seen")
            tasks.create_task(self.soul.run(), name="soul")
            tasks.create_task(self.retention.run(), name="retention")
            tasks.create_task(self.live_plugins(), name="plugins")
            if self.ballast is not None:
                watching = self.ballast.watch(self.clock, self._disk_full, self._disk_has_room)
                tasks.create_task(watching, name="ballast")
            if self.button is not None:
                tasks.create_task(self.button.run(), name="button")
            await asyncio.sleep(0)  # All of them have begun.
            is_up()
            # These run for ever, or have nothing to do; the group ends when this method is cancelled.
            await asyncio.Event().wait()

    async def greet(self) -> bool:
        """On the first start ever, say who is there and what to try; False when that was said before."""
        collection, key = GREETED
        if await self.documents.get(collection, key) is not None:
            return False
        await self.documents.put(collection, key, self.clock.now().isoformat(timespec="seconds"))
        info, phrase = self.card.info, next(iter(self.facts.wake_phrases), "")
        sentences = (
            self.catalogue.say("greeting.devices", microphone=info.microphone, speaker=info.speaker),
            self.catalogue.say("greeting.wake_word" if phrase else "greeting.button", phrase=phrase),
            self.catalogue.say("greeting.model" if self.facts.model else "greeting.no_model", model=self.facts.model),
            self.catalogue.say("greeting.try"),
        )
        for sentence in sentences:
            self.speaker.say(sentence)
        return True

    def status(self) -> Json:
        """What the box is, has and does now."""
        info, health = self.card.info, self.card.health
        return {
            "state": self.assistant.state,
            "microphone": info.microphone or info.problem or "none",
            "speaker": info.speaker or "none",
            "muted": self.controls.is_muted,
            "chat": "private" if self.is_private() else "open",
            "volume": f"{self.controls.volume_percent} %",
            "button": self.button.health if self.button is not None else "none",
            "wake words": list(self.facts.wake_phrases),
            "model": self.facts.model or "none: the box answers by itself",
            "tools": len(self.registry.tools),
            "sandbox": self.facts.sandbox(),
            "safe mode": self.facts.safe_mode() or "off",
            "plugin problems": list(self.facts.plugin_problems()),
            "store problems": self._store_problems(),
            "settings problems": list(self.facts.settings_problems),
            "soul": list(self.soul.problems),
            "timers": len(self.schedule.waiting),
            "face": self.stage.health,
            "sound": {
                "overruns": health.input_overruns,
                "underruns": health.output_underruns,
                "dropped": health.dropped_chunks,
            },
            "running for": _span(time.time() - self.started_at),
        }

    def _store_problems(self) -> list[Json]:
        is_full = self.ballast is not None and self.ballast.is_given_up
        full = ["the disk is full: free some space, then everything is kept again"] if is_full else []
        return [*(text for _, text in self.facts.store_notes), *full]

    @property
    def all_handlers(self) -> Mapping[str, Handler]:
        """What clients may ask of the running device."""

        async def status(_params: Mapping[str, Json], _caller: Caller) -> Json:
            return self.status()

        return {**self.handlers, "status": status}

    async def _hear(self) -> None:
        try:
            await self.ear.warm_up()
        except ApplianceError as error:
            # Deaf, but alarms still ring and typed turns are answered; `status` and the log say why.
            _LOG.error("nothing can be heard: %s", error)
        await self.ear.run()

    async def _warm_up(self) -> None:
        """Load what a turn needs, one after another, while the ear is open already."""
        # Imports first: they hold the interpreter for longer than the sound card can wait, and nothing is said yet.
        steps: list[tuple[str, AsyncCallback]] = [
            *([("HTTP library", self.warm_up_network)] if self.warm_up_network is not None else []),
            ("sentences", self.offline.warm_up),
            ("whisper", self.transcriber.warm_up),
            ("voice", self.synthesizer.warm_up),
        ]
        for name, step in steps:
            try:
                await step()
            except ApplianceError as error:
                _LOG.error("loading the %s failed: %s", name, error)
        self.speaker.prepare(self._fixed_lines())

    def _fixed_lines(self) -> list[str]:
        """What is said again and again: the lines around tools, then sentences of the catalogue without fields."""
        around = [tool.voice_lines for tool in self.registry.tools]
        lines = [line for voice in around for line in (voice.announce, *voice.heartbeat, voice.complete, voice.fail)]
        keys = sorted(key for key in self.catalogue.keys if key.startswith(_SPOKEN_AHEAD))
        sentences = [form for key in keys for form in self.catalogue.forms(key) if "{" not in form]
        return [*filter(None, lines), *sentences]

    async def _tell_what_is_wrong(self) -> None:
        """Aloud; in words it stands in the introduction, in the log and in ``status``."""
        if self.facts.settings_problems:
            self.speaker.notice("settings", self.catalogue.say("assistant.bad_settings"))
        for key, _ in self.facts.store_notes:
            self.speaker.notice(key, self.catalogue.say(key))
        if self.facts.is_private_chat_locked:
            self.speaker.notice("private", self.catalogue.say("private.restarted"))
        for key, sentence in await asyncio.to_thread(self.facts.plugin_news):
            self.speaker.notice(key, sentence)
        await self._tell_of_soul(self.soul.soul)

    async def _tell_of_soul(self, _soul: Soul) -> None:
        """When something about the owner's soul file is to be known, where it is said."""
        for problem in self.soul.problems:
            _LOG.warning("%s", problem)
        if self.soul.problems:
            self._notice_now("assistant.soul_note")

    def _microphone_lost(self, error: AudioError) -> None:
        _LOG.warning("the microphone is gone: %s", error)
        self._notice_now("assistant.microphone_lost")

    def _microphone_found(self) -> None:
        self._notice_now("assistant.microphone_back")

    def _disk_full(self) -> None:
        self._notice_now("store.full")

    def _disk_has_room(self) -> None:
        self._notice_now("store.room_again")

    def _notice_now(self, key: str) -> None:
        """A notice that is said each time it happens, not only the first."""
        self.speaker.notice(f"{key}-{self.clock.monotonic_seconds():.0f}", self.catalogue.say(key))


def _span(seconds: float) -> str:
    """So long, in the two largest units that it has."""
    left = max(0, round(seconds))
    words: list[str] = []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count or (unit == "s" and not words):
            words.append(f"{count} {unit}")
    return " ".join(words[:2])
