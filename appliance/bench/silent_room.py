"""A sound card for programs that are started to be measured: a private PulseAudio with a device that is silent."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from appliance.errors import UsageError
from appliance.promptness import environment_as_it_came

_START_SECONDS = 20.0
#: The machine's real cards are hidden.
_ALSA = "pcm.!default { type pulse }\nctl.!default { type pulse }\n"


@contextlib.contextmanager
def silent_room() -> Iterator[dict[str, str]]:
    """The environment of a program that plays there, and hears nothing. Raises ``UsageError`` without PulseAudio."""
    if shutil.which("pulseaudio") is None:
        raise UsageError("this benchmark plays into a silent sound device; install one: sudo apt install pulseaudio")
    with tempfile.TemporaryDirectory(prefix="room-") as name:
        folder = Path(name)
        socket, settings = folder / "native", folder / "asound.conf"
        settings.write_text(_ALSA, encoding="utf-8")
        private = {"HOME": name, "XDG_RUNTIME_DIR": name, "PULSE_SERVER": f"unix:{socket}"}
        environment = {**environment_as_it_came(), **private, "ALSA_CONFIG_PATH": str(settings)}
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
        # What is played is not heard: the box says its own wake word when it introduces itself.
        environment |= {"PULSE_SINK": "speaker", "PULSE_SOURCE": "mouth.monitor"}
        sinks = [f"module-null-sink rate=48000 sink_name={name}" for name in ("speaker", "mouth")]
        loads = (f"module-native-protocol-unix socket={socket} auth-anonymous=1", *sinks)
        command = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
        command += [f"--load={load}" for load in loads]
        server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_for(socket, server)
            yield environment
        finally:
            server.kill()
            server.wait()


def _wait_for(socket: Path, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_SECONDS
    while not socket.exists():
        if time.monotonic() > until or server.poll() is not None:
            raise UsageError("the private PulseAudio of this benchmark does not start")
        time.sleep(0.02)
