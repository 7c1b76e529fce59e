"""A box that is set up at a fake terminal, with fake devices around it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from appliance.adapters.fakes.button import FakeButton
from appliance.adapters.fakes.face import FakeFace
from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.terminal import FakeTerminal
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.audio import Samples
from appliance.catalogue import Catalogue
from appliance.cli.setup_kit import Bench, Kit, Voice
from appliance.clock import FakeClock
from appliance.config import Config, load
from appliance.config_file import set_values
from appliance.errors import ConfigError, WeightsError
from appliance.home import Home, shipped
from appliance.ports import Button, FaceBackend, Render, Synthesizer
from appliance.think.model_check import EndpointCheck

RATE_HZ = 16_000


def noise(dbfs: float, seconds: float = 5.0) -> Samples:
    """A voice of that level."""
    wave = np.random.default_rng(1).normal(0.0, 1.0, round(seconds * RATE_HZ)) * 32768.0 * 10 ** (dbfs / 20.0)
    return np.clip(wave, -32768, 32767).astype(np.int16)


class Card(FakeSoundCard):
    """A card whose speaker plays by itself, and keeps what it played."""

    def __init__(self, microphone: str, speaker: str, sound: Samples) -> None:
        super().__init__(microphone, speaker)
        self.played: list[Samples] = []
        self._to_hear = sound

    async def open(self, render: Render) -> None:
        await super().open(render)
        self.hear(self._to_hear)
        self._playing = asyncio.create_task(self._play())

    async def _play(self) -> None:
        while not self.is_closed:
            self.played.append(self.play(RATE_HZ // 50))
            await asyncio.sleep(0)

    async def close(self) -> None:
        await super().close()
        await self._playing


class House:
    """A box that is set up, and everything around it."""

    def __init__(self, folder: Path, *answers: str | Callable[[], str]) -> None:
        self.home = Home(folder)
        self.clock = FakeClock()
        self.terminal = FakeTerminal(*answers)
        self.sounds: list[Samples] = []
        self.cards: list[Card] = []
        self.devices = [
            {"name": "USB Audio", "input_channels": 2, "output_channels": 2},
            {"name": "Headset", "input_channels": 1, "output_channels": 0},
        ]
        self.voice = FakeSynthesizer()
        self.detector = FakeWakeWords()
        self.ears = FakeTranscriber("okay nah boo")
        self.voices = [Voice("joe", True), Voice("alba", False, 63.0)]
        self.fetched: list[str] = []
        self.fetch_fails = ""
        self.models: list[tuple[str, str, str | None]] = []
        self.checked: list[tuple[str, str, str | None]] = []
        self.model_works = True
        self.button = FakeButton(self.clock)
        self.pins: list[str] = []
        self.faces: list[FaceBackend] = [FakeFace("lamp")]
        self.refused: dict[str, str] = {}
        bench = Bench(
            sound_devices=lambda: self.devices,
            card=self._card,
            wake_words=lambda _words: self.detector,
            known_wake_words=("okay_nabu", "alexa"),
            transcriber=lambda _config: self.ears,
            voices=lambda _language: self.voices,
            voice=self._voice,
            fetch=self._fetch,
            languages=("en",),
            catalogue=lambda _config: Catalogue.load(shipped("soul"), "en"),
            check_model=self._check_model,
            keep_model=lambda url, model, key: self.models.append((url, model, key)),
            button=self._button,
            faces=lambda _names: self.faces,
            known_faces=("terminal", "lamp"),
        )
        self.kit = Kit(self.terminal, bench, self.clock, self.config, self._keep)

    def config(self) -> Config:
        return load(self.home.config_file, {})

    def value(self, key: str) -> Any:
        return self.kit.value(key)

    async def do(self, step: Callable[[Kit], Coroutine[Any, Any, None]]) -> str:
        """One step; what the person saw. Every answer that was typed must have been asked for."""
        await step(self.kit)
        assert self.terminal.unused == []
        return self.terminal.text

    async def _keep(self, key: str, text: str | None) -> str:
        if key in self.refused:
            raise ConfigError(self.refused[key])
        section, _, name = key.partition(".")
        value = getattr(load(None, {}, {key: text or ""}).sections[section], name)
        set_values(self.home.config_file, section, {name: list(value) if isinstance(value, tuple) else value})
        return f"{key} is kept; from the next start"

    def _card(self, microphone: str, speaker: str) -> Card:
        sound = self.sounds.pop(0) if self.sounds else np.zeros(0, dtype=np.int16)
        names = [str(device["name"]) for device in self.devices]
        self.cards.append(Card(microphone or next(iter(names), ""), speaker or next(iter(names), ""), sound))
        return self.cards[-1]

    def _voice(self, name: str) -> Synthesizer:
        if not any(voice.name == name and voice.is_here for voice in self.voices) and name != "en_US-joe-medium":
            raise WeightsError(f"the weights {name} are not here")
        self.voice = FakeSynthesizer()
        return self.voice

    async def _fetch(self, name: str) -> None:
        if self.fetch_fails:
            raise WeightsError(self.fetch_fails)
        self.fetched.append(name)
        self.voices = [replace(voice, is_here=True) for voice in self.voices]

    async def _check_model(self, url: str, model: str, key: str | None) -> EndpointCheck:
        self.checked.append((url, model, key))
        return EndpointCheck(self.model_works, "It answers." if self.model_works else "It does not answer.")

    def _button(self, pin: str) -> Button:
        self.pins.append(pin)
        return self.button
