"""The ears of a device, made before anything else of it: as little as a wake word needs, and that side by side.

What is imported here is all that a person waits for after switching on; the box itself is loaded behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.adapters.sound_devices import load_portaudio
from appliance.clock import Clock
from appliance.config import Config
from appliance.errors import WeightsError
from appliance.home import Home

if TYPE_CHECKING:
    from appliance.bus import Bus
    from appliance.ears import Ears
    from appliance.ports import SoundCard, WakeWordDetector

#: Until the card says its own.
_OUTPUT_RATE_HZ = 48_000


@asynccontextmanager
async def open_ears(home: Home, config: Config, clock: Clock, bus: Bus) -> AsyncIterator[Ears]:
    """Ears that hear, unless the owner has muted them. The caller holds the lock on the home."""
    portaudio = _begin_portaudio()
    from appliance.adapters.silero_vad import SileroVoiceActivity
    from appliance.ears import Ears, open_card
    from appliance.listen.config import ListenConfig
    from appliance.speak.config import SpeakConfig
    from appliance.speak.mixer import Mixer
    from appliance.speak.mouth import MouthTrack

    mouth = MouthTrack(clock.monotonic_seconds)
    floor_percent = config.of(SpeakConfig).alert_floor_percent
    mixer = Mixer(_OUTPUT_RATE_HZ, alert_floor_percent=floor_percent, on_mouth=mouth.note)
    card = sound_card(config, clock, portaudio)
    mixer.on_ready = card.output_ready
    is_muted = _is_muted(home.database_file)
    if is_muted:
        await card.mute(True)  # before it is open: not even for a moment
    try:
        # The card opens on a thread of its own, while the weights load on another.
        loading = asyncio.to_thread(wake_words_of, config)
        (wake_words, problems), _ = await asyncio.gather(loading, open_card(card, mixer, mouth))
        ears = Ears(
            bus=bus,
            clock=clock,
            mixer=mixer,
            mouth=mouth,
            card=card,
            activity=SileroVoiceActivity(),
            wake_words=wake_words,
            listen=config.of(ListenConfig),
            problems=problems,
        )
        if is_muted:
            await ears.ear.mute(True)
        ears.begin()
        try:
            yield ears
        finally:
            await ears.close()
    finally:
        await card.close()


def sound_card(config: Config, clock: Clock, portaudio: Callable[[], Any] = load_portaudio) -> SoundCard:
    """The card of this machine, through the PortAudio that ``portaudio`` gives; it does not hear itself."""
    from appliance.adapters.sound_card import PortAudioSoundCard
    from appliance.listen.config import AudioConfig
    from appliance.wiring_duplex import duplex_card

    audio = config.of(AudioConfig)
    card = PortAudioSoundCard(clock, microphone=audio.microphone, speaker=audio.speaker, load=portaudio)
    return duplex_card(card, audio)


def wake_words_of(config: Config) -> tuple[WakeWordDetector, tuple[str, ...]]:
    """The configured wake words, loaded; when they cannot be used the shipped one, and why: better than deaf."""
    from appliance.adapters.microwakeword import MicroWakeWords
    from appliance.listen.config import ListenConfig

    try:
        wake_words = MicroWakeWords(config.of(ListenConfig).wake_words)
        wake_words.load()
        return wake_words, ()
    except WeightsError as error:
        return MicroWakeWords(ListenConfig().wake_words), (str(error),)


def _begin_portaudio() -> Callable[[], Any]:
    """Begin to load it; what is given back waits for it. Most of that is waiting: Python imports the rest meanwhile."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="portaudio")
    loading = thread.submit(load_portaudio)
    thread.shutdown(wait=False)
    return loading.result


def _is_muted(database: Path) -> bool:
    from appliance.store.first_look import was_muted

    return was_muted(database)
