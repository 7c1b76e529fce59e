from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance import models
from appliance.adapters.smart_turn import SmartTurn, features, mel_filters
from appliance.audio import HEARING_FORMAT, AudioChunk, AudioFormat, Samples
from appliance.errors import HearingError, WeightsError
from tests.listen.spoken import room, speak

RATE = HEARING_FORMAT.sample_rate_hz


def weights() -> Path:
    return models.locate(models.TURN_DETECTOR, Path("nowhere"))


def sound(samples: Samples) -> AudioChunk:
    return AudioChunk(samples, HEARING_FORMAT)


def ending_in_silence(text: str, share: float = 1.0) -> AudioChunk:
    """That sentence, or its beginning, with the silence at which the box asks."""
    said = speak(text)
    said = said[: round(share * len(said))]
    return sound(np.concatenate([room(0.3), said, room(0.2)]))


@functools.cache
def filters() -> Any:
    return mel_filters()


def loudest_band(samples: Samples) -> int:
    return int(np.argmax(features(samples, filters())[:, 790]))


async def test_a_whole_sentence_is_finished_and_a_broken_off_one_is_not() -> None:
    detector = SmartTurn(weights)
    try:
        await detector.warm_up()
        whole = await detector.finished_probability(ending_in_silence("Turn the heating down by two degrees."))
        broken = await detector.finished_probability(ending_in_silence("Turn the heating down by two degrees.", 0.6))
    finally:
        detector.close()
    assert whole > 0.8
    assert broken < 0.5


def test_the_features_have_the_shape_and_range_of_the_model() -> None:
    seen = features(ending_in_silence("What time is it?").samples, filters())
    assert seen.shape == (80, 800)
    assert seen.dtype == np.float32
    assert float(seen.max() - seen.min()) <= 2.0 + 1e-6, "eight decades, a quarter for each"


def test_what_is_louder_looks_the_same() -> None:
    soft = (1000 * np.sin(np.arange(4 * RATE) / 5)).astype(np.int16)
    assert np.allclose(features(soft, filters()), features(soft * 8, filters()), atol=0.1)


def test_only_the_last_eight_seconds_count_and_they_are_at_the_end() -> None:
    before, latest = room(3.0, noise=4000), speak("What time is it?")
    padded = np.concatenate([np.zeros(8 * RATE - len(latest), dtype=np.int16), latest])
    assert np.array_equal(features(np.concatenate([before, padded]), filters()), features(latest, filters()))


def test_a_higher_tone_lies_in_a_higher_band_evenly_below_1_khz_and_closer_above() -> None:
    bands = []
    for hertz in (250, 500, 750, 2000, 4000, 7900):
        tone = 8000 * np.sin(2 * np.pi * hertz * np.arange(8 * RATE) / RATE)
        bands.append(loudest_band(tone.astype(np.int16)))
    assert bands == sorted(bands)
    assert abs((bands[1] - bands[0]) - (bands[2] - bands[1])) <= 1
    assert bands[-1] == 79


def test_each_band_has_the_same_area() -> None:
    areas = filters().sum(axis=1) * (RATE / 400)
    assert areas[10:] == pytest.approx(np.ones(70), rel=0.15)


async def test_it_runs_on_a_thread_of_its_own() -> None:
    threads: list[str] = []

    def load(_file: Path) -> Any:
        def model(_features: Any) -> float:
            threads.append(threading.current_thread().name)
            return 0.25

        return model

    detector = SmartTurn(lambda: Path("weights"), load)
    assert await detector.finished_probability(sound(room(0.5))) == 0.25
    detector.close()
    assert threads[0].startswith("turn")
    with pytest.raises(HearingError, match="closed"):
        await detector.finished_probability(sound(room(0.5)))


async def test_weights_that_are_not_there_are_looked_for_once() -> None:
    looked = []

    def find() -> Path:
        looked.append(1)
        raise WeightsError("they are not here; run: appliance models fetch smart-turn")

    detector = SmartTurn(find)
    with pytest.raises(WeightsError, match="fetch smart-turn"):
        await detector.warm_up()
    with pytest.raises(WeightsError, match="fetch smart-turn"):
        await detector.finished_probability(sound(room(0.5)))
    detector.close()
    assert len(looked) == 1


async def test_damaged_weights_are_told(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(weights().read_bytes()[:100_000])
    detector = SmartTurn(lambda: damaged)
    with pytest.raises(WeightsError, match="cannot be loaded"):
        await detector.warm_up()
    detector.close()


async def test_a_model_that_breaks_is_a_fault_of_hearing() -> None:
    def load(_file: Path) -> Any:
        def model(_features: Any) -> float:
            raise RuntimeError("bad allocation")

        return model

    detector = SmartTurn(lambda: Path("weights"), load)
    with pytest.raises(HearingError, match="bad allocation"):
        await detector.finished_probability(sound(room(0.5)))
    detector.close()


async def test_sound_in_another_format_is_refused() -> None:
    detector = SmartTurn(weights)
    with pytest.raises(HearingError, match="needs"):
        await detector.finished_probability(AudioChunk(room(0.5), AudioFormat(48_000)))
    detector.close()
