"""WAV files: any PCM is read into what the core listens to, piece by piece; sound is written as 16-bit mono.

Read are 8, 16, 24 and 32 bit whole numbers and 32 and 64 bit floats, plain or "extensible", of any rate and any
number of channels, also when the file was cut off or its writer never filled in the length. (Python's own ``wave``
knows neither floats nor "extensible".)
"""

from __future__ import annotations

import itertools
import struct
import wave
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from appliance.adapters.hearing_stream import ChannelChooser, Frames, HearingStream
from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.errors import BadAudioFileError

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
#: Writers that stream, or that were killed, leave these in place of the length; the sound then goes to the end.
_UNKNOWN_LENGTHS = (0, 0xFFFFFFFF)
#: Beyond these a header is damaged, not unusual.
_RATES_HZ = range(1_000, 1_000_001)
_BLOCK_SECONDS = 0.5
#: The channel with signal is looked for in this much of the file.
_LOOK_AHEAD_SECONDS = 30.0

#: How other kinds of sound begin, to name them.
_OTHER_KINDS = {
    b"ID3": "MP3",
    b"\xff\xfb": "MP3",
    b"\xff\xf3": "MP3",
    b"OggS": "Ogg",
    b"fLaC": "FLAC",
    b"RIFX": "big-endian WAV",
    b"FORM": "AIFF",
    b"\x1aE\xdf\xa3": "WebM",
    b".snd": "AU",
}


@dataclass(frozen=True)
class _Encoding:
    """How to read the bytes of the sound."""

    sample_rate_hz: int
    channels: int
    sample_bytes: int
    is_float: bool

    @property
    def frame_bytes(self) -> int:
        return self.channels * self.sample_bytes


