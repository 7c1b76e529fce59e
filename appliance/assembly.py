"""Puts a box together from adapters, in the order in which things need each other.

Nothing here knows which adapters they are: ``wiring.py`` chooses them, a test passes fakes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from appliance.approve.button_watch import ButtonWatch
from appliance.assembly_doctor import add_doctor
from appliance.assembly_duplex import Duplex, make_duplex
from appliance.assembly_ground import Adapters, AtWork, Ground
from appliance.assembly_parts import (
    SoundParts,
    ToolParts,
    add_box_tools,
    make_button,
    make_ears,
    make_memory,
    make_pressing,
    make_sound,
    make_timers,
    make_tools,
    names_of,
)
from appliance.assembly_plugins import news_of_plugins, soul_patterns
from appliance.assembly_think import make_thinkers
from appliance.assistant import Assistant
from appliance.assistant_parts import Parts
from appliance.audio import AudioChunk
from appliance.box import Box, Facts
from appliance.bus import Bus
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.config import BoxConfig, Config, load
from appliance.contracts.switch import PluginSwitch
from appliance.controls import Controls, Health
from appliance.device.entry_words import EntryWords
from appliance.device.ringer import Ringer
from appliance.device.schedule import Schedule
from appliance.device.settings import BoxSettings, Settings
from appliance.device.zone import house_zone
from appliance.doctor.doctor import Doctor
from appliance.ears import Ears, opened
from appliance.events import ErrorRaised, Event
from appliance.face.animator import Animator
from appliance.face.config import FaceConfig
from appliance.face.stage import Stage
from appliance.home import Home, shipped
from appliance.install.recovery import finish_cut_change
from appliance.listen.config import ListenConfig
from appliance.listen.corrections import CorrectedTranscriber
from appliance.listen.ear import Ear
from appliance.listen.earcons import Earcon
from appliance.listen.hearer import Hearer
from appliance.listen.wake_check import WakeCheck
from appliance.live_settings import Knobs, LiveParts, LiveSettings
from appliance.memory import Memory
from appliance.overhearing import Overhearing
from appliance.records import Records
from appliance.ringing import MissedRings, RingAlarm
from appliance.service import Service
from appliance.service_answers import AnswerService
from appliance.service_approval import ApprovalService
from appliance.service_names import NameKeeper
from appliance.service_plugin_pages import PluginPageService
from appliance.service_plugins import PluginService
from appliance.service_toolsets import ToolsetService
from appliance.speak.config import SpeakConfig
from appliance.speak.hum import Hum
from appliance.speak.mixer import Mixer
from appliance.speak.narrator import Narrator
from appliance.store.config import ChatsConfig
from appliance.store.retention import Retention
from appliance.think.soul import Soul
from appliance.think.soul_file import SoulWatch

#: With more names the transcriber hears all else a little worse; see ``adapters/whisper.py``.
_MOST_NAMES = 20


@contextlib.asynccontextmanager
async def assemble(
    adapters: Adapters,
    home: Home,
    config: Config,
    clock: Clock,
    records: Records,
    *,
    bus: Bus | None = None,
    ears: Ears | None = None,
) -> AsyncIterator[Box]:
    """A box whose sound card and face are on; leaving takes it apart in the opposite order. Raises ``ConfigError``.

    ``ears`` are open already, stay so, and bring their bus; without them those of the adapters are opened.
    """
    async with contextlib.AsyncExitStack() as stack:
        if ears is None:
            ears = make_ears(adapters, config, clock, bus or Bus())
            await stack.enter_async_context(opened(ears))
        catalogue = Catalogue.load(shipped("soul"), config.of(BoxConfig).language)
        soul = await asyncio.to_thread(SoulWatch, home.soul_file, shipped("soul") / "default.md", clock)
        knobs, zone = Knobs.of(config), house_zone()
        corrected = CorrectedTranscriber(adapters.transcriber, lambda: knobs.corrections)
        adapters = replace(adapters, transcriber=corrected)
        ground = Ground(adapters, home, config, clock, ears.bus, ears, catalogue, soul, zone, records, stack, knobs)
        yield await _build(ground)


async def _build(ground: Ground) -> Box:
    adapters, config, clock, bus = ground.adapters, ground.config, ground.clock, ground.bus
    at_work = AtWork(ground.catalogue)
    sound = make_sound(ground, at_work)
    ear = ground.ears.ear
    if adapters.quick_reader is not None:
        ear.check_wake_words(WakeCheck(adapters.quick_reader, adapters.activity(), clock))
    hearer = Hearer(
        ear,
        adapters.transcriber,
        clock,
        publish=bus.publish,
        sound=sound.earcon,
        turn_detector=adapters.turn_detector,
        rules=lambda: ground.knobs.listen,
        language=config.of(BoxConfig).language,
    )
    memory = make_memory(ground)
    name, model_name = names_of(ground)
    health = Health(name, sound.card, model_name)
    controls = Controls(
        mixer=sound.mixer,
        speaker=sound.speaker,
        ear=ear,
        clock=clock,
        publish=bus.publish,
        sound=sound.earcon,
        button=adapters.button,
    )
    alarm = RingAlarm(sound.mixer)
    button = make_button(ground, alarm)
    hum = Hum.load(shipped("soul")) if config.of(SpeakConfig).hum else None
    narrator = Narrator(
        sound.speaker, clock, bus.publish, hum, is_listening=lambda: ear.is_listening and not ear.is_overhearing
    )
    tools = make_tools(ground, narrator, at_work, sound.speaker, button)
    thinkers = make_thinkers(ground, tools, memory, sound)
    parts = Parts(
        clock=clock,
        bus=bus,
        catalogue=ground.catalogue,
        ear=ear,
        hearer=hearer,
        offline=thinkers.offline,
        model=thinkers.model,
        is_reasoning=adapters.endpoint is not None and adapters.endpoint.is_reasoning,
        speaker=sound.speaker,
        narrator=narrator,
        sound=sound.earcon,
        registry=tools.registry,
        refresh_tools=tools.plugins.refresh_checks,
        runner=tools.runner,
        memory=memory,
        alarm=alarm,
        health=health,
        hooks=tools.plugins.tools.beside.turn,
        after_turn=controls.after_turn,
        when_heard=at_work.tell_missed,
        is_model_local=adapters.is_model_local,
        why_not_in=tools.plugins.why_not_in,
        drafts=thinkers.drafts,
        warm_model=thinkers.warm_model,
        windows=ground.knobs.windows,
        longest_reply_sentences=config.of(SpeakConfig).longest_reply_sentences,
    )
    assistant = at_work.assistant = Assistant(parts)
    duplex = make_duplex(ground, assistant, parts, sound)
    tools.office.asker.ears = Overhearing(assistant, parts, adapters.transcriber, is_sounding=sound.mixer.has_sound)
    schedule, ringer = await make_timers(ground, assistant, ear, sound, alarm)
    adapters.expect_words(lambda: _names(ground.knobs, schedule))
    at_work.missed = MissedRings(schedule, EntryWords(ground.catalogue, clock, ground.zone), assistant.notice)
    speak = config.of(SpeakConfig)
    usual = Settings(volume_percent=speak.volume_percent, speed=speak.speed)
    settings = BoxSettings(ground.records.documents, usual)
    pressing = make_pressing(ground, assistant, controls, sound, settings)
    if button is not None:
        pressing.join(button)
    adapters.face_buttons(_on_the_loop(pressing.press_on_face))
    add_box_tools(ground, tools.registry, schedule, ringer, controls, memory, health, settings)
    doctor = add_doctor(ground, at_work, sound, tools, controls, button, duplex)
    await tools.plugins.toolsets.load()
    tools.plugins.cut_change = await finish_cut_change(ground.home, PluginSwitch(ground.home.switch_file), clock)
    await tools.plugins.load(tools.registry)
    await NameKeeper(ground.home.runtime_folder, tools.plugins, tools.registry).write()
    _follow_soul(ground, tools, health)
    ground.records.chats.watch(tools.plugins.tools.chat_changed)
    is_private_chat_locked = await ground.records.vault.leave_sealed()
    stage = _switch_on(ground, sound, health)
    tools.pictures.show = stage.show_picture
    kept = await settings.load()
    controls.set_volume(kept.volume_percent)
    controls.set_speed(kept.speed)
    return _box(
        ground,
        assistant,
        ear,
        sound,
        schedule,
        ringer,
        controls,
        stage,
        tools,
        memory,
        button,
        kept.is_muted,
        is_private_chat_locked,
        settings,
        doctor,
        duplex,
    )


def _names(knobs: Knobs, schedule: Schedule) -> list[str]:
    """What may be said and is in no dictionary: words of the owner's, and what timers are called."""
    timers = [entry.name for entry in schedule.waiting]
    named = dict.fromkeys((*knobs.listen.words, *knobs.corrections.meant.values(), *timers))
    return [name for name in named if name][:_MOST_NAMES]


