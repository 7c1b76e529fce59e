from __future__ import annotations

import struct
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from appliance.adapters.wav_file import WavFile, write_wav
from appliance.audio import HEARING_FORMAT, AudioChunk, AudioFormat, Samples, join
from appliance.errors import BadAudioFileError

Wave = npt.NDArray[np.float64]
PEAK = 0.5


def tone(rate_hz: int, seconds: float = 1.0, pitch_hz: float = 440.0) -> Wave:
    return PEAK * np.sin(2 * np.pi * pitch_hz * np.arange(round(seconds * rate_hz)) / rate_hz)


def as_24_bit(sound: Wave) -> bytes:
    whole = np.round(sound * (2**23 - 1)).astype("<i4")
    return np.ascontiguousarray(whole.view(np.uint8).reshape(-1, 4)[:, :3]).tobytes()


#: Bits, format tag and how samples become bytes.
ENCODINGS: dict[str, tuple[int, int, Callable[[Wave], bytes]]] = {
    "8 bit": (8, 1, lambda sound: np.round(sound * 127 + 128).astype(np.uint8).tobytes()),
    "16 bit": (16, 1, lambda sound: np.round(sound * 32767).astype("<i2").tobytes()),
    "24 bit": (24, 1, as_24_bit),
    "32 bit": (32, 1, lambda sound: np.round(sound * (2**31 - 1)).astype("<i4").tobytes()),
    "32 bit float": (32, 3, lambda sound: sound.astype("<f4").tobytes()),
    "64 bit float": (64, 3, lambda sound: sound.astype("<f8").tobytes()),
}


def wav_bytes(
    sound: Wave, rate_hz: int, encoding: str = "16 bit", *, extensible: bool = False, promised: int | None = None
) -> bytes:
    """A WAV file of ``sound``, shape ``(n,)`` or ``(n, channels)``."""
    channels = 1 if sound.ndim == 1 else sound.shape[1]
    bits, tag, encode = ENCODINGS[encoding]
    data = encode(sound)
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, rate_hz, rate_hz * block, block, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, tag) + b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
    listed = b"LIST" + struct.pack("<I", 5) + b"hello\x00"  # of odd length: filled up to the next even place
    size = len(data) if promised is None else promised
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + listed + b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", len(body) & 0xFFFFFFFF) + body


def read(path: Path, chunk_seconds: float = 0.08) -> Samples:
    chunks = list(WavFile(path).chunks(chunk_seconds))
    assert all(chunk.format == HEARING_FORMAT for chunk in chunks)
    return join(chunks).samples


def assert_is_tone(samples: Samples, *, pitch_hz: float = 440.0, level: float = PEAK, tolerance: float = 0.02) -> None:
    """The samples are the tone of ``tone``, apart from a little at both ends, where a resampler rings."""
    middle = samples[800:-800].astype(float) / 32768
    assert np.abs(middle).max() == pytest.approx(level, abs=tolerance)
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert np.argmax(spectrum) * 16_000 / len(middle) == pytest.approx(pitch_hz, abs=2.0)


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_is_read(tmp_path: Path, encoding: str, extensible: bool) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(tone(16_000), 16_000, encoding, extensible=extensible))
    samples = read(file)
    assert len(samples) == 16_000
    assert np.abs(samples / 32768 - tone(16_000)).max() < (0.01 if encoding == "8 bit" else 0.0002)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000, 192_000])
def test_every_rate_is_read(tmp_path: Path, rate_hz: int) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(tone(rate_hz), rate_hz))
    samples = read(file)
    assert len(samples) == pytest.approx(16_000, abs=2)
    assert_is_tone(samples)


@pytest.mark.parametrize("channels", [2, 6, 32])
@pytest.mark.parametrize("live", [0, 1])
def test_the_channel_with_signal_is_taken_at_its_full_level(tmp_path: Path, channels: int, live: int) -> None:
    sound = np.zeros((48_000, channels))
    sound[:, live] = tone(48_000)
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(sound, 48_000))
    assert_is_tone(read(file))


def test_a_channel_that_only_hums_does_not_win_over_a_voice_that_comes_later(tmp_path: Path) -> None:
    hum = 0.002 * np.ones(5 * 16_000)
    voice = np.concatenate([np.zeros(4 * 16_000), tone(16_000)])
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(np.stack([np.zeros(5 * 16_000), voice], axis=1), 16_000))
    assert_is_tone(read(file)[4 * 16_000 :])
    file.write_bytes(wav_bytes(np.stack([hum, voice + 0.1 * hum], axis=1), 16_000))
    assert read(file).any()


def test_an_inverted_channel_does_not_cancel_the_voice(tmp_path: Path) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(np.stack([tone(16_000), -tone(16_000)], axis=1), 16_000))
    assert_is_tone(read(file))