class WavFile:
    """A readable WAV file. Opening reads only its header. Raises ``BadAudioFileError`` saying what is wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as file:
            self._encoding, self._start, self._length = _find_sound(path, file)

    @property
    def duration_seconds(self) -> float:
        """Length of the sound that is really there, whatever the header promises."""
        return self._length / self._encoding.frame_bytes / self._encoding.sample_rate_hz

    def chunks(self, chunk_seconds: float = 0.08) -> Iterator[AudioChunk]:
        """The sound in ``HEARING_FORMAT``, of one channel, in chunks of this length; the last may be shorter.

        Reads from the disk as it goes. Raises ``BadAudioFileError`` when the file vanishes meanwhile.
        """
        size = round(chunk_seconds * HEARING_FORMAT.sample_rate_hz)
        rest = np.zeros(0, dtype=np.int16)
        for samples in self._samples():
            rest = np.concatenate([rest, samples])
            while len(rest) >= size:
                yield AudioChunk(rest[:size], HEARING_FORMAT)
                rest = rest[size:]
        if len(rest):
            yield AudioChunk(rest, HEARING_FORMAT)

    def _samples(self) -> Iterator[Samples]:
        rate_hz, channels = self._encoding.sample_rate_hz, self._encoding.channels
        with self._open() as file:
            stream = HearingStream(rate_hz, channels, self._choose_channel(file))
            for frames in self._frames(file):
                yield stream.convert(frames)
            yield stream.convert(np.zeros((0, channels), dtype=np.float32), is_last=True)

    def _choose_channel(self, file: BinaryIO) -> ChannelChooser:
        """Look ahead, so that the first words are already taken from the right channel."""
        chooser = ChannelChooser(self._encoding.channels, self._encoding.sample_rate_hz)
        for frames in itertools.islice(self._frames(file), round(_LOOK_AHEAD_SECONDS / _BLOCK_SECONDS)):
            if chooser.has_decided:
                break
            chooser.choose(frames)
        return chooser

    def _frames(self, file: BinaryIO) -> Iterator[Frames]:
        frame_bytes = self._encoding.frame_bytes
        block_bytes = round(_BLOCK_SECONDS * self._encoding.sample_rate_hz) * frame_bytes
        file.seek(self._start)
        left = self._length
        while left and (data := file.read(min(left, block_bytes))):
            left -= len(data)
            yield _decode(data[: len(data) // frame_bytes * frame_bytes], self._encoding)

    def _open(self) -> BinaryIO:
        try:
            return self._path.open("rb")
        except IsADirectoryError as error:
            raise BadAudioFileError(f"{self._path} is a folder; name a WAV file in it") from error
        except FileNotFoundError as error:
            raise BadAudioFileError(f"there is no file {self._path}; check its name") from error
        except OSError as error:
            raise BadAudioFileError(f"{self._path} cannot be read: {error.strerror}") from error


def write_wav(path: Path, audio: AudioChunk) -> None:
    """Write a chunk as 16-bit PCM: the whole file, or none. Raises ``BadAudioFileError`` when it cannot be written."""
    # A pipe or a device is no file that could be replaced.
    is_file = path.is_file() or not path.exists()
    target = path.resolve() if is_file else path
    half = target.with_name(f".{target.name}.new") if is_file else target
    try:
        # Opened here: wave leaves a broken object behind when it cannot open a file.
        with half.open("wb") as file, wave.open(file, "wb") as out:
            out.setnchannels(audio.format.channels)
            out.setsampwidth(2)
            out.setframerate(audio.format.sample_rate_hz)
            out.writeframes(audio.samples.astype("<i2").tobytes())
        if is_file:
            half.replace(target)
    except OSError as error:
        raise BadAudioFileError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        if is_file:
            with suppress(OSError):
                half.unlink(missing_ok=True)


def _find_sound(path: Path, file: BinaryIO) -> tuple[_Encoding, int, int]:
    """How the sound is encoded, where in the file it begins, and how many bytes of it are there."""
    head = file.read(12)
    if not head:
        raise BadAudioFileError(f"{path} is empty; record it again")
    if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        raise BadAudioFileError(_not_wav(path, head))
    encoding: _Encoding | None = None
    while len(header := file.read(8)) == 8:
        kind, size = struct.unpack("<4sI", header)
        start = file.tell()
        if kind == b"fmt ":
            encoding = _read_encoding(path, file.read(min(size, 64)))
        elif kind == b"data" and encoding is not None:
            present = file.seek(0, 2) - start
            length = present if size in _UNKNOWN_LENGTHS else min(size, present)
            length -= length % encoding.frame_bytes
            if not length:
                raise BadAudioFileError(f"{path} has a header but no sound in it; record it again")
            return encoding, start, length
        # Chunks begin at even positions.
        file.seek(start + size + size % 2)
    raise BadAudioFileError(f"{path} is a WAV file that ends before its sound begins; record or copy it again")


def _read_encoding(path: Path, chunk: bytes) -> _Encoding:
    if len(chunk) < 16:
        raise BadAudioFileError(f"{path} has a damaged header; record or copy it again")
    tag, channels, rate_hz, _, frame_bytes, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == _EXTENSIBLE and len(chunk) >= 26:
        (tag,) = struct.unpack_from("<H", chunk, 24)
    if not channels or not frame_bytes or frame_bytes % channels or rate_hz not in _RATES_HZ:
        raise BadAudioFileError(
            f"{path} has an impossible header ({channels} channels, {rate_hz} Hz); record or convert it again"
        )
    encoding = _Encoding(rate_hz, channels, frame_bytes // channels, tag == _FLOAT)
    if tag not in (_PCM, _FLOAT) or (encoding.is_float, encoding.sample_bytes) not in _DECODERS:
        raise BadAudioFileError(f"{path} is a WAV file of a kind that is not read ({bits} bit, type {tag}); {_CONVERT}")
    return encoding


_CONVERT = "convert it, for example with: ffmpeg -i IN -ac 1 -ar 16000 OUT.wav"


def _not_wav(path: Path, head: bytes) -> str:
    kind = next((name for magic, name in _OTHER_KINDS.items() if head.startswith(magic)), "")
    return f"{path} is not a WAV file{f' but {kind}' if kind else ''}; {_CONVERT}"


def _decode(data: bytes, encoding: _Encoding) -> Frames:
    return _DECODERS[encoding.is_float, encoding.sample_bytes](data).reshape(-1, encoding.channels)


def _unsigned_8(data: bytes) -> Frames:
    return (np.frombuffer(data, dtype=np.uint8).astype(np.float32) - 128.0) / 128.0


def _signed_16(data: bytes) -> Frames:
    return np.frombuffer(data, dtype="<i2").astype(np.float32) / 2.0**15


def _signed_24(data: bytes) -> Frames:
    # Each sample becomes the upper three bytes of a 32-bit one.
    wide = np.zeros((len(data) // 3, 4), dtype=np.uint8)
    wide[:, 1:] = np.frombuffer(data, dtype=np.uint8).reshape(-1, 3)
    return _signed_32(wide.tobytes())


def _signed_32(data: bytes) -> Frames:
    return (np.frombuffer(data, dtype="<i4") / 2.0**31).astype(np.float32)


def _float_32(data: bytes) -> Frames:
    return _clean(np.frombuffer(data, dtype="<f4"))


def _float_64(data: bytes) -> Frames:
    return _clean(np.clip(np.frombuffer(data, dtype="<f8"), -1e6, 1e6).astype(np.float32))


def _clean(samples: Frames) -> Frames:
    """Floats may be no numbers at all, which a resampler would spread over everything behind them."""
    return np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0)


_DECODERS: dict[tuple[bool, int], Callable[[bytes], Frames]] = {
    (False, 1): _unsigned_8,
    (False, 2): _signed_16,
    (False, 3): _signed_24,
    (False, 4): _signed_32,
    (True, 4): _float_32,
    (True, 8): _float_64,
}
