"""Sound devices as PortAudio lists them, known by names that stay: numbers move with every boot and every plug."""

from __future__ import annotations

import ctypes
import enum
import logging
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import AudioError

_LOG = logging.getLogger(__name__)

#: ALSA's part of a name, with the numbers: "USB Audio: - (hw:1,0)".
_HARDWARE = re.compile(r"[\s:-]*\((?:plug)?hw:[^)]*\)$")
#: Tried in this order behind the device's own rate.
_COMMON_RATES_HZ = (48_000, 44_100, 16_000, 8_000)
#: Changes when a card is plugged in or pulled out.
_CARDS = Path("/proc/asound/cards")
#: What chooses the system's devices: ALSA's settings, and the doors of a sound server, below the user's run folder.
_ALSA_SETTINGS = (Path("/etc/asound.conf"), Path("~/.asoundrc"))
_SERVER_DOORS = ("pulse/native", "pipewire-0")


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
        """Rates and numbers of channels to try, best first; ``rates_hz`` come before all others.

        Two channels come before one: what offers many, such as a sound server, would mix them all into one.
        """
        most = self.channels(direction)
        for rate_hz in dict.fromkeys((*rates_hz, self.default_rate_hz, *_COMMON_RATES_HZ)):
            for channels in dict.fromkeys((min(2, most), 1, most)):
                yield rate_hz, channels


def load_portaudio() -> Any:
    """The sounddevice module. Raises ``AudioError`` when the system's PortAudio is missing."""
    try:
        import sounddevice
    except OSError as error:
        raise AudioError("PortAudio is not installed; install it with: sudo apt install libportaudio2") from error
    _quieten_alsa()
    return sounddevice


def _quieten_alsa() -> None:
    """Keep ALSA from writing a line to standard error for every gap and every failure, which PortAudio tells anyway.

    Its own errors are given to a function of C that does nothing: one of Python would be called on the audio thread.
    """
    try:
        alsa, nothing = ctypes.CDLL("libasound.so.2"), ctypes.CDLL(None).getppid
        alsa.snd_lib_error_set_handler(ctypes.cast(nothing, ctypes.c_void_p))
    except (OSError, AttributeError):
        _LOG.debug("ALSA tells its errors by itself")


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


def signs_of_change() -> str:
    """A text that is another one when sound cards came or went, the system's choice was set, or a server started."""
    try:
        cards = _CARDS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        cards = ""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    doors = [Path(folder, door) for door in _SERVER_DOORS] if folder else []
    return "\n".join([cards, *(_version(path) for path in (*_ALSA_SETTINGS, *doors))])


def seconds_asleep() -> float:
    """How long the machine has been suspended since it was switched on."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def _version(path: Path) -> str:
    try:
        found = path.expanduser().stat()
    except (OSError, RuntimeError):  # nothing there, or a user without a home
        return ""
    return f"{found.st_ino} {found.st_mtime_ns}"
