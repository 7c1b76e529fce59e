"""Where the adapters are chosen: settings in, a box out. The only file that names concrete adapters.

An adapter is imported where it is made, so that a command which needs no sound does not pay for it.
``assembly.py`` joins them.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.clock import Clock, SystemClock
from appliance.config import BoxConfig, Config
from appliance.control import Control, Handler
from appliance.errors import ConfigError, LaneRefusedError
from appliance.home import Home, shipped
from appliance.ports import Button, ButtonLamp, FaceBackend, FaceState, Power, SoundCard, WakeWordDetector
from appliance.ports_sandbox import WorkerLauncher
from appliance.ports_think import HttpDoor, ModelEndpoint
from appliance.think.config import ThinkConfig
from appliance.wiring_doctor import outside
from appliance.wiring_faces import Faces, configured_faces
from appliance.wiring_listening import turn_detector
from appliance.wiring_speech import SpeechParts, loading, speech_parts

if TYPE_CHECKING:
    from appliance.assembly_ground import Adapters
    from appliance.box import Box
    from appliance.ears import Ears
    from appliance.network.belt import Belt
    from appliance.network.door import Door
    from appliance.network.facade import Facade
    from appliance.network.house_network import HouseNetwork
    from appliance.network.passage import Passage
    from appliance.records import Records
    from appliance.speak.mixer import Mixer
    from appliance.store.credentials import Credentials

#: Name of the model's key among the credentials; the name that every service of this API uses.
MODEL_KEY = "OPENAI_API_KEY"


class Sound(enum.Enum):
    """Where sound comes from and goes to."""

    DEVICE = "device"
    #: No microphone; what is spoken is written to a file at the end.
    RECORDED = "recorded"
    #: Typed turns only.
    NONE = "none"


@contextlib.asynccontextmanager
async def open_box(
    home: Home,
    config: Config,
    credentials: Credentials,
    sound: Sound,
    *,
    record_to: Path | None = None,
    face_to: Path | None = None,
    shows_face: bool = False,
    change: Callable[[Adapters], Adapters] = lambda adapters: adapters,
    ears: Ears | None = None,
) -> AsyncIterator[Box]:
    """A box that can take turns; ``Box.live`` makes it a device. The caller holds the lock on the home.

    ``record_to`` gets what was spoken, ``face_to`` the face at the end. With ``shows_face`` a configured terminal face
    has the last line of the terminal, where nothing is typed. ``change`` exchanges adapters, for a benchmark. ``ears``
    are open already and hear on meanwhile. Raises ``ConfigError``, ``WeightsError``, ``StoreError``.
    """
    clock, is_device = SystemClock(), sound is Sound.DEVICE
    # Imports are done on threads: an ear may be open already, and must not wait for them.
    config, speech = await asyncio.to_thread(_speech, config, home)
    # Against the folder of the caller, before the box moves into its home.
    record_to, face_to = (file and file.absolute() for file in (record_to, face_to))
    async with contextlib.AsyncExitStack() as stack:
        if is_device:
            await stack.enter_async_context(loading(speech, ears.bus if ears is not None else None))
        await asyncio.to_thread(_import_the_box)
        from appliance.adapters.chat_cipher import AesChatCipher
        from appliance.assembly import assemble
        from appliance.crash_guard import guarded
        from appliance.network.door import Door
        from appliance.records import open_records
        from appliance.tools.config import ToolsConfig

        records = await stack.enter_async_context(open_records(home, clock, credentials, AesChatCipher()))
        stack.enter_context(_working_in(home.folder))
        growth_mb = config.of(ToolsConfig).plugin_memory_mb
        guard = await stack.enter_async_context(guarded(home, clock, is_device=is_device, growth_mb=growth_mb))
        network = house_network(config, credentials, clock, records.seen.note)
        door = Door(network.client(), who="model")
        stack.push_async_callback(door.close)
        facade, belt = _plugin_door(network)
        stack.callback(belt.take_off)
        stack.push_async_callback(asyncio.to_thread, facade.close)
        faces = configured_faces(config, home, clock, face_to, shows_terminal=shows_face)
        adapters = replace(
            _adapters(home, config, sound, clock, records, door, faces, speech, ears),
            facade=facade,
            is_model_local=_is_in_house(network, config.of(ThinkConfig).url),
            doctor=outside(config, network),
            starts=guard.starts,
        )
        box = await stack.enter_async_context(assemble(change(adapters), home, config, clock, records, ears=ears))
        guard.ready()
        yield box
        if record_to is not None:
            _write_recording(box.card, record_to)


@contextlib.asynccontextmanager
async def open_store(home: Home, credentials: Credentials) -> AsyncIterator[Mapping[str, Handler]]:
    """The store alone, for commands that look at what was. Raises ``StoreError``."""
    from appliance.adapters.chat_cipher import AesChatCipher
    from appliance.records import open_records

    async with open_records(home, SystemClock(), credentials, AesChatCipher()) as records:
        yield records.handlers


def _speech(config: Config, home: Home) -> tuple[Config, SpeechParts]:
    """What the soul makes of the settings, and what hears and speaks accordingly."""
    from appliance.soul_settings import with_soul

    config = with_soul(config, home)
    return config, speech_parts(home, config, turn_detector(home))


def _import_the_box() -> None:
    """Everything that ``open_box`` and what it calls import: on a thread, for an ear may be open already."""
    import appliance.adapters.chat_cipher
    import appliance.adapters.sentence_matcher
    import appliance.assembly
    import appliance.network.facade  # noqa: F401


# ---------------------------------------------------------------------------------------------- the adapters


def _adapters(
    home: Home,
    config: Config,
    sound: Sound,
    clock: Clock,
    records: Records,
    door: Door,
    faces: Faces,
    speech: SpeechParts,
    ears: Ears | None,
) -> Adapters:
    from appliance.adapters.picture_maker import PillowPictures
    from appliance.adapters.sentence_matcher import HassilMatcher
    from appliance.adapters.silero_vad import SileroVoiceActivity
    from appliance.assembly_ground import Adapters
    from appliance.think.sentences import SENTENCE_LISTS, fixed_lists

    wake_words, problems = (ears.wake_words, ears.problems) if ears is not None else _wake_words(config, sound)
    language = config.of(BoxConfig).language
    button, lamp = _button(config, home, clock, sound)
    return Adapters(
        card=partial(_card, config, clock, sound),
        synthesizer=speech.synthesizer,
        transcriber=speech.transcriber,
        quick_reader=speech.transcriber,
        expect_words=speech.transcriber.expect,
        activity=SileroVoiceActivity,
        turn_detector=speech.turn_detector,
        wake_words=wake_words,
        matcher=HassilMatcher(shipped("soul") / language / "intents.yaml", fixed_lists(), SENTENCE_LISTS),
        endpoint=model_endpoint(config, records.credentials, clock, door),
        faces=faces.backends,
        face_buttons=faces.connect_buttons,
        recording=partial(_recording, clock),
        pictures=PillowPictures(),
        button=button,
        lamp=lamp,
        workers=workers_of(home),
        power=_power(config, home),
        is_line_cached=sound is Sound.DEVICE,
        problems=(*problems, *faces.problems),
        warm_up_network=door.warm_up if sound is Sound.DEVICE else None,
    )


def _wake_words(config: Config, sound: Sound) -> tuple[WakeWordDetector, tuple[str, ...]]:
    """The wake words of a device; nothing else is called by one."""
    from appliance.adapters.microwakeword import MicroWakeWords
    from appliance.wiring_ears import wake_words_of

    return wake_words_of(config) if sound is Sound.DEVICE else (MicroWakeWords(()), ())


def workers_of(home: Home) -> tuple[WorkerLauncher, ...]:
    """Every kind of sandbox that this box may have, best first."""
    from appliance.adapters.worker_bubblewrap import BubblewrapWorkers
    from appliance.adapters.worker_rlimits import LimitedWorkers
    from appliance.adapters.worker_socket import SocketWorkers

    return SocketWorkers(home.worker_socket, forbidden=home.database_file), BubblewrapWorkers(), LimitedWorkers()


def _recording(clock: Clock, file: Path) -> SoundCard:
    """A file that is a question; when none is in it, nobody waits."""
    from appliance.adapters.wav_sound_card import WavSoundCard
    from appliance.service import RECORDING_SPEECH_SECONDS

    silent_seconds = RECORDING_SPEECH_SECONDS + 10.0
    return WavSoundCard(clock, file, has_sound=lambda: False, waits_for_ear=True, silence_behind_seconds=silent_seconds)


def _button(config: Config, home: Home, clock: Clock, sound: Sound) -> tuple[Button | None, ButtonLamp | None]:
    """The button and its lamp: on the pins of the board, else on this terminal."""
    from appliance.approve.config import ButtonConfig

    settings = config.of(ButtonConfig)
    if sound is not Sound.DEVICE:
        return None, None
    if settings.pin:
        from appliance.adapters.button_gpio import GpioButton, GpioLamp, GpioPins

        pins = GpioPins(home.runtime_folder)
        button = GpioButton(pins, settings.pin, clock, pull=settings.pull, pressed_is=settings.pressed_is)
        return button, GpioLamp(pins, settings.lamp_pin) if settings.lamp_pin else None
    if sys.stdin.isatty():
        from appliance.adapters.button_terminal import TerminalButton

        return TerminalButton(sys.stdin.fileno(), clock), None
    return None, None


def _power(config: Config, home: Home) -> Power | None:
    """The power switch, where the owner lets the button use it: by default on an installed box only."""
    from appliance.adapters.power_systemd import SystemdPower
    from appliance.approve.config import ButtonConfig

    wanted = config.of(ButtonConfig).shuts_down
    return SystemdPower() if wanted == "always" or (wanted == "service" and home.is_service) else None


def _card(config: Config, clock: Clock, sound: Sound, mixer: Mixer) -> SoundCard:
    if sound is Sound.DEVICE:
        from appliance.wiring_ears import sound_card

        return sound_card(config, clock)
    from appliance.adapters.wav_sound_card import WavSoundCard

    return WavSoundCard(clock, has_sound=mixer.has_sound)


def house_network(
    config: Config, credentials: Credentials, clock: Clock, seen: Callable[[Passage], None] = lambda _passage: None
) -> HouseNetwork:
    """The owner's network: direct hosts, proxy, rules. ``seen`` hears of every request, in any thread."""
    from appliance.network.config import NetworkConfig
    from appliance.network.house_network import HouseNetwork

    return HouseNetwork(
        config.of(NetworkConfig),
        clock,
        dict(os.environ),
        credential=credentials.get,
        hide=credentials.hide,
        seen=seen,
    )


