"""The short window: when it settles what was said, when the full one is asked, and how it hears with a real model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from appliance import models
from appliance.adapters.whisper import WhisperTranscriber, load_weights
from appliance.adapters.whisper_short import Reading, ShortWindow
from appliance.audio import HEARING_FORMAT, AudioChunk
from tests.listen.spoken import room, speak

NOWHERE = Path("nowhere")
SURE = Reading(" Lights on.", -0.2, 0.1)


class _Full:
    """Stands in for faster-whisper's model: always hears the same, and counts."""

    supported_languages = ("en", "de")

    def __init__(self, text: str = " the full window") -> None:
        self.calls = 0
        self.hotwords: list[str | None] = []
        self._segment = SimpleNamespace(text=text, avg_logprob=-0.3, no_speech_prob=0.1)

    def transcribe(self, _audio: npt.NDArray[np.float32], **options: Any) -> tuple[Iterator[Any], None]:
        self.calls += 1
        self.hotwords.append(options["hotwords"])
        return iter([self._segment]), None

    def detect_language(self, _audio: npt.NDArray[np.float32]) -> tuple[str, float, list[tuple[str, float]]]:
        return "de", 0.9, [("de", 0.9)]


class _Short:
    """Stands in for ``ShortWindow``: gives one reading, or fails."""

    def __init__(self, reading: Reading | Exception) -> None:
        self.reading = reading
        self.most_tokens: list[int] = []
        self.hints: list[str] = []

    def read(
        self, samples: npt.NDArray[np.float32], language: str, *, beam_size: int, most_tokens: int, hint: str = ""
    ) -> Reading:
        self.hints.append(hint)
        assert (samples.dtype, language, beam_size) == (np.float32, "en", 3)
        self.most_tokens.append(most_tokens)
        if isinstance(self.reading, Exception):
            raise self.reading
        return self.reading


def _transcriber(full: Any, short: Callable[[Any], Any], **options: Any) -> WhisperTranscriber:
    return WhisperTranscriber(NOWHERE, load=lambda _folder, _threads: full, shorten=short, **options)


def _sound(seconds: float = 2.0) -> AudioChunk:
    noise = np.random.default_rng(7).normal(0.0, 3_000, round(seconds * HEARING_FORMAT.sample_rate_hz))
    return AudioChunk(noise.astype(np.int16), HEARING_FORMAT)


async def _heard(reading: Reading, seconds: float = 2.0) -> tuple[str, int]:
    """The text, and how often the full window was asked."""
    full = _Full()
    transcript = await _transcriber(full, lambda _model: _Short(reading)).transcribe(_sound(seconds))
    return transcript.text, full.calls


async def test_what_the_short_window_is_sure_of_is_heard_without_the_full_one() -> None:
    assert await _heard(SURE) == ("Lights on.", 0)


@pytest.mark.parametrize(
    "reading",
    [
        Reading(" Flutter, please.", -0.9, 0.5),
        Reading(" on and on" * 12, -0.1, 0.1),
        Reading(" Lights on and then", -0.2, 0.1, is_cut_off=True),
        # In the short window no speech is likelier, also with speech: words are not dropped for it.
        Reading(" Four queen of clubs.", -1.2, 0.8),
        # Said or invented? The full window's gates know.
        Reading(" Thank you.", -0.5, 0.8),
    ],
)
async def test_the_full_window_is_asked_when_the_short_one_looks_wrong(reading: Reading) -> None:
    assert await _heard(reading) == ("the full window", 1)


@pytest.mark.parametrize("reading", [Reading(" you", -1.2, 0.8), Reading(" . .", -1.5, 0.9)])
async def test_noise_is_nothing_at_once(reading: Reading) -> None:
    assert await _heard(reading) == ("", 0)


async def test_thank_you_that_was_clearly_said_is_heard_at_once() -> None:
    assert await _heard(Reading(" Thank you.", -0.3, 0.2)) == ("Thank you.", 0)


async def test_long_speech_goes_to_the_full_window_at_once() -> None:
    assert await _heard(SURE, 19.9) == ("Lights on.", 0)
    assert await _heard(SURE, 20.1) == ("the full window", 1)


async def test_several_languages_go_to_the_full_window() -> None:
    transcriber = _transcriber(_Full(), lambda _model: _Short(SURE), languages=("en", "de"))
    transcript = await transcriber.transcribe(_sound())
    assert (transcript.text, transcript.language) == ("the full window", "de")


async def test_a_short_window_that_breaks_is_given_up_for_good(caplog: pytest.LogCaptureFixture) -> None:
    short = _Short(ValueError("cannot encode that few frames"))
    transcriber = _transcriber(_Full(), lambda _model: short)
    with caplog.at_level(logging.ERROR):
        assert (await transcriber.transcribe(_sound())).text == "the full window"
        assert (await transcriber.transcribe(_sound())).text == "the full window"
    assert len(short.most_tokens) == 1
    assert "only the full one is used" in caplog.text


async def test_weights_without_a_short_window_are_used_in_full(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_model: Any) -> _Short:
        raise ValueError("another kind of model")

    with caplog.at_level(logging.ERROR):
        assert (await _transcriber(_Full(), refuse).transcribe(_sound())).text == "the full window"
    assert "no short window" in caplog.text


