"""A sound card without hardware: a WAV file is the microphone, a recording is the speaker.

The file is heard as fast as the core listens; then comes some silence at once, so that the utterance ends without
waiting, and after that silence in real time, so that nothing spins. The speaker takes sound as fast as it is
made; pauses in which nothing sounds are not kept.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from appliance.adapters.wav_file import WavFile
from appliance.audio import AudioChunk, AudioFormat, join, silence
from appliance.clock import Clock
from appliance.ports import Render, SoundCardHealth, SoundCardInfo

_CHUNK_SECONDS = 0.02
_SILENT_CHUNK_SECONDS = 0.08
#: Read from the disk at once: most questions are shorter, and then nothing has to be waited for later.
_CHUNKS_AT_ONCE = round(30.0 / _CHUNK_SECONDS)
#: Without ``has_sound`` this much silence means that nothing more sounds.
_SILENT_OUTPUT_SECONDS = 0.5


class WavSoundCard:
    """Meets ``SoundCard``. Without a ``microphone`` nothing is ever heard: a box for typed turns.

    ``has_sound``, which may also be set before ``open``, tells whether the mixer has anything to play; ``render`` is
    called only while it has. With ``waits_for_ear`` the file begins when the ear is opened for the first time, for a
    file without a wake word. ``silence_behind_seconds`` come at once behind it; more of it ends the wait for a speech
    that is not in the file.
    """

    def __init__(
        self,
        clock: Clock,
        microphone: Path | None = None,
        *,
        has_sound: Callable[[], bool] | None = None,
        output_rate_hz: int = 48_000,
        waits_for_ear: bool = False,
        silence_behind_seconds: float = 2.0,
    ) -> None:
        self.has_sound = has_sound
        self._clock = clock
        self._microphone = microphone
        self._output_format = AudioFormat(output_rate_hz)
        self._is_muted = False
        self._is_waiting = waits_for_ear
        self._silence_behind_seconds = silence_behind_seconds
        self._can_hear = asyncio.Event()
        self._can_play = asyncio.Event()
        self._is_closed = False
        self._sound: Iterator[AudioChunk] = iter(())
        self._read: list[AudioChunk] = []
        self._played: list[AudioChunk] = []
        self._player: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def info(self) -> SoundCardInfo:
        """The file's name is the microphone's."""
        name = self._microphone.name if self._microphone else ""
        return SoundCardInfo(name, "recording", self._output_format.sample_rate_hz)

    @property
    def health(self) -> SoundCardHealth:
        """Nothing is ever lost here."""
        return SoundCardHealth()

    def recording(self) -> AudioChunk:
        """All that was played until now, mono at ``output_rate_hz``."""
        return join(self._played, self._output_format)

    async def open(self, render: Render) -> None:
        """Begin to play. Raises ``BadAudioFileError`` when the microphone's file is not WAV that can be read."""
        self._loop = asyncio.get_running_loop()
        if self._microphone is not None:
            await asyncio.to_thread(self._open_file, self._microphone)
            self._hear_if_allowed()
        if self.has_sound is not None:
            self._can_play.set()
        self._player = asyncio.create_task(self._play(render), name="recording speaker")

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """The file, then silence, until ``close``; chunks of 20 ms, which is both idle and attentive size here."""
        async for chunk in self._file_and_silence():
            # A turn of the loop for each chunk: whoever answers the wake word must come to act on it.
            await asyncio.sleep(0)
            await self._can_hear.wait()
            if self._is_closed:
                return
            yield chunk

    def set_attentive(self, attentive: bool) -> None:
        """Begin with a file that waited for this."""
        if attentive:
            self._is_waiting = False
            self._hear_if_allowed()

    async def mute(self, muted: bool) -> None:
        """Stop the file where it is, or go on with it."""
        self._is_muted = muted
        self._hear_if_allowed()

    def output_ready(self) -> None:
        """Go on playing. Any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._can_play.set)

    async def close(self) -> None:
        """Stop both directions; ``recording`` stays."""
        self._is_closed = True
        self._can_hear.set()
        if self._player is not None:
            self._player.cancel()
            await asyncio.gather(self._player, return_exceptions=True)

    def _hear_if_allowed(self) -> None:
        if self._microphone is not None and not self._is_muted and not self._is_waiting:
            self._can_hear.set()
        else:
            self._can_hear.clear()

    def _open_file(self, path: Path) -> None:
        self._sound = WavFile(path).chunks(_CHUNK_SECONDS)
        self._read_on()

    def _read_on(self) -> None:
        self._read = list(itertools.islice(self._sound, _CHUNKS_AT_ONCE))

    async def _file_and_silence(self) -> AsyncIterator[AudioChunk]:
        await self._can_hear.wait()
        while self._read:
            for chunk in self._read:
                yield _whole(chunk)
            if len(self._read) < _CHUNKS_AT_ONCE:
                break
            await asyncio.to_thread(self._read_on)
        for _ in range(round(self._silence_behind_seconds / _SILENT_CHUNK_SECONDS)):
            yield silence(_SILENT_CHUNK_SECONDS)
        while True:
            await self._clock.sleep(_SILENT_CHUNK_SECONDS)
            yield silence(_SILENT_CHUNK_SECONDS)

    async def _play(self, render: Render) -> None:
        frames = round(_CHUNK_SECONDS * self._output_format.sample_rate_hz)
        while True:
            await self._can_play.wait()
            self._can_play.clear()
            silent_seconds = 0.0
            while self.has_sound() if self.has_sound else silent_seconds < _SILENT_OUTPUT_SECONDS:
                samples = render(frames).copy()
                self._played.append(AudioChunk(samples, self._output_format))
                silent_seconds = 0.0 if samples.any() else silent_seconds + _CHUNK_SECONDS
                await asyncio.sleep(0)


def _whole(chunk: AudioChunk) -> AudioChunk:
    """The chunk, filled up with silence when it is the short one at the end of a file."""
    return join([chunk, silence(max(0.0, _CHUNK_SECONDS - chunk.duration_seconds))])
