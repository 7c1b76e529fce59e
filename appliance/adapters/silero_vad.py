"""Voice activity with Silero, through onnxruntime, with the weights that lie in the faster-whisper wheel.

faster-whisper itself is not imported: that would take longer and need more memory than all of listening.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.audio import Samples
from appliance.errors import WeightsError

#: Samples looked at in one step, and how many of the step before are put in front of them (version 6 of the model).
_STEP_SAMPLES = 512
_CONTEXT_SAMPLES = 64
_STATE_SHAPE = (1, 1, 128)

_WHEEL = "faster_whisper"
_WEIGHTS = Path("assets") / "silero_vad_v6.onnx"


def find_weights() -> Path:
    """The weights inside the installed wheel. Raises ``WeightsError``."""
    wheel = importlib.util.find_spec(_WHEEL)
    for folder in (wheel.submodule_search_locations or ()) if wheel else ():
        if (Path(folder) / _WEIGHTS).exists():
            return Path(folder) / _WEIGHTS
    raise WeightsError(
        f"the voice activity weights ({_WEIGHTS.name}) are not in the installed faster-whisper; "
        "run ./run setup to install the version that has them"
    )


class SileroVoiceActivity:
    """Meets ``VoiceActivityDetector``. The first call loads the weights (about 0.2 s) unless ``load`` did."""

    def __init__(self, weights: Path | None = None) -> None:
        self._weights = weights
        self._session: Any = None
        self._context = _zeros(_CONTEXT_SAMPLES)
        self._h = self._c = _zeros(*_STATE_SHAPE)

    def load(self) -> None:
        """Load the weights; any thread. Raises ``WeightsError``."""
        if self._session is not None:
            return
        weights = self._weights or find_weights()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # A step is far too short to be shared between threads; the arena would keep memory for nothing.
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                str(weights), providers=["CPUExecutionProvider"], sess_options=options
            )
        except Exception as error:  # its error classes have no common parent but this
            raise WeightsError(
                f"the voice activity weights {weights} cannot be loaded; install faster-whisper anew ({error})"
            ) from error

    def probability(self, samples: Samples) -> float:
        """Chance of speech in the next 512 samples. Raises ``WeightsError`` when there are no weights."""
        if len(samples) != _STEP_SAMPLES:
            raise ValueError(f"voice activity needs {_STEP_SAMPLES} samples at a time, not {len(samples)}")
        self.load()
        step = samples.astype(np.float32) / 32768.0
        sound = np.concatenate([self._context, step])[np.newaxis]
        output, self._h, self._c = self._session.run(None, {"input": sound, "h": self._h, "c": self._c})
        self._context = step[-_CONTEXT_SAMPLES:]
        return float(output.item())

    def reset(self) -> None:
        """Forget what was heard before."""
        self._context = _zeros(_CONTEXT_SAMPLES)
        self._h = self._c = _zeros(*_STATE_SHAPE)


def _zeros(*shape: int) -> npt.NDArray[np.float32]:
    return np.zeros(shape, dtype=np.float32)
