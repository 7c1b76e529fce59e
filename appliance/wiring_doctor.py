"""Where the doctor gets its adapters from: the look-out of a running box, and a whole box that does not run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING

from appliance.clock import Clock, SystemClock
from appliance.config import BoxConfig, Config
from appliance.errors import ButtonError
from appliance.home import Home

if TYPE_CHECKING:
    from appliance.doctor.checks.board import ButtonState
    from appliance.doctor.doctor import Doctor
    from appliance.doctor.examined import Outside
    from appliance.doctor.sound_trial import SoundTrial
    from appliance.network.house_network import HouseNetwork
    from appliance.ports import SoundCard, Synthesizer, Transcriber, VoiceActivityDetector, WakeWordDetector
    from appliance.ports_doctor import Machine
    from appliance.ports_sandbox import WorkerLauncher
    from appliance.ports_think import ModelEndpoint

#: Until the card says another.
_RATE_HZ = 48_000
#: How long a button that nobody presses is looked at, and how often.
_BUTTON_LOOKS, _BETWEEN_LOOKS_SECONDS = 10, 0.1


def machine() -> Machine:
    """This machine."""
    from appliance.adapters.machine import SystemMachine

    return SystemMachine()


def outside(config: Config, network: HouseNetwork) -> Outside:
    """The look-out of a running box."""
    from appliance.doctor.examined import Outside

    return Outside(machine(), partial(_wake_words, config), lambda: network)


@contextlib.asynccontextmanager
async def doctor_of_home(
    home: Home,
    config: Config,
    *,
    network: Callable[[], HouseNetwork],
    endpoint: Callable[[], ModelEndpoint | None],
    workers: Iterable[WorkerLauncher],
    redact: Callable[[str], str],
) -> AsyncIterator[Doctor]:
    """The doctor of a box that does not run. It makes only what is asked for, and closes it in the end."""
    from appliance.doctor.doctor import Doctor
    from appliance.doctor.examined import Examined, Outside

    async with contextlib.AsyncExitStack() as stack:
        clock = SystemClock()
        parts = _Parts(home, config, clock, stack)
        examined = Examined(
            outside=Outside(machine(), partial(_wake_words, config), network),
            clock=clock,
            home=home,
            config=config,
            sound=parts.sound,
            synthesizer=parts.synthesizer,
            transcriber=parts.transcriber,
            activity=_activity,
            endpoint=endpoint,
            workers=tuple(workers),
            button=parts.button,
            settings_problems=config.problems,
        )
        yield Doctor(lambda: examined, redact)


class _Parts:
    """Adapters of a box that does not run, each made once."""

    def __init__(self, home: Home, config: Config, clock: Clock, stack: contextlib.AsyncExitStack) -> None:
        self._home = home
        self._config = config
        self._clock = clock
        self._stack = stack
        self._trial: SoundTrial | None = None
        self.synthesizer = cache(self._make_synthesizer)
        self.transcriber = cache(self._make_transcriber)

    async def sound(self) -> SoundTrial:
        """The sound card, opened, with somebody who takes its sound."""
        if self._trial is None:
            from appliance.adapters.sound_card import PortAudioSoundCard
            from appliance.doctor.sound_trial import SoundTrial
            from appliance.listen.config import AudioConfig
            from appliance.speak.config import SpeakConfig
            from appliance.speak.mixer import Mixer

            audio = self._config.of(AudioConfig)
            card = PortAudioSoundCard(self._clock, microphone=audio.microphone, speaker=audio.speaker)
            mixer = Mixer(_RATE_HZ, volume_percent=self._config.of(SpeakConfig).volume_percent)
            self._stack.push_async_callback(card.close)
            await card.open(mixer.render)
            mixer.set_sample_rate(card.info.output_rate_hz)
            taking = asyncio.create_task(_take(card), name="doctor listens")
            self._stack.push_async_callback(_end, taking)
            self._trial = SoundTrial(card, mixer, self._clock)
        return self._trial

    async def button(self) -> ButtonState:
        """The button on the board, looked at for a second in which nobody is to press it."""
        from appliance.adapters.button_gpio import GpioButton, GpioPins
        from appliance.approve.config import ButtonConfig
        from appliance.doctor.checks.board import ButtonState

        settings = self._config.of(ButtonConfig)
        if not settings.pin:
            return ButtonState()
        pins = GpioPins(self._home.runtime_folder)
        button = GpioButton(pins, settings.pin, self._clock, pull=settings.pull, pressed_is=settings.pressed_is)
        try:
            await button.open()
            looks = []
            for _ in range(_BUTTON_LOOKS):
                looks.append(button.sample())
                await self._clock.sleep(_BETWEEN_LOOKS_SECONDS)
        except ButtonError as error:
            return ButtonState(button.name, str(error))
        finally:
            button.close()
            pins.close()
        return ButtonState(button.name, "it is held, or sticks" if all(looks) else "it flickers" if any(looks) else "")

    def _make_synthesizer(self) -> Synthesizer:
        from appliance import models
        from appliance.adapters.piper import PiperSynthesizer
        from appliance.speak.config import SpeakConfig

        speak = self._config.of(SpeakConfig)
        voice = PiperSynthesizer(models.locate(speak.voice, self._home.models_folder, speak.voice_path))
        self._stack.callback(voice.close)
        return voice

    def _make_transcriber(self) -> Transcriber:
        from appliance import models
        from appliance.adapters.whisper import WhisperTranscriber
        from appliance.listen.config import HearConfig

        hear, language = self._config.of(HearConfig), self._config.of(BoxConfig).language
        weights = models.locate(hear.model, self._home.models_folder, hear.model_path)
        transcriber = WhisperTranscriber(weights, languages=(language,), beam_size=hear.beam_size, threads=hear.threads)
        self._stack.callback(transcriber.close)
        return transcriber


def _wake_words(config: Config) -> WakeWordDetector:
    from appliance.adapters.microwakeword import MicroWakeWords
    from appliance.listen.config import ListenConfig

    words = MicroWakeWords(config.of(ListenConfig).wake_words)
    words.load()
    return words


def _activity() -> VoiceActivityDetector:
    from appliance.adapters.silero_vad import SileroVoiceActivity

    return SileroVoiceActivity()


async def _take(card: SoundCard) -> None:
    """In the place of an ear: what is tapped has to be taken by somebody."""
    async for _chunk in card.chunks():
        pass


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
