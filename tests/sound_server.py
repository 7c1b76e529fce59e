"""A real sound server for tests, private to them: the machine's own server, cards and settings are never touched.

It has two virtual devices. What a test plays into ``mouth`` is what the default microphone hears; what a program
plays on the default speaker goes to ``speaker``, whose monitor a test records. PortAudio sees both as ALSA's
``default`` device and sees no other: the machine's real cards are hidden.

PortAudio reads its surroundings once, when it is loaded. So the program under test runs as a child process with
``server.environment``; PortAudio inside the test's own process would find the machine's real cards.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from types import TracebackType

import numpy as np

from appliance.audio import AudioChunk
from tests.recording import RECORDING_FORMAT, Recording

#: A server that is not ready by then is broken.
_START_SECONDS = 30.0
#: How much longer than its sound a client may take.
_CLIENT_SECONDS = 20.0
_LATENCY = "--latency-msec=20"
# norewinds: PulseAudio then works in steps of 50 ms instead of 2 s. PipeWire has steps of its own.
_NULL_SINK = ("module-null-sink", "norewinds=1")

#: Settings of the server and its clients, by path below the private folder.
_SETTINGS = {
    # Complete in itself: the system's alsa.conf would bring in the real cards, and whatever /etc makes the default.
    "asound.conf": "pcm.!default { type pulse }\nctl.!default { type pulse }\n",
    # WirePlumber 0.5 without the monitors, which would open the real cards.
    "config/wireplumber/wireplumber.conf.d/no-cards.conf": """
        wireplumber.profiles = {
          main = { hardware.audio = disabled, hardware.bluetooth = disabled, hardware.video-capture = disabled }
        }
        """,
    # The same for WirePlumber 0.4: these take the place of files of that name, which enable everything.
    "config/wireplumber/main.lua.d/90-enable-all.lua": """
        load_module("metadata")
        load_access("default", { rules = {} })
        load_module("default-nodes", { ["use-persistent-storage"] = false })
        """,
    "config/wireplumber/bluetooth.lua.d/90-enable-all.lua": "",
}


class SoundServerError(Exception):
    """The server or one of its clients failed; says what they printed."""


class SoundServer:
    """PulseAudio where it is installed, else PipeWire with its PulseAudio door. Runs until the block ends."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sound-"))
        self._processes: list[subprocess.Popen[bytes]] = []
        #: The server's numbers for the devices, by their names.
        self._modules: dict[str, str] = {}
        self._socket = self._folder / "run" / "pulse" / "native"
        self._log = self._folder / "log"
        for name in ("home", "run", "run/pulse"):
            (self._folder / name).mkdir(mode=0o700)
        for name, text in _SETTINGS.items():
            file = self._folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def __enter__(self) -> SoundServer:
        try:
            self.restart()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def environment(self) -> dict[str, str]:
        """Environment for a program that is to use this server; its HOME is private too."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PULSE_", "PIPEWIRE_", "WIREPLUMBER_", "ALSA_", "XDG_", "DBUS_"))
        }
        return {
            **kept,
            "HOME": str(self._folder / "home"),
            "XDG_RUNTIME_DIR": str(self._folder / "run"),
            "XDG_CONFIG_HOME": str(self._folder / "config"),
            "XDG_STATE_HOME": str(self._folder / "state"),
            "PULSE_SERVER": f"unix:{self._socket}",
            "ALSA_CONFIG_PATH": str(self._folder / "asound.conf"),
            # Without one, clients and servers start or find the desktop's bus.
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
        }

    def restart(self) -> None:
        """Start the server, or start it anew; returns when both devices are there."""
        self.stop()
        if shutil.which("pulseaudio"):
            self._start_pulseaudio()
        else:
            self._start_pipewire()
        self.plug_in()

    def plug_in(self, *, rate_hz: int = 48_000, channels: int = 1) -> None:
        """Give the server its two devices."""
        self.plug_in_one("mouth", rate_hz=rate_hz, channels=channels)
        self.plug_in_one("speaker", rate_hz=rate_hz, channels=channels)
        self.choose("mouth", "speaker")

    def plug_in_one(self, name: str, *, rate_hz: int = 48_000, channels: int = 1) -> None:
        """Give the server one device more; its monitor is a microphone."""
        shape = (f"rate={rate_hz}", f"channels={channels}")
        self._modules[name] = self._ask("load-module", *_NULL_SINK, *shape, f"sink_name={name}").strip()

    def choose(self, mouth: str, speaker: str) -> None:
        """Make these two the system's choice."""
        self._control("set-default-sink", speaker)
        self._control("set-default-source", f"{mouth}.monitor")

    def unplug(self) -> None:
        """Take all devices away under the server."""
        self._control("unload-module", _NULL_SINK[0])

    def unplug_one(self, name: str) -> None:
        """Take one device away under the server."""
        self._control("unload-module", self._modules.pop(name))

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Inside the block the server does nothing, not even refuse."""
        for process in self._processes:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in self._processes:
                process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the server under its clients, as when a sound card is pulled out."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        self._processes.clear()
        self._socket.unlink(missing_ok=True)

    def close(self) -> None:
        """Stop and leave nothing behind; safe to call twice."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def play(self, wav: Path, mouth: str = "mouth") -> None:
        """Play a file into the mouth; returns when its last sample was played."""
        self._client(["paplay", f"--device={mouth}", _LATENCY, str(wav)], b"", within_seconds=600.0)

    def play_samples(self, audio: AudioChunk, mouth: str = "mouth") -> None:
        """Play a chunk into the mouth; returns when its last sample was played."""
        command = ["pacat", "--playback", f"--device={mouth}", _LATENCY, *_raw(audio.format.sample_rate_hz)]
        command.append(f"--channels={audio.format.channels}")
        self._client(command, audio.samples.tobytes(), within_seconds=audio.duration_seconds + _CLIENT_SECONDS)

    @contextmanager
    def echo(self, *, late_seconds: float) -> Iterator[None]:
        """Inside the block the microphone hears what the speaker plays, so much later and as loud: a hard room."""
        loopback = ("module-loopback", "source=speaker.monitor", "sink=mouth", f"latency_msec={late_seconds * 1e3:.0f}")
        self._control("load-module", *loopback)
        try:
            yield
        finally:
            self._control("unload-module", loopback[0])

    @contextmanager
    def record(self, speaker: str = "speaker") -> Iterator[Recording]:
        """Record the speaker for as long as the block runs; recording has begun when it starts."""
        command = [
            "parec",
            f"--device={speaker}.monitor",
            _LATENCY,
            *_raw(RECORDING_FORMAT.sample_rate_hz),
            "--channels=1",
        ]
        recording = Recording()
        recorder = self._spawn(command, stdout=subprocess.PIPE)
        assert isinstance(recorder.stdout, BufferedReader)
        thread = threading.Thread(target=_collect, args=(recorder.stdout, recording), daemon=True)
        thread.start()
        try:
            recording.wait_until_begun(_CLIENT_SECONDS)
            yield recording
        finally:
            recorder.send_signal(signal.SIGTERM)
            recorder.wait()
            thread.join()
            recorder.stdout.close()

    def _start_pulseaudio(self) -> None:
        listen = f"module-native-protocol-unix socket={self._socket} auth-anonymous=1"
        command = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", f"--load={listen}"]
        self._processes.append(self._spawn(command))
        self._until(lambda: self._try("info"))

    def _start_pipewire(self) -> None:
        self._processes.append(self._spawn(["pipewire"]))
        self._until((self._folder / "run" / "pipewire-0").exists)
        for command in ("wireplumber", "pipewire-pulse"):
            self._processes.append(self._spawn([command]))
        self._until(lambda: self._try("info"))

    def _control(self, *command: str) -> None:
        # PipeWire refuses some commands until its session manager is up.
        self._until(lambda: self._try(*command))

    def _until(self, is_so: Callable[[], bool]) -> None:
        """Look again and again; the servers have no common way of saying that they are ready."""
        deadline = time.monotonic() + _START_SECONDS
        while not is_so():
            ended = [process for process in self._processes if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                what = f"{ended[0].args!r} ended" if ended else f"not ready within {_START_SECONDS:g} s"
                raise SoundServerError(f"no sound server: {what}:\n{self._logged()}")
            time.sleep(0.02)

    def _try(self, *arguments: str) -> bool:
        return self._spawn(["pactl", *arguments]).wait(_CLIENT_SECONDS) == 0

    def _ask(self, *command: str) -> str:
        """What the server answers, once it does."""
        answers: list[str] = []

        def try_it() -> bool:
            with self._spawn(["pactl", *command], stdout=subprocess.PIPE) as process:
                answer, _ = process.communicate(timeout=_CLIENT_SECONDS)
                answers.append(answer.decode())
            return process.returncode == 0

        self._until(try_it)
        return answers[-1]

    def _client(self, command: list[str], given: bytes, *, within_seconds: float) -> None:
        process = self._spawn(command, stdin=subprocess.PIPE)
        try:
            process.communicate(given, timeout=within_seconds)
        finally:
            process.kill()
            process.wait()
        if process.returncode != 0:
            raise SoundServerError(f"{command[0]} failed with code {process.returncode}:\n{self._logged()}")

    def _spawn(
        self, command: list[str], *, stdin: int = subprocess.DEVNULL, stdout: int | None = None
    ) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                # Nothing survives the tests, even when they are killed. (Nor the thread that starts it.)
                ["setpriv", "--pdeathsig", "KILL", *command],
                env=self.environment,
                stdin=stdin,
                stdout=log if stdout is None else stdout,
                stderr=log,
            )

    def _logged(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-4000:]


def _raw(rate_hz: int) -> list[str]:
    return ["--raw", "--format=s16le", f"--rate={rate_hz}"]


def _collect(stream: BufferedReader, recording: Recording) -> None:
    """Hand on what the recorder gives, until it ends."""
    rest = b""
    while piece := stream.read1(65536):
        at_seconds = time.monotonic()
        data = rest + piece
        whole = len(data) // 2 * 2
        rest = data[whole:]
        recording.add(np.frombuffer(data[:whole], dtype=np.int16), at_seconds)
    recording.finish()
