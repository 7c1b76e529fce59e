"""Where the adapters are chosen: settings in, a box out. The only file that names concrete adapters.

An adapter is imported where it is made, so that a command which needs no sound does not pay for it.
``assembly.py`` joins them.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.clock import Clock, SystemClock
from appliance.config import BoxConfig, Config
from appliance.control import Control, Handler
from appliance.errors import WeightsError
from appliance.home import Home, shipped
from appliance.ports import Button, ButtonLamp, FaceBackend, FaceState, SoundCard, WakeWordDetector
from appliance.ports_think import HttpDoor, ModelEndpoint
from appliance.think.config import ThinkConfig

if TYPE_CHECKING:
    from appliance.assembly_ground import Adapters
    from appliance.box import Box
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
) -> AsyncIterator[Box]:
    """A box that can take turns; ``Box.live`` makes it a device. The caller holds the lock on the home.

    ``record_to`` gets what was spoken, ``face_to`` the face at the end. With ``shows_face`` a configured terminal face
    has the last line of the terminal, where nothing is typed. Raises ``ConfigError``, ``WeightsError``,
    ``StoreError``.
    """
    from appliance.assembly import assemble
    from appliance.records import open_records

    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        records = await stack.enter_async_context(open_records(home, clock, credentials))
        door = http_door()
        stack.push_async_callback(door.close)
        adapters = _adapters(home, config, sound, clock, records, door, _faces(config, home, face_to, shows_face))
        box = await stack.enter_async_context(assemble(adapters, home, config, clock, records))
        yield box
        if record_to is not None:
            _write_recording(box.card, record_to)


@contextlib.asynccontextmanager
async def open_store(home: Home, credentials: Credentials) -> AsyncIterator[Mapping[str, Handler]]:
    """The store alone, for commands that look at what was. Raises ``StoreError``."""
    from appliance.records import open_records

    async with open_records(home, SystemClock(), credentials) as records:
        yield records.service.handlers


# ---------------------------------------------------------------------------------------------- the adapters


def _adapters(
    home: Home,
    config: Config,
    sound: Sound,
    clock: Clock,
    records: Records,
    door: HttpDoor,
    faces: tuple[FaceBackend, ...],
) -> Adapters:
    from appliance import models
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.sentence_matcher import HassilMatcher
    from appliance.adapters.silero_vad import SileroVoiceActivity
    from appliance.adapters.whisper import WhisperTranscriber
    from appliance.assembly_ground import Adapters
    from appliance.listen.config import HearConfig
    from appliance.speak.config import SpeakConfig
    from appliance.think.sentences import fixed_lists

    wake_words, problems = _wake_words(config, sound)
    hear, speak, language = config.of(HearConfig), config.of(SpeakConfig), config.of(BoxConfig).language
    button, lamp = _button(config, home, clock, sound)
    return Adapters(
        card=partial(_card, config, clock, sound),
        synthesizer=PiperSynthesizer(models.locate(speak.voice, home.models_folder, speak.voice_path)),
        transcriber=WhisperTranscriber(
            models.locate(hear.model, home.models_folder, hear.model_path),
            languages=(language,),
            beam_size=hear.beam_size,
            threads=hear.threads,
        ),
        activity=SileroVoiceActivity,
        wake_words=wake_words,
        matcher=HassilMatcher(shipped("soul") / language / "intents.yaml", fixed_lists()),
        endpoint=model_endpoint(config, records.credentials, clock, door),
        faces=faces,
        recording=partial(_recording, clock),
        button=button,
        lamp=lamp,
        is_line_cached=sound is Sound.DEVICE,
        problems=problems,
    )


def _wake_words(config: Config, sound: Sound) -> tuple[WakeWordDetector, tuple[str, ...]]:
    """The configured wake words; when they cannot be used the shipped one, and why in words: better than deaf."""
    from appliance.adapters.microwakeword import MicroWakeWords
    from appliance.listen.config import ListenConfig

    if sound is not Sound.DEVICE:
        return MicroWakeWords(()), ()
    try:
        wake_words = MicroWakeWords(config.of(ListenConfig).wake_words)
        wake_words.load()
        return wake_words, ()
    except WeightsError as error:
        return MicroWakeWords(ListenConfig().wake_words), (str(error),)


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


def _card(config: Config, clock: Clock, sound: Sound, mixer: Mixer) -> SoundCard:
    if sound is Sound.DEVICE:
        from appliance.adapters.sound_card import PortAudioSoundCard
        from appliance.listen.config import AudioConfig

        audio = config.of(AudioConfig)
        return PortAudioSoundCard(clock, microphone=audio.microphone, speaker=audio.speaker)
    from appliance.adapters.wav_sound_card import WavSoundCard

    return WavSoundCard(clock, has_sound=mixer.has_sound)


def _faces(config: Config, home: Home, picture: Path | None, shows_face: bool) -> tuple[FaceBackend, ...]:
    """Every configured backend; only the ``picture`` when one is given."""
    from appliance.face.config import FaceConfig

    face = config.of(FaceConfig)
    faces: list[FaceBackend] = []
    if picture is not None or "picture" in face.backends:
        from appliance.adapters.face_picture import PictureFace

        faces.append(PictureFace(picture or Path(face.picture_file or home.folder / "face.png")))
    if shows_face and "terminal" in face.backends and sys.stdout.isatty():
        from appliance.adapters.face_terminal import TerminalFace

        faces.append(TerminalFace(sys.stdout))
    return tuple(faces)


def http_door() -> HttpDoor:
    """The one door to HTTP."""
    from appliance.network.door import Door

    return Door()


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

    return ControlSocket(home.control_socket, handlers)


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
    from appliance.store.credentials import Credentials

    return Credentials(home.folder / "credentials.json", os.environ, SystemClock())


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


def _write_recording(card: SoundCard, file: Path) -> None:
    from appliance.adapters.wav_file import write_wav
    from appliance.adapters.wav_sound_card import WavSoundCard

    if isinstance(card, WavSoundCard):
        write_wav(file, card.recording())
