"""How well the box hears people, against faster-whisper as it comes, with the same weights.

The speech is that of Debian's ``pocketsphinx-testdata``: commands, digits and sentences of a novel.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance import models
from appliance.adapters.whisper import WhisperTranscriber, load_weights
from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.bench.speech_clips import Clip, people
from appliance.bench.word_errors import word_errors, words_of


def _error_rate_percent(clips: list[Clip], heard: list[str]) -> float:
    said = [words_of(clip.text) for clip in clips]
    errors = sum(word_errors(words, words_of(text)) for words, text in zip(said, heard, strict=True))
    return 100.0 * errors / sum(len(words) for words in said)


@pytest.mark.skipif(not people(), reason="no human speech; as root: apt-get install pocketsphinx-testdata")
def test_people_are_heard_as_well_as_by_faster_whisper_as_it_comes() -> None:
    clips = people()
    assert len(clips) == 13
    folder = models.locate("tiny.en", Path("nowhere"))
    # One load for both: what is compared is how the model is asked.
    model: Any = load_weights(folder, 2)

    async def ours() -> list[str]:
        transcriber = WhisperTranscriber(folder, load=lambda _folder, _threads: model)
        utterances = [AudioChunk(clip.samples, HEARING_FORMAT) for clip in clips]
        heard = [(await transcriber.transcribe(utterance)).text for utterance in utterances]
        transcriber.close()
        return heard

    stock = [
        "".join(
            segment.text for segment in model.transcribe(clip.samples.astype(np.float32) / 32768.0, language="en")[0]
        )
        for clip in clips
    ]
    our_rate, stock_rate = (_error_rate_percent(clips, heard) for heard in (asyncio.run(ours()), stock))
    print(f"word error rate: ours {our_rate:.1f} %, faster-whisper as it comes {stock_rate:.1f} %")
    assert our_rate <= stock_rate + 1.0
    assert our_rate < 15.0


@pytest.mark.parametrize(
    ("said", "heard", "errors"),
    [
        ("ten of clubs", "10 of clubs.", 0),
        ("mister john", "Mr. John", 0),
        ("cold hearted", "Cold-hearted.", 0),
        ("two nine three four zero", "29340", 0),
        ("five five", "5 5", 0),
        ("four queen of clubs", "for Queen of Clothes.", 2),
        ("go on", "go on and on", 2),
        ("go on and on", "", 4),
    ],
)
def test_errors_are_counted_in_words(said: str, heard: str, errors: int) -> None:
    assert word_errors(words_of(said), words_of(heard)) == errors