def test_chunks_have_the_length_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(tone(48_000, seconds=1.01), 48_000))
    lengths = [len(chunk.samples) for chunk in WavFile(file).chunks(0.02)]
    assert lengths[:-1] == [320] * (len(lengths) - 1)
    assert sum(lengths) == pytest.approx(16_160, abs=2)


def test_a_file_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = wav_bytes(tone(16_000), 16_000)
    file = tmp_path / "question.wav"
    file.write_bytes(whole[: len(whole) // 2 + 1])
    assert WavFile(file).duration_seconds == pytest.approx(0.5, abs=0.01)
    assert_is_tone(read(file))


@pytest.mark.parametrize("promised", [0, 0xFFFFFFFF, 0x7FFFFFFF])
def test_a_writer_that_never_filled_in_the_length_is_forgiven(tmp_path: Path, promised: int) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(tone(16_000), 16_000, promised=promised))
    assert_is_tone(read(file))


def test_floats_that_are_no_numbers_do_not_spread(tmp_path: Path) -> None:
    sound = tone(48_000)
    sound[100:110] = [np.nan, np.inf, -np.inf, 1e30, -1e30] * 2
    file = tmp_path / "question.wav"
    file.write_bytes(wav_bytes(sound, 48_000, "32 bit float"))
    assert_is_tone(read(file))


def test_a_two_hour_file_is_not_read_at_once(tmp_path: Path) -> None:
    file = tmp_path / "long.wav"
    header = wav_bytes(np.zeros((1, 2)), 48_000, promised=7200 * 48_000 * 4)
    file.write_bytes(header)
    with file.open("r+b") as handle:
        handle.truncate(len(header) + 7200 * 48_000 * 4)  # a hole: takes no room on the disk
    wav = WavFile(file)
    assert wav.duration_seconds == pytest.approx(7200, abs=1)
    first = next(wav.chunks())
    assert len(first.samples) == 1280


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello, this is text and no sound", "is not a WAV file; convert it"),
        (b"ID3\x03\x00\x00\x00\x00\x00\x00\x00\x00", "is not a WAV file but MP3; convert it"),
        (b"OggS\x00\x02\x00\x00\x00\x00\x00\x00", "is not a WAV file but Ogg"),
        (b"RIFF", "is not a WAV file"),
        (b"RIFF\x00\x00\x00\x00WAVE", "ends before its sound begins"),
        (wav_bytes(tone(16_000), 16_000)[:50], "ends before its sound begins"),
        (wav_bytes(np.zeros(0), 16_000), "no sound in it"),
        (wav_bytes(np.zeros((1, 2)), 16_000)[:-1], "no sound in it"),
    ],
)
def test_what_is_not_readable_says_what_is_wrong(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(content)
    with pytest.raises(BadAudioFileError) as caught:
        WavFile(file)
    assert said in str(caught.value)
    assert "question.wav" in str(caught.value)


def header(tag: int = 1, channels: int = 1, rate_hz: int = 16_000, block: int = 2, bits: int = 16) -> bytes:
    form = struct.pack("<HHIIHH", tag, channels, rate_hz, 0, block, bits)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", 100) + bytes(100)
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (header(channels=0), "0 channels"),
        (header(rate_hz=0), "0 Hz"),
        (header(rate_hz=4_000_000_000), "4000000000 Hz"),
        (header(block=0), "impossible header"),
        (header(channels=3, block=4), "impossible header"),
        (header(tag=7, block=1, bits=8), "kind that is not read (8 bit, type 7)"),
        (header(tag=3, block=2), "kind that is not read (16 bit, type 3)"),
    ],
)
def test_a_strange_header_says_what_is_strange(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(content)
    with pytest.raises(BadAudioFileError) as caught:
        WavFile(file)
    assert said in str(caught.value)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadAudioFileError, match="is a folder"):
        WavFile(tmp_path)
    with pytest.raises(BadAudioFileError, match="there is no file"):
        WavFile(tmp_path / "nothing.wav")


def test_what_is_written_any_program_can_read(tmp_path: Path) -> None:
    sound = AudioChunk(np.round(tone(22_050) * 32767).astype(np.int16), AudioFormat(22_050))
    write_wav(tmp_path / "reply.wav", sound)
    with wave.open(str(tmp_path / "reply.wav"), "rb") as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (22_050, 1, 2)
        assert file.readframes(30_000) == sound.samples.tobytes()


def test_a_reply_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    sound = AudioChunk(np.zeros(10, dtype=np.int16), HEARING_FORMAT)
    with pytest.raises(BadAudioFileError, match="cannot be written"):
        write_wav(tmp_path / "no such folder" / "reply.wav", sound)
