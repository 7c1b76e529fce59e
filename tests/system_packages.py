"""Debian packages that the tests need beyond the program's own; `./run test` installs those that are missing.

``python -m tests.system_packages`` prints one line for each missing package: its name, and what it is for.
"""

from __future__ import annotations

import ctypes.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SystemPackage:
    """A Debian package, what it is for, and how to see that it is there."""

    name: str
    purpose: str
    is_there: Callable[[], bool]


def sound_packages() -> tuple[SystemPackage, ...]:
    """A sound server and its tools. PipeWire's own where PipeWire is: PulseAudio may not come in beside it."""
    server = SystemPackage("pulseaudio", "sound server for the tests", _command("pulseaudio"))
    servers: tuple[SystemPackage, ...] = (server,)
    if not server.is_there() and shutil.which("pipewire"):
        servers = (
            SystemPackage("pipewire-pulse", "sound server for the tests", _command("pipewire-pulse")),
            SystemPackage("wireplumber", "connects the sound server's devices", _command("wireplumber")),
        )
    return (
        *servers,
        SystemPackage("pulseaudio-utils", "plays and records in the tests", _command("pactl", "parec", "pacat")),
        SystemPackage("libasound2-plugins", "leads PortAudio to the sound server", _has_alsa_plugin),
    )


def firmware_packages() -> tuple[SystemPackage, ...]:
    """What builds the face's firmware and runs it on a simulated chip."""
    return (
        SystemPackage("gcc", "builds the firmware's tests", _command("gcc")),
        SystemPackage("libc6-dev", "builds the firmware's tests", _file("/usr/include/pty.h")),
        SystemPackage("make", "builds the firmware", _command("make")),
        SystemPackage("gcc-avr", "builds the firmware", _command("avr-gcc")),
        SystemPackage("avr-libc", "builds the firmware", _file("/usr/lib/avr/include/avr/io.h")),
        SystemPackage("libsimavr-dev", "runs the firmware without a board", _file("/usr/include/simavr/sim_avr.h")),
        SystemPackage("libelf-dev", "runs the firmware without a board", _file("/usr/include/libelf.h")),
    )


def packages() -> tuple[SystemPackage, ...]:
    """Everything that some test needs."""
    return (
        *sound_packages(),
        *firmware_packages(),
        SystemPackage(
            "pocketsphinx-testdata", "human speech with transcripts", _folder("/usr/share/pocketsphinx/test")
        ),
        SystemPackage("iproute2", "lays cables between network namespaces", _command("ip")),
        SystemPackage("openssl", "certificates for the servers in the tests", _command("openssl")),
        SystemPackage("bubblewrap", "keeps the programs of plugins in", _command("bwrap")),
        SystemPackage("systemd", "runs the service in the tests", _command("systemd-analyze", "systemctl")),
        SystemPackage("libduktape207", "reads the rules for polkit", _library("duktape")),
        SystemPackage("debootstrap", "a Debian to install into", _command("debootstrap")),
        SystemPackage("chromium", "opens the page as its owner does", _command("chromium")),
        SystemPackage("shellcheck", "reads the shell scripts", _command("shellcheck")),
    )


def missing(wanted: tuple[SystemPackage, ...]) -> tuple[SystemPackage, ...]:
    """Those of ``wanted`` that this system lacks."""
    return tuple(package for package in wanted if not package.is_there())


def _command(*names: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name) for name in names)


def _library(name: str) -> Callable[[], bool]:
    return lambda: ctypes.util.find_library(name) is not None


def _folder(path: str) -> Callable[[], bool]:
    return Path(path).is_dir


def _file(path: str) -> Callable[[], bool]:
    return Path(path).is_file


def _has_alsa_plugin() -> bool:
    return any(Path("/usr/lib").glob("*/alsa-lib/libasound_module_pcm_pulse.so"))


if __name__ == "__main__":
    for package in missing(packages()):
        print(package.name, package.purpose)
