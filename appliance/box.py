"""The box: everything put together, and what it does as a device besides taking turns."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from appliance import events
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
from appliance.device_news import DeviceNews
from appliance.errors import ApplianceError
from appliance.face.stage import Stage
from appliance.listen.ear import Ear
from appliance.network.facade import Facade
from appliance.network.seen import Seen
from appliance.ports import AsyncCallback, Json, SoundCard, Synthesizer, Transcriber
from appliance.ports_hearing import TurnDetector
from appliance.ports_pictures import PictureMaker
from appliance.spare_memory import give_back
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


class Duplex(Protocol):
    """Lets people talk over the box."""

    @property
    def in_words(self) -> str:
        """Whether they may now, and what is known of the echo."""
        ...

    async def warm_up(self) -> None:
        """Load what it needs."""
        ...

    async def run(self) -> None:
        """For ever."""
        ...


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
    #: Hears for ever.
    hear: AsyncCallback
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
    #: Whether quiet hours are on.
    is_quiet: Callable[[], bool] = lambda: False
    button: ButtonWatch | None = None
    #: Room that is given up when the disk is full; None where nothing can be full.
    ballast: Ballast | None = None
    turn_detector: TurnDetector | None = None
    #: None where nobody can talk over the box.
    duplex: Duplex | None = None
    warm_up_network: AsyncCallback | None = None
    #: The plugins' door to HTTP; None where they have none.
    facade: Facade | None = None
    #: What reads pictures of strangers.
    pictures: PictureMaker | None = None
    #: What a turn is better with and could not be loaded, and why.
    not_loaded: list[str] = field(default_factory=list)
    started_at: float = field(default_factory=time.time)

    async def live(self, is_up: Callable[[], None] = lambda: None) -> None:
        """Be a device until cancelled: hear, take turns, ring. Never ends by itself.

        ``is_up`` is called when sound, button and state can be used; weights may still be loading.
        """
        self.asker.is_shell_open = True
        news = DeviceNews(
            self.card, self.ear, self.clock, self.bus.publish, say=self._notice_now, is_quiet=self.is_quiet
        )
        self.ear.when_card_lost = lambda error: setattr(news, "reason", str(error))
        await self.controls.restore_mute(self.facts.was_muted)
        await self._tell_what_is_wrong()
        self.soul.follow(self._tell_of_soul)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._hear(), name="ear")
            tasks.create_task(news.run(), name="device news")
            tasks.create_task(self.schedule.run(self.ringer.add), name="schedule")
            tasks.create_task(self.ringer.run(), name="ringer")
            tasks.create_task(self.assistant.live(), name="assistant")
            tasks.create_task(self._warm_up(), name="warm up")
            tasks.create_task(self.seen.run(), name="seen")
            tasks.create_task(self.soul.run(), name="soul")
            tasks.create_task(self.retention.run(), name="retention")
            tasks.create_task(self.live_plugins(), name="plugins")
            if self.duplex is not None:
                tasks.create_task(self.duplex.run(), name="barge-in")
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
            "talking over it": self.duplex.in_words if self.duplex is not None else "not possible",
            "chat": "private" if self.is_private() else "open",
            "volume": f"{self.controls.volume_percent} %",
            "button": self.button.health if self.button is not None else "none",
            "wake words": list(self.facts.wake_phrases),
            "wake words refused": self.ear.refused_wake_words,
            "model": self.facts.model or "none: the box answers by itself",
            "drafts": self.assistant.draft_counts,
            "tools": len(self.registry.tools),
            "sandbox": self.facts.sandbox(),
            "safe mode": self.facts.safe_mode() or "off",
            "plugin problems": list(self.facts.plugin_problems()),
            "store problems": self._store_problems(),
            "settings problems": list(self.facts.settings_problems),
            "not loaded": list(self.not_loaded),
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
        await self.hear()

    async def _warm_up(self) -> None:
        """Load what a turn needs while the ear is open already, on as many cores as there are."""
        steps: dict[str, AsyncCallback | None] = {
            "whisper": self.transcriber.warm_up,
            "voice": self.synthesizer.warm_up,
            "sentences": self.offline.warm_up,
            "HTTP library": self.warm_up_network if self.facts.model else None,
            "turn detector": self.turn_detector.warm_up if self.turn_detector is not None else None,
        }
        await asyncio.gather(*(self._load(name, step) for name, step in steps.items() if step is not None))
        self.bus.publish(events.Warmed("", self.clock.monotonic_seconds()))
        if self.duplex is not None:
            await self._load("echo canceller", self.duplex.warm_up)  # for who talks over an answer: one comes before
        if self.warm_up_network is not None and not self.facts.model:
            await self._load("HTTP library", self.warm_up_network)  # for plugins: no turn waits for it
        await asyncio.to_thread(give_back)
        self.speaker.prepare(self._fixed_lines())

    async def _load(self, name: str, step: AsyncCallback) -> None:
        try:
            await step()
        except ApplianceError as error:
            _LOG.error("loading the %s failed: %s", name, error)
            self.not_loaded.append(f"{name}: {error}")

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
