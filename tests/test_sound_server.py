"""The tests' own sound server really carries sound, in both directions, through PortAudio."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from appliance.audio import AudioChunk, AudioFormat, Samples
from tests.recording import RECORDING_FORMAT
from tests.sound_server import SoundServer

pytestmark = pytest.mark.sound

_LISTEN = """
import sys, numpy, sounddevice
with sounddevice.InputStream(samplerate=16000, channels=1, dtype="int16", blocksize=320) as stream:
    print("listening", flush=True)
    heard = stream.read(32000)[0]
heard.tofile(sys.argv[1])
"""

# The silence behind the tone: closing the stream loses up to 50 ms between PortAudio and ALSA's pulse plugin.
_SPEAK = """
import numpy, sounddevice
tone = 8000 * numpy.sin(2 * numpy.pi * 1000 * numpy.arange(48000) / 48000)
sound = numpy.concatenate([tone, numpy.zeros(9600)])
with sounddevice.OutputStream(samplerate=48000, channels=1, dtype="int16") as stream:
    stream.write(sound.astype("int16").reshape(-1, 1))
"""


def test_what_is_played_into_the_mouth_is_heard_by_the_default_microphone(
    sound_server: SoundServer, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.raw"
    command = [sys.executable, "-c", _LISTEN, str(heard)]
    with subprocess.Popen(command, env=sound_server.environment, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"listening\n"
        sound_server.play_samples(_tone(1000.0, seconds=1.0))
        assert child.wait(timeout=20) == 0
    assert _strongest_hz(np.fromfile(heard, dtype=np.int16), 16_000) == pytest.approx(1000.0, abs=5.0)


def test_what_the_default_speaker_plays_is_recorded_whole(sound_server: SoundServer) -> None:
    with sound_server.record() as recording:
        subprocess.run([sys.executable, "-c", _SPEAK], env=sound_server.environment, check=True, timeout=20)
        recording.wait_for_silence(lasting_seconds=0.2, within_seconds=5.0)
    first, last = recording.first_sound_at_seconds, recording.last_sound_at_seconds
    assert first is not None and last is not None
    assert last - first == pytest.approx(1.0, abs=0.02)
    tone = recording.between(first, last)
    assert _strongest_hz(tone.samples, RECORDING_FORMAT.sample_rate_hz) == pytest.approx(1000.0, abs=5.0)


def test_portaudio_sees_the_virtual_devices_and_no_real_card(sound_server: SoundServer) -> None:
    script = "import sounddevice; print([device['name'] for device in sounddevice.query_devices()])"
    shown = subprocess.run(
        [sys.executable, "-c", script], env=sound_server.environment, check=True, capture_output=True, text=True
    )
    assert shown.stdout.strip() == "['default']"


def test_a_server_that_was_stopped_can_be_started_again(sound_server: SoundServer) -> None:
    sound_server.stop()
    sound_server.restart()
    with sound_server.record() as recording:
        assert recording.first_sound_at_seconds is None


def _tone(frequency_hz: float, *, seconds: float) -> AudioChunk:
    rate = RECORDING_FORMAT.sample_rate_hz
    wave = 8000.0 * np.sin(2 * np.pi * frequency_hz * np.arange(round(seconds * rate)) / rate)
    return AudioChunk(wave.astype(np.int16), AudioFormat(rate))


def _strongest_hz(samples: Samples, rate_hz: int) -> float:
    assert np.abs(samples).max() > 4000, "it was heard much too softly, or not at all"
    spectrum = np.abs(np.fft.rfft(samples.astype(np.float64)))
    return float(np.argmax(spectrum) * rate_hz / len(samples))
