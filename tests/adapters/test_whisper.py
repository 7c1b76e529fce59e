from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from appliance import models
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.piper import PiperSynthesizer
from appliance.adapters.whisper import WhisperTranscriber, default_threads
from appliance.audio import HEARING_FORMAT, AudioChunk, AudioFormat, join, silence
from appliance.clock import settle
from appliance.errors import HearingError, WeightsError
from appliance.ports import Transcript

NOWHERE = Path("nowhere")


@dataclass(frozen=True)
class _Segment:
    text: str
    avg_logprob: float = -0.2
    no_speech_prob: float = 0.1


class _Model:
    """Stands in for faster-whisper's model: gives scripted segments, keeps what it was asked."""

    def __init__(self, *segments: _Segment, languages: tuple[str, ...] = ("en", "de", "es")) -> None:
        self.supported_languages = list(languages)
        self.options: list[dict[str, Any]] = []
        self.lengths: list[int] = []
        self.likely = [("nl", 0.5), ("de", 0.3), ("en", 0.2)]
        self._segments = segments

    def transcribe(self, audio: npt.NDArray[np.float32], **options: Any) -> tuple[Iterator[_Segment], None]:
        assert audio.dtype == np.float32
        assert np.abs(audio).max() <= 1.0
        self.lengths.append(len(audio))
        self.options.append(options)
        return iter(self._segments), None

    def detect_language(self, audio: npt.NDArray[np.float32]) -> tuple[str, float, list[tuple[str, float]]]:
        return *self.likely[0], self.likely


class _BrokenModel(_Model):
    def transcribe(self, audio: npt.NDArray[np.float32], **options: Any) -> tuple[Iterator[_Segment], None]:
        raise RuntimeError("out of memory")


def _transcriber(model: _Model, **options: Any) -> WhisperTranscriber:
    """Without a short window, unless one is given."""
    return WhisperTranscriber(NOWHERE, load=lambda _folder, _threads: model, **{"shorten": None, **options})


def _noise(level_dbfs: float, seconds: float = 1.0) -> AudioChunk:
    noise = np.random.default_rng(7).standard_normal(round(seconds * HEARING_FORMAT.sample_rate_hz))
    samples = np.clip(noise * 32768 * 10 ** (level_dbfs / 20), -32768, 32767)
    return AudioChunk(samples.astype(np.int16), HEARING_FORMAT)


# ------------------------------------------------------------------------------------------------ gates


@pytest.mark.parametrize("utterance", [silence(1.0), silence(0.0), _noise(-60.0, 5.0), _noise(-58.0)])
async def test_silence_never_reaches_the_model(utterance: AudioChunk) -> None:
    model = _Model(_Segment("Thanks for watching!"))
    assert (await _transcriber(model).transcribe(utterance)).text == ""
    assert model.lengths == []


async def test_a_constant_offset_of_a_cheap_microphone_is_silence() -> None:
    model = _Model(_Segment("you"))
    offset = AudioChunk(np.full(16_000, 3_000, dtype=np.int16), HEARING_FORMAT)
    assert (await _transcriber(model).transcribe(offset)).text == ""
    assert model.lengths == []


async def test_a_short_word_in_a_long_silence_is_heard() -> None:
    model = _Model(_Segment(" Stop."))
    utterance = join([silence(5.0), _noise(-40.0, 0.1), silence(5.0)])
    assert (await _transcriber(model).transcribe(utterance)).text == "Stop."


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        (_Segment(" Stop."), "Stop."),
        (_Segment(" Five.", avg_logprob=-0.72, no_speech_prob=0.59), "Five."),
        (_Segment(" Louder.", avg_logprob=-1.49, no_speech_prob=0.2), "Louder."),
        (_Segment(" you", avg_logprob=-1.1, no_speech_prob=0.7), ""),
        (_Segment(" . . ."), ""),
        (_Segment(""), ""),
    ],
)
async def test_text_is_dropped_when_the_model_doubts_that_there_was_speech(segment: _Segment, text: str) -> None:
    assert (await _transcriber(_Model(segment)).transcribe(_noise(-20.0))).text == text


async def test_only_the_doubtful_part_of_an_utterance_is_dropped() -> None:
    model = _Model(_Segment(" Turn it up."), _Segment(" you", avg_logprob=-1.4, no_speech_prob=0.9))
    transcript = await _transcriber(model).transcribe(_noise(-20.0))
    assert transcript.text == "Turn it up."
    assert transcript.average_log_probability == -1.4
    assert transcript.no_speech_probability == 0.9


@pytest.mark.parametrize(("level_dbfs", "text"), [(-20.0, "Thank you."), (-50.0, "")])
async def test_thank_you_counts_only_when_it_was_loud_enough(level_dbfs: float, text: str) -> None:
    assert (await _transcriber(_Model(_Segment(" Thank you."))).transcribe(_noise(level_dbfs))).text == text


async def test_a_quiet_command_is_heard() -> None:
    assert (await _transcriber(_Model(_Segment(" Lights off."))).transcribe(_noise(-50.0))).text == "Lights off."


# ------------------------------------------------------------------------------------------------ calls


async def test_nothing_is_tried_twice_and_nothing_is_carried_over() -> None:
    model = _Model(_Segment("Hi"))
    await _transcriber(model, beam_size=2).transcribe(_noise(-20.0, 2.0))
    options = model.options[0]
    assert options["temperature"] == 0.0
    assert options["condition_on_previous_text"] is False
    assert options["beam_size"] == 2
    assert options["language"] == "en"
    assert options["max_new_tokens"] < 100


