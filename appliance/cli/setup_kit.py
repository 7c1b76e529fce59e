"""What every step of the guided set-up works with: the person, the devices, the settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from appliance.catalogue import Catalogue
from appliance.cli.terminal import Terminal
from appliance.clock import Clock
from appliance.config import Config
from appliance.errors import ConfigError
from appliance.ports import Button, FaceBackend, SoundCard, Synthesizer, Transcriber, WakeWordDetector
from appliance.think.model_check import EndpointCheck


@dataclass(frozen=True)
class Voice:
    """A voice that can be had."""

    name: str
    is_here: bool
    megabytes: float | None = None


@dataclass(frozen=True)
class Bench:
    """Where the steps get devices and weights from; what cannot be had raises an ``ApplianceError`` that says why."""

    #: As ``appliance devices --json`` lists them.
    sound_devices: Callable[[], Sequence[dict[str, Any]]]
    #: (microphone, speaker) -> a card that is not open yet.
    card: Callable[[str, str], SoundCard]
    wake_words: Callable[[Sequence[str]], WakeWordDetector]
    known_wake_words: Sequence[str]
    transcriber: Callable[[Config], Transcriber]
    #: The voices that speak a language.
    voices: Callable[[str], Sequence[Voice]]
    voice: Callable[[str], Synthesizer]
    fetch: Callable[[str], Awaitable[None]]
    languages: Sequence[str]
    #: The sentences of the language that is set.
    catalogue: Callable[[Config], Catalogue]
    #: (url, model, key; None takes the stored one) -> whether it works.
    check_model: Callable[[str, str, str | None], Awaitable[EndpointCheck]]
    #: (url, model, key; None leaves the stored one) -> the same for good.
    keep_model: Callable[[str, str, str | None], None]
    #: Which pin -> a button that is not open yet.
    button: Callable[[str], Button]
    #: Names of ``face.backends`` -> those that can be made.
    faces: Callable[[Sequence[str]], Sequence[FaceBackend]]
    known_faces: Sequence[str]


@dataclass(frozen=True)
class Kit:
    """One set-up. ``keep`` writes a setting and says from when on it holds; None takes it out."""

    terminal: Terminal
    bench: Bench
    clock: Clock
    config: Callable[[], Config]
    keep: Callable[[str, str | None], Awaitable[str]]
    #: What was changed, in words.
    changes: list[str] = field(default_factory=list)

    def value(self, key: str) -> Any:
        """The value that holds now of SECTION.KEY."""
        section, _, name = key.partition(".")
        return getattr(self.config().sections[section], name)

    async def set(self, key: str, text: str) -> bool:
        """Keep a setting; False, and why in words, when it cannot be."""
        try:
            said = await self.keep(key, text)
        except ConfigError as error:
            self.terminal.say(f"  {error}")
            return False
        self.terminal.say(f"  {said}")
        self.changes.append(said.partition(";")[0])
        return True

    async def yes(self, question: str, *, usual: bool = True) -> bool:
        """Yes or no; Enter is the usual one."""
        while True:
            answer = (await self.terminal.ask(f"{question} [{'Y/n' if usual else 'y/N'}]")).lower()
            if not answer:
                return usual
            if answer[0] in "yn":
                return answer[0] == "y"

    async def choose(self, options: Sequence[str], *, notes: Sequence[str] = (), now: str = "") -> str | None:
        """One of them, by number or name; None for Enter, which leaves all as it is."""
        for number, option in enumerate(options, 1):
            note = f"  {notes[number - 1]}" if notes else ""
            self.terminal.say(f"  {number:2}  {option}{note}{'  <- now' if option == now else ''}".rstrip())
        while True:
            answer = await self.terminal.ask("Number or name, Enter leaves it as it is:")
            if not answer:
                return None
            if answer.isdigit() and 1 <= int(answer) <= len(options):
                return options[int(answer) - 1]
            fitting = [option for option in options if answer.casefold() in option.casefold()]
            exact = [option for option in fitting if option.casefold() == answer.casefold()]
            if len(exact or fitting) == 1:
                return (exact or fitting)[0]
            self.terminal.say(f"  {answer!r} is {'more than one' if fitting else 'none'} of them.")