def _is_in_house(network: HouseNetwork, url: str) -> bool:
    """Whether that address is in the house; one that makes no sense is not."""
    from appliance.network.lane import Lane

    try:
        return bool(url) and network.classifier.classify(url).lane is Lane.LAN
    except LaneRefusedError:
        return False


def _plugin_door(network: HouseNetwork) -> tuple[Facade, Belt]:
    """The plugins' door, and the belt for those that do not use it; it follows the direct hosts that they name."""
    from appliance.contracts.plugin_call import current_plugin
    from appliance.network.belt import Belt
    from appliance.network.facade import Facade
    from appliance.tools.current_chat import is_private_call

    belt = Belt(os.environ)

    def fit_belt() -> None:
        # A proxy that makes no sense is told elsewhere, and nothing goes out then.
        with contextlib.suppress(ConfigError):
            proxy = network.proxy()
            if proxy is not None:
                belt.put_on(proxy.url, network.direct_hosts.known_hosts())

    facade = Facade(
        network.client,
        network.classifier,
        network.direct_hosts,
        who=lambda: f"plugin:{current_plugin()}",
        is_private=is_private_call,
        proxy=network.proxy,
        hosts_changed=fit_belt,
    )
    fit_belt()
    return facade, belt


def http_door(config: Config, credentials: Credentials) -> Door:
    """A door to HTTP for one command."""
    from appliance.network.door import Door

    return Door(house_network(config, credentials, SystemClock()).client())


