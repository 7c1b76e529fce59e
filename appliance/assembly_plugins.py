"""Builds the hosts of both plugin contracts, and loads what they find in the order that decides about names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from appliance.approve.config import ApprovalConfig
from appliance.approve.office import Office
from appliance.assembly_ground import AtWork, Ground
from appliance.catalogue import Catalogue
from appliance.config import BoxConfig
from appliance.contracts.admission import Admission
from appliance.contracts.failures import ToolFailures
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.asking import ask_at
from appliance.contracts.kotoba.contract import KotobaContract
from appliance.contracts.kotoba.discover import PluginRoot
from appliance.contracts.kotoba.input_desk import InputDesk
from appliance.contracts.kotoba.module_tool import Surroundings
from appliance.contracts.kotoba.sandbox.sandboxes import Sandboxes
from appliance.contracts.plugin_files import PluginFiles
from appliance.contracts.plugin_sentences import PluginSentences
from appliance.contracts.quarantine import Quarantine
from appliance.contracts.sapphire import core_images, core_net
from appliance.contracts.sapphire.beside import BoxSide
from appliance.contracts.sapphire.contract import SapphireContract
from appliance.contracts.sapphire.credentials import PluginCredentials
from appliance.contracts.sapphire.dispatch import OUTPUT_CAP
from appliance.contracts.sapphire.plugin_tool import UNFLAGGED_SETTING, Around, PluginTool
from appliance.contracts.sapphire.root_config import RootConfig
from appliance.contracts.sapphire.scopes import Scopes
from appliance.contracts.sapphire.settings import PluginSettings
from appliance.contracts.sapphire.system import SystemDoors
from appliance.contracts.sapphire.voice import usual_lines
from appliance.contracts.shelf import PluginShelf
from appliance.contracts.switch import PluginSwitch
from appliance.errors import ConfigError
from appliance.ports_pictures import CHAT_PIXELS
from appliance.speak.speaker import Speaker
from appliance.store.chat_rows import ChatRows
from appliance.store.plugin_pins import PluginPins
from appliance.think.config import ThinkConfig
from appliance.think.soul import Soul
from appliance.tools.config import ToolsConfig
from appliance.tools.pictures import PictureShelf
from appliance.tools.tool import Risk, Tool
from appliance.tools.toolsets import Toolsets


@dataclass(frozen=True)
class Beside:
    """What plugins reach beside their own calls."""

    inputs: InputDesk
    pictures: PictureShelf
    toolsets: Toolsets
    speaker: Speaker


def make_plugins(
    ground: Ground,
    at_work: AtWork,
    office: Office,
    beside: Beside,
    roots: Sequence[PluginRoot],
    files: PluginFiles,
    workdir: Path,
) -> PluginShelf:
    """Both contracts over one host. Raises ``ConfigError``."""
    config, home = ground.config.of(ToolsConfig), ground.home
    credentials = ground.records.credentials
    starts = ground.adapters.starts
    admission = Admission(roots, starts=starts, pins=PluginPins(home.pins_file))
    host = PluginHost(
        Quarantine(at_work.tell_paused),
        failures=ToolFailures(ground.clock, at_work.tell_tool_paused),
        notes=starts.notes if starts is not None else None,
        keys_of=credentials.of_plugin,
    )
    ground.stack.push_async_callback(host.close)
    sandboxes = Sandboxes(ground.adapters.workers)
    ground.stack.push_async_callback(sandboxes.close)
    switch = PluginSwitch(home.switch_file)
    modules = KotobaContract(
        host=host,
        clock=ground.clock,
        roots=roots,
        switch=switch,
        surroundings=Surroundings(
            workdir=workdir,
            confirm=ask_at(office.desk),
            ask_input=beside.inputs.ask,
            approval_window_seconds=ground.config.of(ApprovalConfig).window_seconds,
            sandboxes=sandboxes,
            secrets=credentials,
        ),
        soul_overrides=soul_patterns(ground.soul.soul),
        import_seconds=config.import_seconds,
        admission=admission,
    )
    facade = ground.adapters.facade
    tools = SapphireContract(
        host=host,
        clock=ground.clock,
        roots=roots,
        switch=switch,
        state_folder=home.plugin_state_folder,
        chat_rows=ChatRows(ground.records.database, ground.records.chats.keys, ground.clock),
        around=_around(ground, config, beside.toolsets),
        box=_box_side(ground, at_work, beside.toolsets, beside.speaker),
        usual_lines=partial(usual_lines, ground.catalogue),
        soul=soul_patterns(ground.soul.soul),
        risks=_risks(config.risks),
        network={
            **core_images.offered(beside.pictures, facade.get if facade is not None else None),
            **(core_net.offered(facade) if facade is not None else {}),
        },
        forget=(lambda plugin: facade.forget(f"plugin:{plugin}")) if facade is not None else lambda _plugin: None,
        import_seconds=config.import_seconds,
        admission=admission,
    )
    ground.stack.push_async_callback(tools.close)
    sentences = PluginSentences(ground.adapters.matcher, roots, ground.config.of(BoxConfig).language)
    is_private = ground.records.chats.is_private
    return PluginShelf(
        host, modules, tools, switch, files, credentials, sentences, beside.toolsets, is_private, admission
    )


def news_of_plugins(shelf: PluginShelf, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Key and sentence of each thing about plugins that the person has not been told yet. Blocks on the disk."""
    told = []
    for kind, plugin, words in shelf.news():
        about = f"{kind} {plugin}".rstrip()
        if shelf.admission.starts.is_news(about, words):
            key = f"plugins.{kind.replace(' ', '_')}"
            told.append((about, catalogue.say(key, plugin=plugin.replace("_", " "))))
    return told


