"""Where the things that show the face are chosen: settings in, backends out.

A setting that makes no sense takes away its own backend and is told; nothing about a face stops the box. Whether a
device is really there is found out by its own thread, which tries again later.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.clock import Clock
from appliance.config import Config
from appliance.errors import ConfigError
from appliance.face.config import FaceConfig
from appliance.face.emotions import EMOTIONS, known_to
from appliance.home import Home
from appliance.ports import FaceBackend
from appliance.ports_face import JOINTS, BoardSettings

if TYPE_CHECKING:
    from appliance.adapters.face_link import Port
    from appliance.adapters.face_servo_kernel import SysFiles
    from appliance.adapters.framebuffer import Framebuffer
    from appliance.adapters.i2c_bus import I2cBus
    from appliance.adapters.spi_bus import SpiBus

#: Who wants to know that a button on a face was pressed: "talk", "mute" or "stop", on any thread.
OnButton = Callable[[str], None]


@dataclass(frozen=True)
class Faces:
    """The backends, what was wrong with the settings of others, and how to hear of buttons on them."""

    backends: tuple[FaceBackend, ...] = ()
    problems: tuple[str, ...] = ()
    connect_buttons: Callable[[OnButton], None] = lambda _on_button: None


@dataclass(frozen=True)
class Buses:
    """How to get at the devices; nothing is opened before it is needed."""

    pins: Callable[[], Any]
    i2c: Callable[[int], I2cBus]
    #: Device file, clock in hertz.
    spi: Callable[[str, int], SpiBus]
    screen: Callable[[str], Framebuffer]
    serial: Callable[[str], Port]
    pulse_files: SysFiles
    pulse_folder: Path = Path("/sys/class/pwm")
    pause: Callable[[float], None] | None = None


def configured_faces(
    config: Config, home: Home, clock: Clock, picture: Path | None = None, *, shows_terminal: bool
) -> Faces:
    """Every configured backend; only the ``picture`` (and the terminal) when one is given."""
    face = config.of(FaceConfig)
    backends: list[FaceBackend] = []
    if picture is not None or "picture" in face.backends:
        from appliance.adapters.face_picture import PictureFace

        backends.append(PictureFace(picture or Path(face.picture_file or home.folder / "face.png")))
    if shows_terminal and "terminal" in face.backends and sys.stdout.isatty():
        from appliance.adapters.face_terminal import TerminalFace

        backends.append(TerminalFace(sys.stdout))
    if picture is not None:
        return Faces(tuple(backends))
    devices = device_faces(face, home, clock, _real_buses(home))
    return Faces((*backends, *devices.backends), devices.problems, devices.connect_buttons)


def device_faces(face: FaceConfig, home: Home, clock: Clock, buses: Buses) -> Faces:
    """The configured backends that are devices."""
    from appliance.adapters.face_serial import SerialFace

    backends: list[FaceBackend] = []
    problems: list[str] = []
    for name in dict.fromkeys(face.backends):
        try:
            if name in _DEVICES:
                backends.append(_DEVICES[name](face, home, clock, buses))
            else:
                check_backends((name,))
        except ConfigError as error:
            problems.append(str(error))

    def connect(on_button: OnButton) -> None:
        for backend in backends:
            if isinstance(backend, SerialFace):
                backend.on_button = on_button

    return Faces(tuple(backends), tuple(dict.fromkeys(problems)), connect)


def known_backends() -> tuple[str, ...]:
    """Every name that ``face.backends`` takes."""
    return (*_DRAWN, *_DEVICES)


def check_backends(names: Sequence[str]) -> None:
    """Raise ``ConfigError`` for a name of ``face.backends`` that is none."""
    for name in names:
        if name not in known_backends():
            raise ConfigError(f"face.backends: {name!r} is none; there are: {', '.join(known_backends())}")


def recorded_buses(folder: Path) -> Buses:
    """Buses that only remember; files lie in ``folder``, nobody waits."""
    from appliance.adapters.fakes.face_buses import (
        FakeBoardPort,
        FakeI2cBus,
        FakePulseFiles,
        FakeSpiBus,
        fake_pins,
    )
    from appliance.adapters.framebuffer import Framebuffer, Geometry

    def screen(_device: str) -> Framebuffer:
        (folder / "fb0").touch()
        return Framebuffer(str(folder / "fb0"), Geometry(800, 480, 32, 3200, 0, (16, 8), (8, 8), (0, 8)))

    files = FakePulseFiles(folder)
    return Buses(
        pins=fake_pins,
        i2c=lambda _number: FakeI2cBus(),
        spi=lambda _device, _hertz: FakeSpiBus(),
        screen=screen,
        serial=lambda _name: FakeBoardPort(),
        pulse_files=files,
        pulse_folder=files.chip.parent,
        pause=lambda _seconds: None,
    )


def recorded_faces(home: Home, clock: Clock) -> dict[str, FaceBackend]:
    """Every kind of device by name, on ``recorded_buses``."""
    buses = recorded_buses(home.folder)
    software = FaceConfig(servo_software=True, servo_joints=("lid=GPIO5", "mouth=GPIO6"))
    return {name: make(FaceConfig(), home, clock, buses) for name, make in _DEVICES.items()} | {
        "servo, in software": _servo(software, home, clock, buses)
    }


def board_file(home: Home) -> Path:
    """Where the settings of a head lie: what each servo is told for a degree."""
    return home.folder / "face.json"


def board_settings(home: Home) -> BoardSettings | None:
    """How the head is built; None when nobody has told. Raises ``ConfigError``."""
    file = board_file(home)
    try:
        return BoardSettings.read(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: {error}; correct it, or run: appliance face calibrate") from error


# ------------------------------------------------------------------------------------------ the devices


def _serial(face: FaceConfig, home: Home, clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_serial import SerialFace

    return SerialFace(
        "serial",
        partial(buses.serial, face.serial_port),
        clock,
        moods=list(EMOTIONS),
        known_mood=known_to,
        settings=board_settings(home),
    )


def _led(face: FaceConfig, _home: Home, _clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_led import LedFace

    if len(set(face.led_pins)) != 3:
        raise ConfigError('face.led_pins needs three pins, for red, green and blue, as ["GPIO22", "GPIO23", "GPIO24"]')
    red, green, blue = face.led_pins
    return LedFace(
        (red, green, blue),
        buses.pins,
        is_common_anode=face.led_is_common_anode,
        brightness_cap=face.led_brightness_percent / 100,
    )


def _strip(face: FaceConfig, _home: Home, _clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_strip import STRIP_HERTZ, StripFace

    return StripFace(
        partial(buses.spi, face.strip_device, STRIP_HERTZ),
        face.strip_lights,
        brightness_cap=face.strip_brightness_percent / 100,
    )


def _servo(face: FaceConfig, home: Home, clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_servo import Pulses
    from appliance.adapters.face_servo_gpio import GpioServos
    from appliance.adapters.face_servo_kernel import KernelServos

    wired = _joints("servo_joints", face.servo_joints)
    pulses: Pulses
    if face.servo_software:
        pulses = GpioServos(wired, buses.pins)
    else:
        channels = _numbers("servo_joints", wired, 15, "; a pin needs face.servo_software")
        pulses = KernelServos(channels, face.servo_chip, folder=buses.pulse_folder, files=buses.pulse_files)
    return _servo_face("servo", pulses, home, clock, buses)


def _pca9685(face: FaceConfig, home: Home, clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_pca9685 import Pca9685

    outputs = _numbers("pca9685_joints", _joints("pca9685_joints", face.pca9685_joints), 15)
    chip = Pca9685(partial(buses.i2c, face.i2c_bus), outputs, face.pca9685_address, now_seconds=clock.monotonic_seconds)
    return _servo_face("pca9685", chip, home, clock, buses)


def _servo_face(name: str, pulses: Any, home: Home, clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_servo import ServoFace

    settings = board_settings(home) or BoardSettings()
    pause = {} if buses.pause is None else {"pause": buses.pause}
    return ServoFace(name, pulses, settings, now_seconds=clock.monotonic_seconds, **pause)


def _matrix(face: FaceConfig, _home: Home, clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_matrix import MATRIX_HERTZ, MatrixFace

    if "strip" in face.backends and _bus_of(face.matrix_device) == _bus_of(face.strip_device):
        raise ConfigError(
            f"the strip takes what is meant for the matrix: both are on {_bus_of(face.strip_device)}. "
            "Set face.matrix_device to another bus, as /dev/spidev1.0"
        )
    quarter_turns, rest = divmod(face.matrix_turned_degrees, 90)
    if rest:
        raise ConfigError(f"face.matrix_turned_degrees must be 0, 90, 180 or 270, not {face.matrix_turned_degrees}")
    return MatrixFace(
        partial(buses.spi, face.matrix_device, MATRIX_HERTZ),
        face.matrix_modules,
        brightness_cap=face.matrix_brightness_percent / 100,
        quarter_turns=quarter_turns,
        now_seconds=clock.monotonic_seconds,
    )


def _oled(face: FaceConfig, _home: Home, clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_oled import OledFace

    if face.oled_height not in (32, 64):
        raise ConfigError(f"face.oled_height must be 32 or 64, not {face.oled_height}")
    return OledFace(
        partial(buses.i2c, face.i2c_bus), face.oled_height, face.oled_address, now_seconds=clock.monotonic_seconds
    )


def _screen(face: FaceConfig, _home: Home, _clock: Clock, buses: Buses) -> FaceBackend:
    from appliance.adapters.face_screen import ScreenFace

    return ScreenFace(partial(buses.screen, face.screen_device))


_DEVICES: Mapping[str, Callable[[FaceConfig, Home, Clock, Buses], FaceBackend]] = {
    "serial": _serial,
    "led": _led,
    "strip": _strip,
    "servo": _servo,
    "pca9685": _pca9685,
    "matrix": _matrix,
    "oled": _oled,
    "screen": _screen,
}
_DRAWN = ("terminal", "picture")


def _joints(setting: str, entries: tuple[str, ...]) -> dict[str, str]:
    """From entries like "lid=2": joint to where it is wired."""
    wired: dict[str, str] = {}
    for entry in entries:
        joint, _, place = (part.strip() for part in entry.partition("="))
        if joint not in JOINTS or not place or joint in wired or place in wired.values():
            raise ConfigError(
                f"face.{setting}: {entry!r} is no joint with a place of its own, as lid=2; "
                f"there are: {', '.join(JOINTS)}"
            )
        wired[joint] = place
    if not wired:
        raise ConfigError(f"face.{setting} names no joint, as lid=2")
    return wired


def _bus_of(spi_device: str) -> str:
    """Its bus: lights have no chip select, so they hear everything on it."""
    return spi_device.rpartition(".")[0]


def _numbers(setting: str, wired: Mapping[str, str], highest: int, hint: str = "") -> dict[str, int]:
    for joint, place in wired.items():
        if not place.isascii() or not place.isdigit() or int(place) > highest:
            raise ConfigError(f"face.{setting}: {joint}={place} needs a number from 0 to {highest}{hint}")
    return {joint: int(place) for joint, place in wired.items()}


def _real_buses(home: Home) -> Buses:
    from appliance.adapters.face_servo_kernel import KernelFiles
    from appliance.adapters.gpio_factory import pin_factory

    return Buses(
        pins=partial(pin_factory, home.runtime_folder),
        i2c=_i2c,
        spi=_spi,
        screen=_framebuffer,
        serial=_port,
        pulse_files=KernelFiles(),
    )


def _i2c(number: int) -> I2cBus:
    from appliance.adapters.i2c_bus import DeviceI2cBus

    return DeviceI2cBus(number)


def _spi(device: str, hertz: int) -> SpiBus:
    from appliance.adapters.spi_bus import DeviceSpiBus

    return DeviceSpiBus(device, hertz)


def _framebuffer(device: str) -> Framebuffer:
    from appliance.adapters.framebuffer import Framebuffer

    return Framebuffer(device)


def _port(name: str) -> Port:
    from appliance.adapters.serial_port import find_port, serial_port

    return serial_port(name or find_port())