async def test_a_very_short_utterance_is_padded() -> None:
    model = _Model(_Segment("No."))
    await _transcriber(model).transcribe(_noise(-20.0, 0.1))
    assert model.lengths == [8_000]


async def test_an_utterance_longer_than_a_window_keeps_its_time_stamps() -> None:
    model = _Model(_Segment("Hi"))
    await _transcriber(model).transcribe(_noise(-20.0, 31.0))
    await _transcriber(model).transcribe(_noise(-20.0, 29.0))
    assert [options["without_timestamps"] for options in model.options] == [False, True]


async def test_of_several_languages_the_likeliest_configured_one_is_taken() -> None:
    model = _Model(_Segment("Hallo"))
    transcript = await _transcriber(model, languages=("en", "de")).transcribe(_noise(-20.0))
    assert transcript.language == "de"
    assert model.options[0]["language"] == "de"


async def test_weights_that_do_not_know_the_language_say_what_to_do() -> None:
    with pytest.raises(WeightsError, match=r"do not know de, es; set hear\.model"):
        await _transcriber(_Model(languages=("en",)), languages=("de", "en", "es")).warm_up()


async def test_a_failing_model_is_a_hearing_error() -> None:
    with pytest.raises(HearingError, match="out of memory"):
        await _transcriber(_BrokenModel()).transcribe(_noise(-20.0))


async def test_another_format_is_refused() -> None:
    with pytest.raises(HearingError, match="must be"):
        await _transcriber(_Model()).transcribe(silence(1.0, AudioFormat(44_100)))


async def test_a_closed_transcriber_says_so() -> None:
    transcriber = _transcriber(_Model())
    transcriber.close()
    with pytest.raises(HearingError, match="closed"):
        await transcriber.transcribe(_noise(-20.0))


async def test_an_utterance_that_was_given_up_is_not_transcribed_after_all() -> None:
    may_go_on = threading.Event()

    class Slow(_Model):
        def transcribe(self, audio: npt.NDArray[np.float32], **options: Any) -> tuple[Iterator[_Segment], None]:
            may_go_on.wait(10)
            return super().transcribe(audio, **options)

    model = Slow(_Segment("Hi"))
    transcriber = _transcriber(model)
    first = asyncio.create_task(transcriber.transcribe(_noise(-20.0, 1.0)))
    given_up = asyncio.create_task(transcriber.transcribe(_noise(-20.0, 2.0)))
    await settle()
    given_up.cancel()
    await settle()
    may_go_on.set()
    assert (await first).text == "Hi"
    assert (await transcriber.transcribe(_noise(-20.0, 3.0))).text == "Hi"
    assert model.lengths == [16_000, 48_000]


async def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"x")
    with pytest.raises(WeightsError, match=r"lacks config\.json, tokenizer\.json; run \./run setup"):
        await WhisperTranscriber(tmp_path).warm_up()


async def test_broken_weights_say_what_to_do(tmp_path: Path) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        await WhisperTranscriber(tmp_path).warm_up()


def test_from_three_cores_on_one_stays_free_for_sound() -> None:
    assert [default_threads(cores) for cores in (1, 2, 3, 4, 8)] == [1, 2, 2, 3, 4]


# --------------------------------------------------------------------------------------- the real model


async def test_what_piper_says_whisper_hears(tmp_path: Path) -> None:
    voice = PiperSynthesizer(models.locate("en_US-joe-medium", tmp_path))
    transcriber = WhisperTranscriber(models.locate("tiny.en", tmp_path))
    await transcriber.warm_up()
    chunks = [chunk.audio async for chunk in voice.synthesize("It is seven minutes past three.")]
    transcript = await transcriber.transcribe(_at_hearing_rate(join(chunks, AudioFormat(voice.sample_rate_hz))))
    assert transcript.text in ("It is 7 minutes past 3.", "It is seven minutes past three.")
    assert transcript.average_log_probability > -0.6
    assert transcript.no_speech_probability < 0.3
    # Loud enough for the model, but nobody speaks.
    assert (await transcriber.transcribe(_noise(-30.0))).text == ""
    transcriber.close()
    voice.close()


def _at_hearing_rate(audio: AudioChunk) -> AudioChunk:
    import soxr

    samples = soxr.resample(audio.samples, audio.format.sample_rate_hz, HEARING_FORMAT.sample_rate_hz)
    return AudioChunk(samples.astype(np.int16), HEARING_FORMAT)


# -------------------------------------------------------------------------------------------- the fake


async def test_the_fake_hears_its_script() -> None:
    fake = FakeTranscriber("one")
    fake.fail()
    fake.will_hear(Transcript("zwei", "de"))
    assert (await fake.transcribe(silence(1.0))).text == "one"
    with pytest.raises(HearingError):
        await fake.transcribe(silence(2.0))
    assert (await fake.transcribe(silence(3.0))).language == "de"
    assert (await fake.transcribe(silence(4.0))).text == ""
    assert [utterance.duration_seconds for utterance in fake.heard] == [1.0, 2.0, 3.0, 4.0]


async def test_the_fake_waits_while_it_is_blocked() -> None:
    fake = FakeTranscriber("late")
    fake.block()
    answer = asyncio.create_task(fake.transcribe(silence(1.0)))
    await settle()
    assert not answer.done()
    fake.release()
    assert (await answer).text == "late"
