"""An owner's shell: commands in a home of their own, with what they printed and how they ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from appliance.audio import AudioChunk, AudioFormat
from appliance.cli.main import main
from tests.e2e.device import PATIENCE_SECONDS, environment_without_sound

#: What a shell may inherit that would change a test.
_OURS = ("APPLIANCE_", "OPENAI_", "CREDENTIALS_DIRECTORY", "RUNTIME_DIRECTORY", "NOTIFY_SOCKET", "JOURNAL_STREAM")


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON document."""
        return json.loads(self.out)


class Shell:
    """Runs commands in this process: fast, and nothing is loaded twice."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.home = folder / "home"
        self._patch = patch
        self._capture = capture
        for name in [name for name in os.environ if name.startswith(_OURS)]:
            patch.delenv(name)
        patch.setenv("APPLIANCE_HOME", str(self.home))
        patch.chdir(folder)

    def __call__(self, *words: str | Path, stdin: str = "") -> Ran:
        """Run a command; it must end in time, and show no traceback unless it was told to."""
        given = self.folder / "stdin"
        given.write_text(stdin, encoding="utf-8")
        self._capture.readouterr()
        with given.open(encoding="utf-8") as stream, _patience():
            self._patch.setattr(sys, "stdin", stream)
            code = main([str(word) for word in words])
        captured = self._capture.readouterr()
        if "--debug" not in words:
            assert "Traceback" not in captured.err, captured.err
        return Ran(code, captured.out, captured.err)

    def set_variable(self, name: str, value: str) -> None:
        """Set an environment variable."""
        self._patch.setenv(name, value)

    def write(self, file: str, text: str) -> Path:
        """A file in the home."""
        path = self.home / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Process:
    """``appliance`` as a process of its own, on a machine without sound."""

    def __init__(self, folder: Path, *, variables: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.home = folder / "home"
        inherited = {name: value for name, value in environment_without_sound().items() if not name.startswith(_OURS)}
        self.environment = {**inherited, "APPLIANCE_HOME": str(self.home), **(variables or {})}

    def __call__(self, *words: str | Path, stdin: str = "", cwd: Path | None = None) -> Ran:
        """Run it to its end."""
        ran = subprocess.run(
            self.command(*words),
            env=self.environment,
            cwd=cwd or self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        if "--debug" not in words:
            assert "Traceback" not in ran.stderr, ran.stderr
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    @staticmethod
    def command(*words: str | Path) -> list[str]:
        """The words that start it."""
        return [sys.executable, "-m", "appliance.cli.main", *map(str, words)]


class Bound(Process):
    """The same, held to what files and folders allow their owner: root too may then not write everywhere."""

    @staticmethod
    def command(*words: str | Path) -> list[str]:
        """The words that start it."""
        held = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--"] if os.geteuid() == 0 else []
        return [*held, *Process.command(*words)]


def read_wav(file: Path) -> AudioChunk:
    """A 16-bit mono file as sound."""
    import wave

    import numpy as np

    with wave.open(str(file)) as stream:
        assert (stream.getnchannels(), stream.getsampwidth()) == (1, 2)
        samples = np.frombuffer(stream.readframes(stream.getnframes()), dtype="<i2")
        return AudioChunk(samples.astype(np.int16), AudioFormat(stream.getframerate()))


@contextmanager
def _patience() -> Iterator[None]:
    """A command that hangs fails its test instead of holding up all the others."""

    def give_up(_number: int, _frame: object) -> None:
        pytest.fail(f"the command did not end within {PATIENCE_SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