def download_door(config: Config, credentials: Credentials) -> Door:
    """A door that opens to the outside only: what a download is sent on to is never in the house."""
    from appliance.network.door import Door
    from appliance.network.lane import Lane

    return Door(house_network(config, credentials, SystemClock()).client(), who="downloads", lane=Lane.WAN)


def pip_environment(config: Config, credentials: Credentials) -> dict[str, str]:
    """The environment in which pip takes the box's way outside. Raises ``ConfigError`` for a proxy that is none."""
    from appliance.network.proxy import with_proxy

    return with_proxy(os.environ, house_network(config, credentials, SystemClock()).proxy())


def model_endpoint(
    config: Config, credentials: Credentials, clock: Clock, door: HttpDoor, *, key: str | None = None
) -> ModelEndpoint | None:
    """The configured model, with ``key`` ("" sends none) or the stored one; None when there is no model.

    Raises ``ConfigError`` for a URL that is none.
    """
    think = config.of(ThinkConfig)
    if not think.url:
        return None
    from appliance.adapters.responses_api import ResponsesEndpoint

    return ResponsesEndpoint(
        door,
        url=think.url,
        clock=clock,
        model=think.model,
        key=credentials.get(MODEL_KEY) if key is None else key,
        reasoning_effort=think.reasoning_effort,
        connect_seconds=think.connect_seconds,
        first_token_seconds=think.first_token_seconds,
        total_seconds=think.total_seconds,
    )


