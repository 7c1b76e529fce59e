"""The box around the plugin, in a world whose time the test moves. Everything here runs on the box's own loop.

While the author's code is at work its time is real; all else takes no time at all, however long it lasts.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from appliance.adapters.fakes.sentence_matcher import FakeSentenceMatcher
from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.adapters.picture_maker import PillowPictures
from appliance.assembly import assemble
from appliance.assembly_ground import Adapters
from appliance.box import Box
from appliance.clock import FakeClock
from appliance.config import load
from appliance.contracts.author.trial import LEFT_OUT, plugin_name
from appliance.contracts.plugin_call import current_plugin
from appliance.contracts.switch import PluginSwitch
from appliance.control import Caller, Json, Peer
from appliance.events import EmotionChanged, Event, Narrated, PlaybackFinished, StepDone, ToolFinished
from appliance.home import Home, shipped
from appliance.network.classifier import Classifier
from appliance.network.direct_hosts import DirectHosts
from appliance.network.facade import Facade
from appliance.records import open_records
from appliance.store.credentials import Credentials
from appliance.testing.scripts import ScriptedModel, ScriptedNetwork
from appliance.testing.watched_tool import Pace, WatchedTool
from appliance.tools.tool import Tool

_RATE_HZ = 16_000
_SOUNDING_SECONDS, _QUIET_SECONDS = 0.05, 0.05
#: Real seconds between two looks at author's code that is at work.
_LOOK_SECONDS = 0.002
#: So many looks of real time without any end, and the test is told that something hangs.
_LONGEST_REAL_SECONDS = 60.0
#: Nobody is there to press a button; what a press would allow is allowed.
_SETTINGS = {"approval.button_for": "", "speak.hum": "false"}


@dataclass(frozen=True)
class Heard:
    """A turn as a person had it: what was heard, what was narrated, the faces, and how each call ended."""

    reply: str
    said: list[str]
    narrated: list[tuple[str, str]]
    faces: list[str]
    calls: list[tuple[str, str]]
    steps: list[tuple[str, str, str]]


class World:
    """A box with one plugin."""

    def __init__(self, box: Box, clock: FakeClock, card: FakeSoundCard, credentials: Credentials, plugin: str) -> None:
        self.box = box
        self.plugin = plugin
        self.clock = clock
        self.pace = Pace()
        self.facts: list[Event] = []
        self._card = card
        self._credentials = credentials
        box.bus.subscribe(self.facts.append)
        self.watch()

    def watch(self) -> None:
        """Watch the plugin's tools, after each loading."""
        for tool in self.tools:
            self.box.registry.replace(cast("Tool", WatchedTool(tool, self.clock, self.pace)))

    @property
    def tools(self) -> list[Tool]:
        """The plugin's."""
        return [tool for tool in self.box.registry.tools if tool.origin == f"plugin:{self.plugin}"]

    async def control(self, method: str, **params: Json) -> Json:
        """Ask the box as its owner does, while time goes on."""
        caller = Caller(Peer(0, 0, 0), lambda _event: None, is_local=True)
        return await self.goes_on(asyncio.create_task(self._call(method, params, caller)))

    async def _call(self, method: str, params: Mapping[str, Json], caller: Caller) -> Json:
        return await self.box.all_handlers[method](params, caller)

    async def asks(self, text: str, slow_seconds: float) -> Heard:
        """A whole turn, spoken, until all is quiet."""
        before = len(self.facts)
        self.pace.extra_seconds = slow_seconds
        try:
            report = await self.control("ask", text=text, voice=True)
            await self.until(lambda: not (self.box.assistant.is_busy or self.box.speaker.is_speaking))
        finally:
            self.pace.extra_seconds = 0.0
        if report["reason"] != "answered":
            raise AssertionError(f"the turn ended as {report['reason']}: {report['problem'] or 'nothing was answered'}")
        return _heard(report, self.facts[before:])

    async def goes_on(self, task: asyncio.Task[Json]) -> Json:
        """Let the world go on until the task is done; its result."""
        await self.until(task.done)
        return await task

    async def until(self, is_so: Callable[[], object]) -> None:
        """Let the world go on."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while not is_so():
            if loop.time() - began > _LONGEST_REAL_SECONDS:
                raise AssertionError(f"nothing came of it in {_LONGEST_REAL_SECONDS:g} s")
            await self._step()

    async def _step(self) -> None:
        if self.pace.at_work:
            await asyncio.sleep(_LOOK_SECONDS)
            await self.clock.advance(_LOOK_SECONDS)
            return
        self._card.play(round(_SOUNDING_SECONDS * _RATE_HZ))
        await self.clock.advance(_QUIET_SECONDS)
        await asyncio.sleep(0.0005)  # what is written to disk is written by another thread

    def keep_keys(self, keys: Mapping[str, str]) -> None:
        """As ``appliance credential set`` does; blocks."""
        for name, value in keys.items():
            self._credentials.set(f"{self.plugin}:{name}", value)


@contextlib.asynccontextmanager
async def world(
    folder: Path, path: Path, clock: FakeClock, model: ScriptedModel, network: ScriptedNetwork
) -> AsyncIterator[World]:
    """A box in ``folder`` with the plugin of ``path``, and no other that could be in its way."""
    home = Home(folder / "home")
    home.make()
    name = plugin_name(path)
    await asyncio.to_thread(_put_in, path, home, name)
    config = load(None, {}, _SETTINGS)
    card = FakeSoundCard()
    credentials = Credentials(home.folder / "credentials.json", {}, clock)
    async with contextlib.AsyncExitStack() as stack:
        records = await stack.enter_async_context(open_records(home, clock, credentials))
        hosts = DirectHosts(clock)
        facade = Facade(
            lambda: network.exchange, Classifier(hosts.known_hosts), hosts, who=lambda: f"plugin:{current_plugin()}"
        )
        stack.push_async_callback(asyncio.to_thread, facade.close)
        adapters = _adapters(card, model, facade)
        box = await stack.enter_async_context(assemble(adapters, home, config, clock, records))
        yield World(box, clock, card, credentials, name)


def _put_in(path: Path, home: Home, name: str) -> None:
    if path.is_file():
        shutil.copy(path, home.plugins_folder)
    else:
        shutil.copytree(path, home.plugins_folder / path.name, ignore=LEFT_OUT)
    switch = PluginSwitch(home.switch_file)
    for entry in shipped("plugins").iterdir():
        if entry.name != name and not entry.name.startswith((".", "_")):
            switch.set(entry.stem, False)
    switch.set(name, True)


def _adapters(card: FakeSoundCard, model: ScriptedModel, facade: Facade) -> Adapters:
    return Adapters(
        card=lambda _mixer: card,
        synthesizer=FakeSynthesizer(sample_rate_hz=_RATE_HZ),
        transcriber=FakeTranscriber(),
        activity=LoudnessVoiceActivity,
        wake_words=FakeWakeWords(),
        matcher=FakeSentenceMatcher({}),
        endpoint=model.endpoint,
        faces=(),
        recording=lambda _file: FakeSoundCard(),
        pictures=PillowPictures(),
        facade=facade,
        is_line_cached=False,
    )


def _heard(report: Mapping[str, Any], facts: list[Event]) -> Heard:
    return Heard(
        reply=str(report["reply"]),
        said=[fact.heard_text for fact in facts if isinstance(fact, PlaybackFinished) and fact.heard_text],
        narrated=[(fact.kind.value, fact.text) for fact in facts if isinstance(fact, Narrated)],
        faces=[fact.emotion.value for fact in facts if isinstance(fact, EmotionChanged)],
        calls=[(fact.tool, fact.outcome.value) for fact in facts if isinstance(fact, ToolFinished)],
        steps=[(fact.tool, fact.mark.value, fact.note) for fact in facts if isinstance(fact, StepDone)],
    )
