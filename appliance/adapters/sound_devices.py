"""Sound devices as PortAudio lists them, known by names that stay: numbers move with every boot and every plug."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import AudioError

#: ALSA's part of a name, with the numbers: "USB Audio: - (hw:1,0)".
_HARDWARE = re.compile(r"[\s:-]*\((?:plug)?hw:[^)]*\)$")
#: Tried in this order behind the device's own rate.
_COMMON_RATES_HZ = (48_000, 44_100, 16_000, 8_000)
#: Changes when a card is plugged in or pulled out.
_CARDS = Path("/proc/asound/cards")


class Direction(enum.StrEnum):
    """Which way sound goes."""

    INPUT = "microphone"
    OUTPUT = "speaker"


@dataclass(frozen=True)
class SoundDevice:
    """One device. ``index`` is PortAudio's and valid only until the devices are listed anew; nobody stores it."""

    name: str
    index: int
    input_channels: int
    output_channels: int
    default_rate_hz: int
    is_hardware: bool = False
    is_default_input: bool = False
    is_default_output: bool = False

    def channels(self, direction: Direction) -> int:
        """Most channels it has in one direction; 0 when it has none."""
        return self.input_channels if direction is Direction.INPUT else self.output_channels

    def is_default(self, direction: Direction) -> bool:
        """Whether it is the system's choice."""
        return self.is_default_input if direction is Direction.INPUT else self.is_default_output

    def shapes(self, direction: Direction, rates_hz: Sequence[int] = ()) -> Iterator[tuple[int, int]]:
        """Rates and numbers of channels to try, best first; only ``rates_hz`` when given.

        Two channels come before one: what offers many, such as a sound server, would mix them all into one.
        """
        most = self.channels(direction)
        for rate_hz in dict.fromkeys(rates_hz or (self.default_rate_hz, *_COMMON_RATES_HZ)):
            for channels in dict.fromkeys((min(2, most), 1, most)):
                yield rate_hz, channels


def load_portaudio() -> Any:
    """The sounddevice module. Raises ``AudioError`` when the system's PortAudio is missing."""
    try:
        import sounddevice
    except OSError as error:
        raise AudioError("PortAudio is not installed; install it with: sudo apt install libportaudio2") from error
    return sounddevice


def look_again(portaudio: Any) -> None:
    """Make PortAudio see devices that came or went; every stream must be closed. Raises ``AudioError``."""
    try:
        # sounddevice has no public names for these, and PortAudio no other way.
        portaudio._terminate()
        portaudio._initialize()
    except portaudio.PortAudioError as error:
        raise AudioError(f"the sound devices cannot be looked for again: {error}") from error


def list_devices(portaudio: Any) -> tuple[SoundDevice, ...]:
    """Every device. Raises ``AudioError`` when PortAudio cannot list them."""
    try:
        listed = list(portaudio.query_devices())
        default_input, default_output = portaudio.default.device
    except portaudio.PortAudioError as error:
        raise AudioError(f"the sound devices cannot be listed: {error}") from error
    return tuple(
        SoundDevice(
            name=stable_name(entry["name"]),
            index=index,
            input_channels=entry["max_input_channels"],
            output_channels=entry["max_output_channels"],
            default_rate_hz=round(entry["default_samplerate"]),
            is_hardware="(hw:" in entry["name"],
            is_default_input=index == default_input,
            is_default_output=index == default_output,
        )
        for index, entry in enumerate(listed)
    )


def devices() -> tuple[SoundDevice, ...]:
    """Every device of this machine, for ``appliance devices``; takes a moment. Raises ``AudioError``."""
    return list_devices(load_portaudio())


def stable_name(name: str) -> str:
    """The part of PortAudio's name that does not move."""
    return _HARDWARE.sub("", name).strip()


def candidates(found: Iterable[SoundDevice], wanted: str, direction: Direction) -> list[SoundDevice]:
    """Devices to try, best first: those called ``wanted``, else those with it in their name.

    Without a name: the system's choice, then hardware, then the rest. A name that nothing has gives none: sound must
    not go to or come from a device that nobody chose.
    """
    usable = [device for device in found if device.channels(direction)]
    if not wanted:
        return sorted(usable, key=lambda device: (not device.is_default(direction), not device.is_hardware))
    name = stable_name(wanted).casefold()
    exact = [device for device in usable if device.name.casefold() == name]
    return exact or [device for device in usable if name in device.name.casefold()]


def missing(found: Iterable[SoundDevice], wanted: str, direction: Direction) -> str:
    """What to tell when there are no ``candidates``."""
    names = ", ".join(dict.fromkeys(repr(device.name) for device in found if device.channels(direction)))
    if not wanted or not names:
        return f"no {direction} was found; plug one in (`appliance devices` lists what the system has)"
    return f"there is no {direction} named {wanted!r}; there are: {names} (set audio.{direction})"


def cards_of_this_machine() -> str:
    """A text that changes when a sound card comes or goes; "" where the system does not tell."""
    try:
        return _CARDS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