async def test_a_model_that_runs_in_circles_may_not_go_on_for_long() -> None:
    short = _Short(SURE)
    transcriber = _transcriber(_Full(), lambda _model: short)
    await transcriber.transcribe(_sound(1.0))
    await transcriber.transcribe(_sound(19.0))
    assert short.most_tokens == [36, 220]


# --------------------------------------------------------------------------------------- the real model


@pytest.fixture(scope="module")
def weights() -> Any:
    return load_weights(models.locate("tiny.en", NOWHERE), 1)


class _Refusing:
    """The real model, whose full window must not be needed."""

    def __init__(self, weights: Any) -> None:
        self.supported_languages = weights.supported_languages

    def transcribe(self, _audio: npt.NDArray[np.float32], **_options: Any) -> tuple[Iterator[Any], None]:
        raise AssertionError("the full window was asked")


def _real(weights: Any) -> WhisperTranscriber:
    return _transcriber(_Refusing(weights), lambda _model: ShortWindow(weights))


@pytest.mark.parametrize(
    "said",
    [
        "What time is it?",
        "Turn off the kitchen light.",
        "Open the blinds in the office and close the ones in the hall.",
    ],
)
async def test_the_short_window_alone_hears_a_command(weights: Any, said: str) -> None:
    # No more silence behind the words than at the soft end.
    utterance = AudioChunk(np.concatenate([room(0.3), speak(said), room(0.1)]), HEARING_FORMAT)
    heard = (await _real(weights).transcribe(utterance)).text
    assert heard.lower().replace(",", "") == said.lower().replace(",", "")


@pytest.mark.parametrize(("seconds", "level"), [(0.5, 100.0), (1.0, 1_800.0), (3.0, 100.0), (8.0, 1_800.0)])
async def test_the_short_window_alone_knows_noise(weights: Any, seconds: float, level: float) -> None:
    assert (await _real(weights).transcribe(AudioChunk(room(seconds, noise=level), HEARING_FORMAT))).text == ""


async def test_the_encoder_sees_only_the_sound_and_a_second(weights: Any) -> None:
    lengths: list[int] = []

    class Watched:
        is_multilingual = weights.model.is_multilingual

        def encode(self, features: Any, *, to_cpu: bool) -> Any:
            lengths.append(features.shape[2])
            return weights.model.encode(features, to_cpu=to_cpu)

        def generate(self, encoded: Any, *arguments: Any, **options: Any) -> Any:
            assert encoded.shape[1] == 1_500, "the decoder needs the whole window"
            return weights.model.generate(encoded, *arguments, **options)

    model = SimpleNamespace(
        model=Watched(), feature_extractor=weights.feature_extractor, hf_tokenizer=weights.hf_tokenizer
    )
    window = ShortWindow(model)
    for seconds in (1.0, 3.0, 29.9):
        samples = room(seconds).astype(np.float32) / 32768
        window.read(samples, "en", beam_size=1, most_tokens=5)
    assert lengths == [3_000, 200, 400, 3_000]


async def test_the_names_that_are_expected_at_that_moment_are_the_hint_of_both_windows() -> None:
    names = ["Jellyfin", "Aoife"]
    full, short = _Full(), _Short(Reading(" ", -2.0, 0.1))
    transcriber = _transcriber(full, lambda _model: short)
    await transcriber.transcribe(_sound())
    transcriber.expect(lambda: names)
    await transcriber.transcribe(_sound())
    names.append("Tasmota")
    await transcriber.transcribe(_sound())
    assert short.hints == ["", "Jellyfin, Aoife.", "Jellyfin, Aoife, Tasmota."]
    assert full.hotwords == [None, *short.hints[1:]]


async def test_a_name_that_no_dictionary_has_is_heard_when_it_is_expected() -> None:
    transcriber = WhisperTranscriber(models.locate("tiny.en", NOWHERE), threads=1)
    said = AudioChunk(np.concatenate([room(0.3), speak("Restart the Fritzbox."), room(0.13)]), HEARING_FORMAT)
    try:
        before = (await transcriber.transcribe(said)).text
        transcriber.expect(lambda: ["Jellyfin", "Roborock", "Fritzbox", "Velux"])
        expected = (await transcriber.transcribe(said)).text
        silent = await transcriber.transcribe(_sound(1.0))
    finally:
        transcriber.close()
    assert "Fritzbox" not in before
    assert "Fritzbox" in expected
    assert silent.text == "", "an expected name is not heard in noise"


@pytest.mark.parametrize(("no_speech", "readings"), [(0.9, 2), (0.1, 1)])
async def test_a_hint_that_comes_back_where_perhaps_nobody_spoke_is_not_believed(
    no_speech: float, readings: int
) -> None:
    short = _Short(Reading(" Lutron, Velux.", -0.5, no_speech))
    transcriber = _transcriber(_Full(), lambda _model: short)
    transcriber.expect(lambda: ["Aoife", "Lutron", "Velux"])
    await transcriber.transcribe(_sound())
    assert short.hints == ["Aoife, Lutron, Velux.", ""][:readings]


async def test_few_expected_names_are_not_heard_in_faint_noise() -> None:
    transcriber = WhisperTranscriber(models.locate("tiny.en", NOWHERE), threads=1)
    transcriber.expect(lambda: ["Aoife", "Lutron", "Velux"])
    noise = np.random.default_rng(1).normal(0.0, 200, 16_000).astype(np.int16)
    try:
        assert (await transcriber.transcribe(AudioChunk(noise, HEARING_FORMAT))).text == ""
    finally:
        transcriber.close()
