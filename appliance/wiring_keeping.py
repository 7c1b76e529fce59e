"""What backup, restore and reset need of the outside."""

from __future__ import annotations

from pathlib import Path

from appliance.approve.config import ButtonConfig
from appliance.config import Config
from appliance.errors import AudioError
from appliance.face.config import FaceConfig
from appliance.listen.config import AudioConfig
from appliance.ports_privacy import ChatCipher


def chat_cipher() -> ChatCipher:
    """What hides keys behind a passphrase."""
    from appliance.adapters.chat_cipher import AesChatCipher

    return AesChatCipher()


def strange_devices(config: Config) -> list[str]:
    """Devices that the settings name and that this machine does not have, a sentence each with what there is."""
    return [*_sound(config.of(AudioConfig)), *_face(config.of(FaceConfig)), *_button(config.of(ButtonConfig))]


def _sound(audio: AudioConfig) -> list[str]:
    from appliance.adapters.sound_devices import devices

    wanted = (("microphone", audio.microphone), ("speaker", audio.speaker))
    if not any(name for _, name in wanted):
        return []
    try:
        found = devices()
    except AudioError as error:
        return [f"whether the microphone and the speaker are here cannot be told: {error}"]
    told = []
    for what, name in wanted:
        there = [device.name for device in found if device.input_channels and what == "microphone"]
        there += [device.name for device in found if device.output_channels and what == "speaker"]
        if name and not any(name.lower() in device.lower() for device in there):
            told.append(f'the {what} {name!r} is not here; {_there(there)}. Set audio.{what} to one of them, or to ""')
    return told


def _face(face: FaceConfig) -> list[str]:
    if "serial" not in face.backends or not face.serial_port.startswith("/") or Path(face.serial_port).exists():
        return []
    folder = Path("/dev/serial/by-id")
    boards = sorted(str(board) for board in folder.iterdir()) if folder.is_dir() else []
    return [f"the face's board {face.serial_port} is not here; {_there(boards)}. Set face.serial_port to one of them"]


def _button(button: ButtonConfig) -> list[str]:
    if not button.pin or any(Path("/dev").glob("gpiochip*")):
        return []
    return [f'the button is on pin {button.pin}, and this machine has no pins. Set button.pin to ""']


def _there(names: list[str]) -> str:
    return f"there are: {', '.join(dict.fromkeys(names))}" if names else "there is none"