def is_hidden(tool: Tool) -> bool:
    """Whether its author keeps it out of every selection that does not name it."""
    return isinstance(tool, PluginTool) and tool.flags.is_hidden


def _box_side(ground: Ground, at_work: AtWork, toolsets: Toolsets, speaker: Speaker) -> BoxSide:
    chats = ground.records.chats

    async def chat_name() -> str:
        return chats.keys.name_of(await chats.current())

    async def clear_chat() -> str:
        name = await chat_name()
        await chats.clear(await chats.current())
        return name

    doors = SystemDoors(
        is_ready=lambda: at_work.assistant is not None,
        speak=speaker.say,
        stop_speaking=speaker.stop,
        stop_turn=lambda: at_work.assistant is not None and at_work.assistant.stop(),
        chat_name=chat_name,
        clear_chat=clear_chat,
    )
    return BoxSide(ground.records.documents, ground.zone, toolsets, doors, chats.keys.name_of, chats.is_private)


def _around(ground: Ground, config: ToolsConfig, toolsets: Toolsets) -> Around:
    credentials, keys = ground.records.credentials, ground.records.chats.keys
    settings = {
        UNFLAGGED_SETTING: config.private_allow_unflagged,
        "TOOL_RESULT_MAX_CHARS": OUTPUT_CAP,
        "IMAGE_MEMORY_TURNS": ground.config.of(ThinkConfig).image_memory_turns,
        "IMAGE_UPLOAD_MAX_WIDTH": CHAT_PIXELS,
    }
    return Around(
        settings=PluginSettings(ground.home.plugin_settings_folder, ground.clock.now),
        credentials=PluginCredentials(credentials),
        scopes=Scopes(),
        root=RootConfig(ground.home.folder, settings),
        redact=credentials.redact,
        budget_seconds=config.plugin_seconds,
        is_private=lambda context: keys.is_private(context.chat),
        chat_name=lambda context: keys.name_of(context.chat),
        accounts=lambda context: keys.scopes_of(context.chat),
        is_named=toolsets.is_named,
    )


def _risks(pairs: Iterable[str]) -> dict[str, Risk]:
    """The owner's judgements; a wrong one raises, for going on without it would not be safe."""
    risks: dict[str, Risk] = {}
    for pair in pairs:
        name, _, word = pair.partition("=")
        if word.strip() not in set(Risk):
            raise ConfigError(f"tools.risks has {pair!r}; each entry is NAME=RISK, with one of {', '.join(Risk)}")
        risks[name.strip()] = Risk(word.strip())
    return risks


def soul_patterns(soul: Soul) -> dict[str, dict[str, object]]:
    """The soul's lines in the shape of the tool-module contract; what a block does not name stays the tool's own."""
    keys = {"announce": "before", "heartbeat": "heartbeat", "complete": "after", "fail": "fail"}
    return {
        tool: {keys[name]: value for name, value in vars(override).items() if value is not None}
        for tool, override in soul.voice_overrides.items()
    }