def _sound_of_trouble(sound: SoundParts, event: Event) -> None:
    """A voice that fails says nothing of it: a tone does."""
    if isinstance(event, ErrorRaised) and event.where == "voice":
        sound.earcon(Earcon.ERROR)


def _on_the_loop(press: Callable[[str], None]) -> Callable[[str], None]:
    """The same for the face's threads."""
    loop = asyncio.get_running_loop()

    def call(action: str) -> None:
        loop.call_soon_threadsafe(press, action)

    return call


def _follow_soul(ground: Ground, tools: ToolParts, health: Health) -> None:
    """What the owner writes into the soul while the box runs."""

    async def follow(soul: Soul) -> None:
        health.name = names_of(ground)[0]
        await tools.plugins.change_soul(soul_patterns(soul))

    ground.soul.follow(follow)


def _switch_on(ground: Ground, sound: SoundParts, health: Health) -> Stage:
    """The face begins to show."""
    face = ground.config.of(FaceConfig)
    animator = Animator(
        mouth=sound.mouth.at,
        dimming=lambda: ground.knobs.face.quiet_percent / 100 if sound.is_quiet() else 1.0,
        is_offline=lambda: health.is_model_away,
    )
    stage = Stage(animator, ground.adapters.faces, ground.clock, face.poses_per_second)
    ground.bus.subscribe(stage.tell)
    ground.bus.subscribe(partial(_sound_of_trouble, sound))
    stage.open()
    ground.stack.callback(stage.close)
    return stage