# --------------------------------------------------------------------------------------- for single commands


def control_socket(home: Home, handlers: Mapping[str, Handler]) -> contextlib.AbstractAsyncContextManager[object]:
    """Answers clients of this home inside ``async with``. Raises ``HomeLockedError``."""
    from appliance.adapters.control_socket import ControlSocket

    # The group of the service's user is that of the people who may talk to it.
    return ControlSocket(home.control_socket, handlers, group=os.getegid() if home.is_service else None)


def control_client(home: Home) -> contextlib.AbstractAsyncContextManager[Control]:
    """The running device of this home, once entered; that raises ``NotRunningError`` when there is none."""
    from appliance.adapters.control_client import ControlClient

    return ControlClient(home.control_socket)


def sound_devices() -> list[dict[str, object]]:
    """Every sound device with its stable name. Raises ``AudioError`` without PortAudio."""
    from appliance.adapters.sound_devices import devices

    return [asdict(device) for device in devices()]


def credentials_of(home: Home) -> Credentials:
    """The secrets of a home."""
    from appliance.store.credentials import credentials_of as read_credentials

    return read_credentials(home)


def draw_face_picture(state: FaceState, file: Path) -> None:
    """One pose as a PNG."""
    from appliance.adapters.face_picture import draw_face, write_picture

    write_picture(draw_face(state), file)


def draw_face_sheet(faces: list[tuple[str, FaceState]], file: Path) -> None:
    """Named poses side by side as a PNG."""
    from appliance.adapters.face_picture import draw_sheet, write_picture

    write_picture(draw_sheet(faces), file)


def terminal_face() -> FaceBackend:
    """The face on a line of this terminal."""
    from appliance.adapters.face_terminal import TerminalFace

    return TerminalFace(sys.stdout)


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Have ``folder`` as the working folder: plugins read their settings by a path that begins there."""
    try:
        before = Path.cwd()
    except OSError:
        before = None  # it is gone, and nobody needs it back
    os.chdir(folder)
    try:
        yield
    finally:
        if before is not None:
            with contextlib.suppress(OSError):
                os.chdir(before)


def _write_recording(card: SoundCard, file: Path) -> None:
    from appliance.adapters.wav_file import write_wav
    from appliance.adapters.wav_sound_card import WavSoundCard

    if isinstance(card, WavSoundCard):
        write_wav(file, card.recording())
