"""The guided set-up, step by step, with the devices of this machine."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Mapping, Sequence

from appliance import models, wiring_setup
from appliance.catalogue import Catalogue
from appliance.cli.config_set import change_setting, in_words
from appliance.cli.model import check_model, keep_model
from appliance.cli.models import is_here, show_progress
from appliance.cli.setup import STEPS
from appliance.cli.setup_beyond import set_up_button, set_up_face, set_up_model
from appliance.cli.setup_kit import Bench, Kit, Voice
from appliance.cli.setup_sound import set_up_microphone, set_up_speaker, set_up_wake_word
from appliance.cli.setup_words import set_up_language, set_up_name, set_up_voice
from appliance.cli.shared import config_of, credentials_of, home_of
from appliance.cli.terminal import Terminal
from appliance.clock import SystemClock
from appliance.config import BoxConfig, Config
from appliance.errors import ApplianceError
from appliance.home import Home, shipped
from appliance.models import Purpose
from appliance.ports import FaceBackend
from appliance.wiring import sound_devices
from appliance.wiring_faces import known_backends

_WORK: Mapping[str, Callable[[Kit], Awaitable[None]]] = {
    "name": set_up_name,
    "language": set_up_language,
    "microphone": set_up_microphone,
    "speaker": set_up_speaker,
    "wake": set_up_wake_word,
    "voice": set_up_voice,
    "model": set_up_model,
    "button": set_up_button,
    "face": set_up_face,
}


async def set_up(kit: Kit, steps: Sequence[str], home: Home) -> int:
    """Go through the steps. One that fails says why, and the next one follows."""
    terminal = kit.terminal
    terminal.say(f"The settings are in {home.config_file}. Enter leaves things as they are, Ctrl-C ends this.")
    try:
        for number, name in enumerate(steps, 1):
            terminal.say(f"\n{STEPS[name]} ({number} of {len(steps)})")
            try:
                await _WORK[name](kit)
            except ApplianceError as error:
                terminal.say(f"  {error}")
    except EOFError:
        terminal.say("\nNo more answers: the rest stays as it is.")
    terminal.say()
    terminal.say(f"Changed: {'; '.join(kit.changes)}" if kit.changes else "Nothing was changed.")
    start = "sudo systemctl start appliance" if home.is_service else "./run"
    terminal.say(f"Start it with: {start}. What is wrong with it says: appliance doctor.")
    return 0


def make_kit(arguments: argparse.Namespace, terminal: Terminal) -> Kit:
    """The kit of this machine."""
    home, clock = home_of(arguments), SystemClock()

    def config() -> Config:
        return config_of(arguments, keep_going=True)

    async def keep(key: str, text: str | None) -> str:
        return in_words(home, await change_setting(arguments, key, text))

    async def fetch(name: str) -> None:
        await wiring_setup.fetch_weights(home, config(), credentials_of(arguments), name, show_progress)

    def voices(language: str) -> list[Voice]:
        return [
            Voice(name, is_here(name, home.models_folder), weights.size_bytes and weights.size_bytes / 1e6)
            for name, weights in models.known_weights().items()
            if weights.purpose is Purpose.VOICE and (not weights.languages or language in weights.languages)
        ]

    def faces(names: Sequence[str]) -> Sequence[FaceBackend]:
        arguments.set = [*arguments.set, f"face.backends={','.join(names)}"]
        try:
            found = wiring_setup.faces(home, config(), clock)
        finally:
            arguments.set = arguments.set[:-1]
        for problem in found.problems:
            terminal.say(f"  {problem}")
        return found.backends

    bench = Bench(
        sound_devices=sound_devices,
        card=lambda microphone, speaker: wiring_setup.sound_card(clock, microphone, speaker),
        wake_words=wiring_setup.wake_words,
        known_wake_words=wiring_setup.shipped_wake_words(),
        transcriber=lambda now: wiring_setup.transcriber(home, now),
        voices=voices,
        voice=lambda name: wiring_setup.voice(home, name),
        fetch=fetch,
        languages=sorted({file.parent.name for file in shipped("soul").glob("*/assistant.toml")}),
        catalogue=lambda now: Catalogue.load(shipped("soul"), now.of(BoxConfig).language),
        check_model=lambda url, model, key: check_model(arguments, url, model, key),
        keep_model=lambda url, model, key: keep_model(arguments, url, model, key),
        button=lambda pin: wiring_setup.button(home, config(), clock, pin),
        faces=faces,
        known_faces=known_backends(),
    )
    return Kit(terminal, bench, clock, config, keep)