@contextlib.asynccontextmanager
async def _recording_hearer(ground: Ground, file: Path) -> AsyncIterator[Hearer]:
    """Ears that hear a file instead of the room. Raises ``BadAudioFileError``."""
    clock, bus, adapters = ground.clock, ground.bus, ground.adapters
    card = adapters.recording(file)
    await card.open(lambda frames: Mixer(16_000).render(frames))
    ear = Ear(card, adapters.activity(), _NoWakeWord(), clock, ground.config.of(ListenConfig), bus.publish)
    hearing = asyncio.create_task(ear.run(), name="recording")
    try:
        yield Hearer(ear, adapters.transcriber, clock, publish=bus.publish, sound=lambda _kind: None)
    finally:
        await card.close()
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)


class _NoWakeWord:
    """A recording is the question itself."""

    phrases: tuple[str, ...] = ()

    def detect(self, chunk: AudioChunk) -> str | None:
        return None

    def reset(self) -> None:
        """Nothing is kept."""


def _box(
    ground: Ground,
    assistant: Assistant,
    ear: Ear,
    sound: SoundParts,
    schedule: Schedule,
    ringer: Ringer,
    controls: Controls,
    stage: Stage,
    tools: ToolParts,
    memory: Memory,
    button: ButtonWatch | None,
    was_muted: bool,
    is_private_chat_locked: bool,
    settings: BoxSettings,
    doctor: Doctor | None,
    duplex: Duplex | None,
) -> Box:
    adapters, records = ground.adapters, ground.records
    redact = records.credentials.redact
    plugins = PluginService(tools.plugins, redact, records.seen, ground.home)
    retention = Retention(records.chats, ground.clock, ground.config.of(ChatsConfig).keep_chats_days)
    live = LiveParts(ground.knobs, ear, controls, settings, memory, retention)
    keeper = NameKeeper(ground.home.runtime_folder, tools.plugins, tools.registry)
    read_settings = partial(load, ground.home.config_file, os.environ, keep_going=True)
    service = Service(
        assistant=assistant,
        bus=ground.bus,
        registry=tools.registry,
        runner=tools.runner,
        memory=memory,
        grant=tools.office.desk.owner_grant,
        screen=tools.screens.open,
        recording=partial(_recording_hearer, ground),
        after_call=controls.after_turn,
        plugin_problems=plugins.problems,
        explain=plugins.explain,
        redact=redact,
    )
    facts = Facts(
        wake_phrases=adapters.wake_words.phrases,
        model=names_of(ground)[1],
        plugin_problems=plugins.problems,
        sandbox=tools.plugins.modules.sandbox_in_words,
        plugin_news=partial(news_of_plugins, tools.plugins, ground.catalogue),
        safe_mode=lambda: tools.plugins.admission.starts.why_safe_mode,
        store_notes=tuple((note.key, note.text) for note in records.notes),
        settings_problems=(*ground.config.problems, *adapters.problems),
        was_muted=was_muted,
        is_private_chat_locked=is_private_chat_locked,
    )
    return Box(
        facts=facts,
        assistant=assistant,
        card=sound.card,
        ear=ear,
        hear=ground.ears.hear,
        speaker=sound.speaker,
        transcriber=adapters.transcriber,
        synthesizer=adapters.synthesizer,
        offline=assistant.offline,
        schedule=schedule,
        ringer=ringer,
        controls=controls,
        documents=records.documents,
        catalogue=ground.catalogue,
        clock=ground.clock,
        bus=ground.bus,
        stage=stage,
        registry=tools.registry,
        handlers=keeper.around(
            {
                **records.handlers,
                **service.handlers,
                **plugins.handlers,
                **PluginPageService(tools.plugins.tools.beside).handlers,
                **ApprovalService(tools.office, tools.registry).handlers,
                **AnswerService(tools.inputs).handlers,
                **ToolsetService(tools.plugins.toolsets).handlers,
                **LiveSettings(ground.config, read_settings, live).handlers,
                **(doctor.handlers if doctor is not None else {}),
            }
        ),
        asker=tools.office.asker,
        seen=records.seen,
        soul=ground.soul,
        live_plugins=tools.plugins.tools.beside.live,
        retention=retention,
        is_private=lambda: memory.is_private,
        hides_words=lambda: memory.hides_words,
        is_quiet=sound.is_quiet,
        turn_detector=adapters.turn_detector,
        duplex=duplex,
        warm_up_network=adapters.warm_up_network,
        button=button,
        facade=adapters.facade,
        pictures=adapters.pictures,
        ballast=records.ballast if records.database.is_lasting else None,
    )
