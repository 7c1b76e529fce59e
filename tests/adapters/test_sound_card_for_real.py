"""The sound card on a real sound server: it carries sound both ways, and survives the server's end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from appliance.adapters.sound_card import PortAudioSoundCard
from appliance.audio import AudioChunk, AudioFormat, Samples
from appliance.clock import SystemClock
from appliance.errors import SoundCardLostError
from tests.sound_server import SoundServer

pytestmark = pytest.mark.sound


class Child:
    """The program with the sound card; PortAudio looks at its surroundings only once, so it needs its own process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def wait_for(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next thing the child tells that is so; a child that hangs is ended by the time limit of ``a_child``."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told: dict[str, Any] = json.loads(line)
            if is_it(told):
                return told
        raise AssertionError("the child ended")


@contextmanager
def a_child(server: SoundServer) -> Iterator[Child]:
    command = ["timeout", "60", sys.executable, "-m", "tests.adapters.test_sound_card_for_real"]
    with subprocess.Popen(
        command, env=server.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield Child(process)
        finally:
            process.terminate()


def a_tone() -> AudioChunk:
    wave = 10_000 * np.sin(2 * np.pi * 1000 * np.arange(24_000) / 48_000)
    return AudioChunk(wave.astype(np.int16), AudioFormat(48_000))


def is_loud(told: dict[str, Any]) -> bool:
    return told.get("level", -96.0) > -20.0


def test_sound_goes_both_ways_and_again_after_the_server_was_gone(sound_server: SoundServer) -> None:
    with a_child(sound_server) as child:
        opened = child.wait_for(lambda told: "microphone" in told)
        assert opened["microphone"] == opened["speaker"] == "default"
        child.wait_for(lambda told: "level" in told)
        sound_server.play_samples(a_tone())
        assert child.wait_for(is_loud)["rate"] == 16_000
        with sound_server.record() as recording:
            recording.wait_for_sound(within_seconds=5.0)

        sound_server.stop()
        assert "gone" in child.wait_for(lambda told: "lost" in told)["lost"]
        sound_server.restart()
        child.wait_for(lambda told: "level" in told)
        sound_server.play_samples(a_tone())
        child.wait_for(is_loud)
        with sound_server.record() as recording:
            recording.wait_for_sound(within_seconds=5.0)


async def main() -> None:
    """The child: hum without end, and tell what is heard."""

    def tell(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    def render(frames: int) -> Samples:
        return (6_000 * np.sin(2 * np.pi * np.arange(frames) / 48)).astype(np.int16)

    card = PortAudioSoundCard(SystemClock())
    await card.open(render)
    tell(microphone=card.info.microphone, speaker=card.info.speaker)
    while True:
        try:
            async for chunk in card.chunks():
                tell(level=chunk.level_dbfs, rate=chunk.format.sample_rate_hz)
        except SoundCardLostError as error:
            tell(lost=str(error))
            await asyncio.sleep(0.5)


if __name__ == "__main__":
    asyncio.run(main())
