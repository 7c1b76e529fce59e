"""Whether a person has finished, by Smart Turn (version 3.2), through onnxruntime.

The model hears the last eight seconds, silence in front of what is shorter, as the features that whisper takes:
80 mel bands of the sound in unit variance, a frame every 10 ms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.errors import HearingError, WeightsError
from appliance.promptness import step_back

_WINDOW_SAMPLES = 8 * HEARING_FORMAT.sample_rate_hz
#: Whisper's analysis: 25 ms windows every 10 ms, 80 bands up to 8 kHz, the loudest 8 decades of power.
_FRAME_SAMPLES, _HOP_SAMPLES, _BANDS = 400, 160, 80
_FAINTEST_POWER, _DECADES = 1e-10, 8.0
_LEAST_VARIANCE = 1e-7
#: The mel scale of these filters: linear below 1 kHz, where a mel is 200/3 Hz, then 27 mels for each factor of 6.4.
_BEND_HZ, _HZ_PER_MEL, _MELS_PER_FACTOR, _FACTOR = 1000.0, 200.0 / 3.0, 27.0, 6.4

T = TypeVar("T")

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


class SmartTurn:
    """Meets ``TurnDetector``. ``find`` says where the weights are when they are first needed, or ``WeightsError``.

    ``load`` makes the model of a file, for tests: features in, chance out.
    """

    def __init__(
        self, find: Callable[[], Path], load: Callable[[Path], Callable[[Floats], float]] | None = None
    ) -> None:
        self._find = find
        self._load = load or load_weights
        self._model: Callable[[Floats], float] | None = None
        self._filters: Doubles | None = None
        self._fault: WeightsError | None = None
        self._is_warm = False
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="turn", initializer=step_back)

    async def warm_up(self) -> None:
        """Load and judge once, however often it is asked for; see ``TurnDetector``."""
        await self._on_thread(self._warm_up)

    async def finished_probability(self, so_far: AudioChunk) -> float:
        """See ``TurnDetector``; weights that are missing or damaged raise ``WeightsError`` here too."""
        if so_far.format != HEARING_FORMAT:
            raise HearingError(f"the turn detector needs {HEARING_FORMAT}, not {so_far.format}")
        return await self._on_thread(partial(self._judge, so_far.samples))

    def close(self) -> None:
        """Give the thread back; what runs on it is finished, what waits is dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _on_thread(self, work: Callable[[], T]) -> T:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        except RuntimeError as error:
            raise HearingError("the turn detector is closed") from error
        return await future

    # --------------------------------------------------------------------------------- on the turn thread

    def _warm_up(self) -> None:
        if not self._is_warm:
            self._judge(np.zeros(HEARING_FORMAT.sample_rate_hz, dtype=np.int16))
            self._is_warm = True

    def _judge(self, samples: Samples) -> float:
        model = self._loaded()
        if self._filters is None:
            self._filters = mel_filters()
        try:
            return model(features(samples, self._filters))
        except Exception as error:
            raise HearingError(f"the turn detector failed: {error}") from error

    def _loaded(self) -> Callable[[Floats], float]:
        if self._fault is not None:
            raise self._fault  # It does not get better by itself, and trying costs time in each turn.
        if self._model is None:
            try:
                self._model = self._load(self._find())
            except WeightsError as error:
                self._fault = error
                raise
        return self._model


def load_weights(file: Path) -> Callable[[Floats], float]:
    """The model in ``file``, on one thread. Raises ``WeightsError``; takes about 0.1 s."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # The other cores are with whisper at that moment; the arena would keep memory for a call every few seconds.
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"], sess_options=options)
    except Exception as error:  # its error classes have no common parent but this
        raise WeightsError(
            f"the weights of the turn detector {file} cannot be loaded ({error}); run: appliance models verify"
        ) from error
    name = session.get_inputs()[0].name

    def model(sound: Floats) -> float:
        return float(session.run(None, {name: sound[np.newaxis]})[0].item())

    return model


def features(samples: Samples, filters: Doubles) -> Floats:
    """What the model sees of the last eight seconds of ``samples``: (80, 800)."""
    latest = samples[-_WINDOW_SAMPLES:].astype(np.float32) / 32768.0
    sound = np.pad(latest, (_WINDOW_SAMPLES - len(latest), 0))
    sound = (sound - sound.mean()) / np.sqrt(sound.var() + _LEAST_VARIANCE)
    bands = np.log10(np.maximum(filters @ _power(sound), _FAINTEST_POWER))
    scaled = np.maximum(bands, bands.max() - _DECADES) / 4.0 + 1.0
    return np.asarray(scaled, dtype=np.float32)


def _power(sound: Floats) -> Doubles:
    """Power by frequency and frame; each frame lies around its instant, the sound is mirrored at both ends."""
    mirrored = np.pad(sound.astype(np.float64), _FRAME_SAMPLES // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(mirrored, _FRAME_SAMPLES)[:-1:_HOP_SAMPLES]
    window = np.hanning(_FRAME_SAMPLES + 1)[:-1]
    power: Doubles = np.square(np.abs(np.fft.rfft(frames * window))).T
    return power


def mel_filters() -> Doubles:
    """Triangles in frequency, evenly spaced in mel, each of the same area: (80, 201)."""
    half_hz = HEARING_FORMAT.sample_rate_hz / 2
    corners = _in_hertz(np.linspace(0.0, _in_mel(half_hz), _BANDS + 2))
    frequencies = np.linspace(0.0, half_hz, _FRAME_SAMPLES // 2 + 1)
    low, middle, high = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (frequencies - low) / (middle - low), (high - frequencies) / (high - middle)
    filters: Doubles = np.maximum(0.0, np.minimum(rising, falling)) * 2.0 / (high - low)
    return filters


def _in_mel(hertz: float) -> float:
    """For frequencies above the bend."""
    return _BEND_HZ / _HZ_PER_MEL + _MELS_PER_FACTOR * float(np.log(hertz / _BEND_HZ) / np.log(_FACTOR))


def _in_hertz(mels: Doubles) -> Doubles:
    beyond = np.maximum(0.0, mels - _BEND_HZ / _HZ_PER_MEL)
    return np.minimum(mels * _HZ_PER_MEL, _BEND_HZ) * _FACTOR ** (beyond / _MELS_PER_FACTOR)
