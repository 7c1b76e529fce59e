"""The line cache: fixed lines, spoken ahead of time and kept on disk so that they start at once.

Only what is given to ``prepare`` is kept, never a reply: what a person talked about must not be found on a disk.
A file is the 16-bit WAV of one line, named after voice, speed and text. It can always be made again, so a damaged
file counts as missing and a disk that is full or read-only only costs speed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from appliance.audio import AudioChunk, AudioFormat, join
from appliance.errors import BadAudioFileError, SynthesisError
from appliance.ports import Synthesizer
from appliance.speak.synthesis import CHARACTERS_PER_SECOND
from appliance.speak.wave_file import read_wave, write_wave

_LOG = logging.getLogger(__name__)

_BYTES_PER_MEGABYTE = 1_000_000


class LineCache:
    """Sound of fixed lines in ``folder``, at most ``limit_megabytes`` of it; the loop's thread.

    Full, it drops what was used longest ago, but nothing that was asked for since the start: with more lines than
    fit it would otherwise write all of them again at every start.
    """

    def __init__(self, folder: Path, synthesizer: Synthesizer, limit_megabytes: float) -> None:
        self._folder = folder
        self._synthesizer = synthesizer
        self._limit_bytes = int(limit_megabytes * _BYTES_PER_MEGABYTE)
        #: Key to size in bytes, used longest ago first; None until the folder has been read.
        self._sizes: dict[str, int] | None = None
        self._wanted: set[str] = set()
        self._lock = asyncio.Lock()

    async def get(self, text: str, speed: float = 1.0) -> AudioChunk | None:
        """The kept sound of ``text``; None when there is none."""
        async with self._lock:
            sizes = await self._index()
            key = self._key(text, speed)
            if key not in sizes:
                return None
            sound = await asyncio.to_thread(_read, self._file(key))
            if sound is None:
                await self._remove(key, sizes)
                return None
            self._wanted.add(key)
            return sound

    async def prepare(self, texts: Iterable[str], speed: float = 1.0) -> bool:
        """Synthesise and keep those of ``texts`` that are missing; False when no more can be kept."""
        for text in texts:
            key = self._key(text, speed)
            async with self._lock:
                self._wanted.add(key)
                if key in await self._index():
                    continue
                if not await self._make_room(self._estimated_bytes(text)):
                    return False
            try:
                sound = await self._synthesize(text, speed)
            except SynthesisError as error:
                _LOG.info("a fixed line could not be synthesised ahead: %s", error)
                continue
            async with self._lock:
                if len(sound.samples) and not await self._keep(key, sound):
                    return False
        return True

    # ------------------------------------------------------------------------------------------- private

    def _key(self, text: str, speed: float) -> str:
        return hashlib.sha256(f"{self._synthesizer.voice_key}\n{speed:.2f}\n{text}".encode()).hexdigest()

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.wav"

    def _estimated_bytes(self, text: str) -> int:
        return int(2 * self._synthesizer.sample_rate_hz * len(text) / CHARACTERS_PER_SECOND)

    async def _index(self) -> dict[str, int]:
        if self._sizes is None:
            self._sizes = await asyncio.to_thread(_scan, self._folder)
        return self._sizes

    async def _synthesize(self, text: str, speed: float) -> AudioChunk:
        chunks = [chunk.audio async for chunk in self._synthesizer.synthesize(text, speed=speed)]
        return join(chunks, AudioFormat(self._synthesizer.sample_rate_hz))

    async def _keep(self, key: str, sound: AudioChunk) -> bool:
        sizes = await self._index()
        if not await self._make_room(2 * len(sound.samples)):
            return False
        try:
            sizes[key] = await asyncio.to_thread(_write, self._file(key), sound)
        except OSError as error:
            _LOG.warning("the line cache cannot be written: %s", error.strerror)
            return False
        return True

    async def _make_room(self, size_bytes: int) -> bool:
        sizes = await self._index()
        unwanted = [key for key in sizes if key not in self._wanted]
        while sum(sizes.values()) + size_bytes > self._limit_bytes:
            if not unwanted:
                return False
            await self._remove(unwanted.pop(0), sizes)
        return True

    async def _remove(self, key: str, sizes: dict[str, int]) -> None:
        del sizes[key]
        with contextlib.suppress(OSError):
            await asyncio.to_thread(self._file(key).unlink, missing_ok=True)


def _scan(folder: Path) -> dict[str, int]:
    """Size of every kept file, least recently used first; removes what a power cut left half written."""
    found: list[tuple[float, str, int]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.glob("*.part"):
            file.unlink()
        for file in folder.glob("*.wav"):
            status = file.stat()
            found.append((status.st_mtime, file.stem, status.st_size))
    except OSError as error:
        _LOG.warning("the line cache cannot be used: %s", error.strerror)
    return {key: size for _, key, size in sorted(found)}


def _read(file: Path) -> AudioChunk | None:
    try:
        sound = read_wave(file)
    except (BadAudioFileError, OSError):
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # After a restart the file's time still says when the line was used.
    return sound


def _write(file: Path, sound: AudioChunk) -> int:
    """Write all or nothing; the size in bytes."""
    part = file.with_suffix(".part")
    try:
        write_wave(part, sound)
        part.replace(file)
        return file.stat().st_size
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
