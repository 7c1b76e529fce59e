from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from appliance.adapters.silero_vad import SileroVoiceActivity, find_weights
from appliance.audio import Samples
from appliance.errors import WeightsError
from tests.listen.spoken import speak

STEP = 512


def probabilities(activity: SileroVoiceActivity, samples: Samples) -> list[float]:
    whole = len(samples) // STEP * STEP
    return [activity.probability(samples[start : start + STEP]) for start in range(0, whole, STEP)]


def test_it_agrees_with_faster_whisper_step_for_step() -> None:
    from faster_whisper.vad import get_vad_model

    samples = speak("Turn the light on, please.")
    samples = samples[: len(samples) // STEP * STEP]
    ours = probabilities(SileroVoiceActivity(), samples)
    theirs = get_vad_model()(samples.astype(np.float32) / 32768.0).reshape(-1)
    # Theirs silences the end of the last step by mistake, so that one differs.
    assert np.allclose(ours[:-1], theirs[:-1], atol=1e-4)
    assert max(ours) > 0.9


def test_silence_and_noise_are_no_speech() -> None:
    activity = SileroVoiceActivity()
    noise = np.random.default_rng(1).normal(0.0, 300.0, 32_000).astype(np.int16)
    assert max(probabilities(activity, np.zeros(32_000, dtype=np.int16))) < 0.2
    assert max(probabilities(activity, noise)) < 0.3


def test_after_a_reset_it_hears_as_if_new() -> None:
    activity = SileroVoiceActivity()
    samples = speak("Turn the light on, please.")
    first = probabilities(activity, samples)
    activity.reset()
    assert probabilities(activity, samples) == first


def test_a_step_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="512"):
        SileroVoiceActivity().probability(np.zeros(320, dtype=np.int16))


def test_finding_the_weights_does_not_import_faster_whisper() -> None:
    code = (
        "import sys; from appliance.adapters.silero_vad import find_weights; print(find_weights().name);"
        "assert not {'faster_whisper', 'onnxruntime', 'ctranslate2'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == find_weights().name == "silero_vad_v6.onnx"


def test_damaged_weights_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "weights.onnx").write_bytes(b"no weights")
    with pytest.raises(WeightsError, match="install faster-whisper anew"):
        SileroVoiceActivity(tmp_path / "weights.onnx").load()
