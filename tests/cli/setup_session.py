"""Somebody at a terminal who goes through the whole set-up, and speaks when asked to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import select
import subprocess
from collections.abc import Mapping
from pathlib import Path

from appliance import models
from appliance.adapters.piper import PiperSynthesizer
from appliance.audio import AudioChunk, join
from tests.cli.shell import Process
from tests.recording import RECORDING_FORMAT
from tests.sound_server import SoundServer

SPEECH = "This is how I speak to the box, at my usual loudness, from where I sit. Now and then a little more."
#: The end of a question, what is typed, and what is said behind it.
SESSION = (
    ("Name of the box", "Ada", ""),
    ("Number or name", "1", ""),
    ("then speak", "", SPEECH),
    ("Number or name", "1", ""),
    ("Did you hear", "y", ""),
    ("Number or name", "okay", ""),
    ("then say", "", "Okay nabu."),
    ("Number or name", "", ""),
    ("URL of a model", "http://127.0.0.1:9", ""),
    ("Name of the model", "", ""),
    ("Its key", "owl-4711-feather", ""),
    ("Keep it all", "n", ""),
    ("Pin of the button", "", ""),
    ("What shows the face", "terminal", ""),
    ("Do you see", "y", ""),
)
_PATIENCE_SECONDS = 60.0
_READ_BYTES = 4096


def hold_session(server: SoundServer, variables: Mapping[str, str]) -> str:
    """Everything that the terminal showed, from the first line to the last."""
    sounds = {words: _spoken(words) for _, _, words in SESSION if words}
    leader, follower = pty.openpty()
    setup = subprocess.Popen(
        Process.command("setup"),
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, **server.environment, **variables},
        start_new_session=True,
    )
    os.close(follower)
    try:
        shown = ""
        for question, answer, words in SESSION:
            seen = len(shown)
            while question not in shown[seen:]:
                shown += _read(leader) or _fail(shown)
            os.write(leader, f"{answer}\n".encode())
            if words:
                while "dB" not in shown[seen:] and words is SPEECH:
                    shown += _read(leader) or _fail(shown)
                server.play_samples(sounds[words])
        while piece := _read(leader):
            shown += piece
        assert setup.wait(_PATIENCE_SECONDS) == 0, shown
        return shown
    finally:
        setup.kill()
        setup.wait()
        os.close(leader)


def _fail(shown: str) -> str:
    """It ended before its last question."""
    raise AssertionError(f"the set-up ended, or hangs:\n{shown}")


def _read(leader: int) -> str:
    """What it prints next; "" at its end."""
    if not select.select([leader], [], [], _PATIENCE_SECONDS)[0]:
        return ""
    with contextlib.suppress(OSError):  # a terminal that nobody has open any more
        return os.read(leader, _READ_BYTES).decode(errors="replace")
    return ""


def _spoken(words: str) -> AudioChunk:
    """A voice that says it, as the virtual mouth takes it."""
    import numpy as np
    import soxr

    async def speak() -> AudioChunk:
        voice = PiperSynthesizer(models.locate("en_US-joe-medium", Path()))
        try:
            pieces = [piece.audio async for piece in voice.synthesize(words)]
        finally:
            voice.close()
        return join(pieces, pieces[0].format)

    said = asyncio.run(speak())
    samples = soxr.resample(
        said.samples.astype(np.float32), said.format.sample_rate_hz, RECORDING_FORMAT.sample_rate_hz
    )
    return AudioChunk(np.clip(samples, -32768, 32767).astype(np.int16), RECORDING_FORMAT)
