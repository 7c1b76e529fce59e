"""Where the guided set-up, and the commands that check settings, get single adapters from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from appliance import models
from appliance.clock import Clock
from appliance.config import BoxConfig, Config
from appliance.home import Home
from appliance.listen.config import HearConfig
from appliance.ports import Button, SoundCard, Synthesizer, Transcriber, WakeWordDetector
from appliance.ports_logs import Journal
from appliance.wiring import download_door, pip_environment
from appliance.wiring_faces import Faces, configured_faces

if TYPE_CHECKING:
    from appliance.store.credentials import Credentials


def shipped_wake_words() -> tuple[str, ...]:
    """Names of the wake words that need no file of the owner's."""
    from appliance.adapters.microwakeword import SHIPPED_WORDS

    return SHIPPED_WORDS


def check_wake_words(words: Sequence[str]) -> None:
    """Raise ``WeightsError`` for a word that is none, or whose files cannot be used."""
    from appliance.adapters.microwakeword import MicroWakeWords

    MicroWakeWords(words)


def wake_words(words: Sequence[str]) -> WakeWordDetector:
    """A detector of these words, loaded. Raises ``WeightsError``."""
    from appliance.adapters.microwakeword import MicroWakeWords

    detector = MicroWakeWords(words)
    detector.load()
    return detector


def sound_card(clock: Clock, microphone: str, speaker: str) -> SoundCard:
    """The sound card with these names; nothing is open yet."""
    from appliance.adapters.sound_card import PortAudioSoundCard

    return PortAudioSoundCard(clock, microphone=microphone, speaker=speaker)


def voice(home: Home, name: str) -> Synthesizer:
    """That piper voice. Raises ``WeightsError`` when it is not here."""
    from appliance.adapters.piper import PiperSynthesizer

    return PiperSynthesizer(models.locate(name, home.models_folder))


def transcriber(home: Home, config: Config) -> Transcriber:
    """The configured transcriber. Raises ``WeightsError``."""
    from appliance.adapters.whisper import WhisperTranscriber

    hear = config.of(HearConfig)
    return WhisperTranscriber(
        models.locate(hear.model, home.models_folder, hear.model_path),
        languages=(config.of(BoxConfig).language,),
        beam_size=hear.beam_size,
        threads=hear.threads,
    )


def button(home: Home, config: Config, clock: Clock, pin: str) -> Button:
    """A button on that pin, wired as the settings say; it is not open yet."""
    from appliance.adapters.button_gpio import GpioButton, GpioPins
    from appliance.approve.config import ButtonConfig

    settings = config.of(ButtonConfig)
    pins = GpioPins(home.runtime_folder)
    return GpioButton(pins, pin, clock, pull=settings.pull, pressed_is=settings.pressed_is)


def faces(home: Home, config: Config, clock: Clock) -> Faces:
    """The configured faces; those that are devices are not open yet."""
    return configured_faces(config, home, clock, shows_terminal=True)


async def fetch_weights(
    home: Home, config: Config, credentials: Credentials, name: str, progress: Callable[[str, int, int], None]
) -> None:
    """Bring weights into the home. Raises ``WeightsError``."""
    door = download_door(config, credentials)
    try:
        environment = pip_environment(config, credentials)
        await models.fetch(name, home.models_folder, door, progress, environment=environment)
    finally:
        await door.close()


def journal() -> Journal:
    """What the service logged."""
    from appliance.adapters.journal import SystemdJournal

    return SystemdJournal()
