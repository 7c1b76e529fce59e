"""Builds the single parts of a box; ``assembly.py`` joins them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

from appliance.approve.audit_trail import StoredAuditTrail
from appliance.approve.button_rules import ButtonRules
from appliance.approve.button_watch import ButtonWatch
from appliance.approve.config import ApprovalConfig, ButtonConfig
from appliance.approve.office import Around, Office, open_office
from appliance.approve.screens import Screens
from appliance.assembly_ground import Adapters, AtWork, Ground
from appliance.assembly_plugins import Beside, is_hidden, make_plugins
from appliance.assistant import Assistant
from appliance.bus import Bus
from appliance.clock import Clock
from appliance.config import BoxConfig, Config
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.input_desk import InputDesk, Voices
from appliance.contracts.plugin_files import PluginFiles
from appliance.contracts.shelf import PluginShelf
from appliance.controls import Controls, Health
from appliance.device.box import BoxParts, box_tools
from appliance.device.config import DeviceConfig
from appliance.device.entry_words import EntryWords
from appliance.device.ringer import Ringer
from appliance.device.schedule import Schedule
from appliance.device.settings import BoxSettings
from appliance.device.zone import boot_id
from appliance.ears import Ears
from appliance.home import shipped
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Ear
from appliance.listen.earcons import Earcon
from appliance.memory import Memory
from appliance.ports import SoundCard
from appliance.ports_think import ModelEndpoint, ModelRequest
from appliance.pressing import Pressing
from appliance.ringing import RingAlarm, RingRoom
from appliance.speak.audio_tags import EMOTION_OF_TAG
from appliance.speak.config import SpeakConfig
from appliance.speak.line_cache import LineCache
from appliance.speak.mixer import Mixer
from appliance.speak.mouth import MouthTrack
from appliance.speak.narrator import Narrator
from appliance.speak.speaker import Speaker
from appliance.speak.speech_text import spoken_text
from appliance.store.config import ChatsConfig
from appliance.think.config import ThinkConfig
from appliance.think.conversation import Conversation
from appliance.think.guards import CallLimits
from appliance.think.instructions import Instructions
from appliance.think.model_brain import ModelBrain, RoundSummary
from appliance.think.offline_brain import OfflineBrain
from appliance.think.pre_pass import WAKE_PHRASES
from appliance.think.sentences import Sentences
from appliance.think.soul import Soul
from appliance.tools.pictures import PictureShelf
from appliance.tools.registry import Registry
from appliance.tools.runner import Runner
from appliance.tools.toolsets import Toolsets
from appliance.trace import Stopwatch


@dataclass(frozen=True)
class SoundParts:
    """Everything that sounds goes through one mixer into one card."""

    mixer: Mixer
    card: SoundCard
    speaker: Speaker
    earcon: Callable[[Earcon], None]
    mouth: MouthTrack
    is_quiet: Callable[[], bool]


@dataclass(frozen=True)
class ToolParts:
    """What can be called, and who runs it."""

    registry: Registry
    runner: Runner
    office: Office
    screens: Screens
    plugins: PluginShelf
    inputs: InputDesk
    pictures: PictureShelf


def make_ears(adapters: Adapters, config: Config, clock: Clock, bus: Bus) -> Ears:
    """Ears that are still closed, for a box that does not open them before everything else."""
    mouth = MouthTrack(clock.monotonic_seconds)
    floor_percent = config.of(SpeakConfig).alert_floor_percent
    mixer = Mixer(adapters.synthesizer.sample_rate_hz, alert_floor_percent=floor_percent, on_mouth=mouth.note)
    card = adapters.card(mixer)
    mixer.on_ready = card.output_ready
    return Ears(
        bus=bus,
        clock=clock,
        mixer=mixer,
        mouth=mouth,
        card=card,
        activity=adapters.activity(),
        wake_words=adapters.wake_words,
        listen=config.of(ListenConfig),
    )


def make_sound(ground: Ground, at_work: AtWork) -> SoundParts:
    adapters, config, clock = ground.adapters, ground.config, ground.clock
    speak = config.of(SpeakConfig)
    voice = adapters.synthesizer
    ground.stack.callback(voice.close)
    ground.stack.callback(adapters.transcriber.close)
    if adapters.turn_detector is not None:
        ground.stack.callback(adapters.turn_detector.close)
    ears, mixer, card = ground.ears, ground.ears.mixer, ground.ears.card
    ears.settings = lambda: ground.knobs.listen

    def is_quiet() -> bool:
        return ground.knobs.quiet_hours.is_quiet(clock.now().astimezone(ground.zone))

    cache = LineCache(ground.home.cache_folder / "lines", voice, speak.line_cache_megabytes)
    speaker = Speaker(
        mixer,
        voice,
        clock,
        ground.bus.publish,
        cache=cache if adapters.is_line_cached else None,
        language=config.of(BoxConfig).language,
        speed=speak.speed,
        has_speaker=lambda: bool(card.info.speaker),
        is_quiet=is_quiet,
        is_busy=lambda: at_work.is_busy,
    )
    ground.stack.push_async_callback(speaker.close)
    return SoundParts(mixer, card, speaker, ears.play, ears.mouth, is_quiet)


def make_button(ground: Ground, alarm: RingAlarm) -> ButtonWatch | None:
    adapters = ground.adapters
    if adapters.button is None:
        return None
    rules = ButtonRules.of(hold_to_talk=ground.config.of(ButtonConfig).hold_to_talk)
    return ButtonWatch(
        adapters.button, ground.clock, lamp=adapters.lamp, rules=rules, is_ringing=lambda: alarm.is_ringing
    )


def make_pressing(
    ground: Ground, assistant: Assistant, controls: Controls, sound: SoundParts, settings: BoxSettings
) -> Pressing:
    return Pressing(
        assistant,
        controls,
        sound.speaker,
        settings=settings,
        catalogue=ground.catalogue,
        clock=ground.clock,
        publish=ground.bus.publish,
        sound=sound.earcon,
        hold_to_talk=ground.config.of(ButtonConfig).hold_to_talk,
        power=ground.adapters.power,
    )


def make_memory(ground: Ground) -> Memory:
    think = ground.config.of(ThinkConfig)
    records = ground.records
    memory = Memory(
        records.chats,
        records.turns,
        ground.clock,
        history_turns=think.history_turns,
        rest_minutes=ground.config.of(ChatsConfig).rest_minutes,
        private=records.vault,
    )
    stopwatch = Stopwatch(ground.records.turns, lambda: memory.chat_in_use)
    ground.bus.subscribe(stopwatch)
    ground.stack.push_async_callback(stopwatch.close)
    return memory


def names_of(ground: Ground) -> tuple[str, str]:
    """Name of the box, name of its model."""
    endpoint = ground.adapters.endpoint
    return ground.config.of(BoxConfig).name or ground.soul.soul.name, endpoint.name if endpoint is not None else ""


def make_offline_brain(ground: Ground) -> OfflineBrain:
    adapters = ground.adapters
    phrases = dict.fromkeys((*WAKE_PHRASES, *adapters.wake_words.phrases))
    has_model = adapters.endpoint is not None
    return OfflineBrain(
        Sentences(adapters.matcher, tuple(phrases)), ground.catalogue, ground.clock, has_model=has_model
    )


def make_model_brain(ground: Ground, endpoint: ModelEndpoint, pictures: PictureShelf, memory: Memory) -> ModelBrain:
    """It follows the soul."""
    think, box = ground.config.of(ThinkConfig), ground.config.of(BoxConfig)

    def record(turn_id: str, request: ModelRequest, answer: RoundSummary) -> None:
        ground.records.turns.add_round(turn_id, asdict(request), asdict(answer))

    instructions = Instructions(
        ground.soul.soul,
        clock=ground.clock,
        audio_tags=tuple(EMOTION_OF_TAG),
        language=box.language,
        name=box.name,
        place=box.place,
    )

    async def follow(soul: Soul) -> None:
        instructions.take(soul)

    ground.soul.follow(follow)
    return ModelBrain(
        endpoint,
        instructions=instructions,
        conversation=Conversation(
            history_tokens=think.history_tokens,
            history_turns=think.history_turns,
            image_memory_turns=think.image_memory_turns,
            spoken=partial(spoken_text, language=box.language),
        ),
        catalogue=ground.catalogue,
        clock=ground.clock,
        limits=CallLimits(think.most_calls, think.most_failures, think.calls_after_failure),
        max_output_tokens=think.max_output_tokens,
        record_round=record,
        sees_images=think.sees_images,
        find_picture=lambda handle: pictures.for_model(handle, memory.chat_in_use),
    )


def make_tools(
    ground: Ground, narrator: Narrator, at_work: AtWork, speaker: Speaker, button: ButtonWatch | None
) -> ToolParts:
    records, clock, home = ground.records, ground.clock, ground.home
    approval = ground.config.of(ApprovalConfig)
    trail = StoredAuditTrail(records.audit, records.credentials.redact)
    workdir = home.cache_folder / "workdir"
    roots = (PluginRoot(home.plugins_folder, Source.OWNER), PluginRoot(shipped("plugins"), Source.SHIPPED))
    files, screens = PluginFiles(roots), Screens()
    around = Around(
        home=home.folder,
        workdir=workdir,
        is_service=home.is_service,
        boot=boot_id(),
        clock=clock,
        catalogue=ground.catalogue,
        person=speaker,
        plugin_digest=files.digest,
        hand=button,
        show=screens.show,
        publish=ground.bus.publish,
        tell_person=at_work.tell_person,
    )
    office = open_office(approval, trail, records.approvals, records.grants, around)
    pictures = PictureShelf(records.images, ground.adapters.pictures)
    toolsets = Toolsets(records.documents, lambda: registry.tools, is_hidden)
    inputs = InputDesk(
        Voices(speaker.say, at_work.ask, screens.show),
        clock=clock,
        catalogue=ground.catalogue,
        window_seconds=approval.window_seconds,
        is_shell_open=lambda: office.asker.is_shell_open,
        hide=records.credentials.hide,
    )
    beside = Beside(inputs, pictures, toolsets, speaker)
    plugins = make_plugins(ground, at_work, office, beside, roots, files, workdir)
    registry = Registry([plugins.host.why_withheld, toolsets.why_not])
    runner = Runner(
        desk=office.desk,
        audit=trail,
        clock=clock,
        observers=(narrator,),
        publish=ground.bus.publish,
        tell_person=at_work.tell_person,
        keep_pictures=pictures.keep,
        prepare=plugins.tools.beside.turn.before_call,
        tell_end=plugins.tools.beside.turn.after_call,
        is_private=records.chats.is_private,
    )
    return ToolParts(registry, runner, office, screens, plugins, inputs, pictures)


async def make_timers(
    ground: Ground, assistant: Assistant, ear: Ear, sound: SoundParts, alarm: RingAlarm
) -> tuple[Schedule, Ringer]:
    clock, device = ground.clock, ground.config.of(DeviceConfig)
    schedule = Schedule(documents=ground.records.documents, clock=clock, zone=ground.zone, boot_id=boot_id())
    await schedule.load()
    room = RingRoom(assistant, ear, sound.speaker, sound.mixer, clock)
    words = EntryWords(ground.catalogue, clock, ground.zone)
    ringer = Ringer(
        room.ports(words.ring, schedule.finish),
        clock,
        ring_seconds=device.ring_minutes * 60.0,
        sample_rate_hz=sound.mixer.sample_rate_hz,
    )
    alarm.ringer = ringer
    return schedule, ringer


def add_box_tools(
    ground: Ground,
    registry: Registry,
    schedule: Schedule,
    ringer: Ringer,
    controls: Controls,
    memory: Memory,
    health: Health,
    settings: BoxSettings,
) -> None:
    parts = BoxParts(
        clock=ground.clock,
        zone=ground.zone,
        catalogue=ground.catalogue,
        schedule=schedule,
        words=EntryWords(ground.catalogue, ground.clock, ground.zone),
        ringing=ringer,
        controls=controls,
        memory=memory,
        health=health,
        settings=settings,
        snooze_seconds=ground.config.of(DeviceConfig).snooze_minutes * 60.0,
        trail=ground.records.audit,
        traffic=ground.records.seen,
        times=ground.records.turns,
        private=memory,
    )
    for tool in box_tools(parts):
        registry.add(tool)
