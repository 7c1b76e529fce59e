from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.adapters.microwakeword import SHIPPED_WORDS, MicroWakeWords
from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.errors import WeightsError
from tests.listen.spoken import room, speak

CHUNK = 1280


def hits(detector: MicroWakeWords, samples: Samples) -> list[tuple[str, float]]:
    """Every finding, with the second at which its chunk ended."""
    found = []
    for start in range(0, len(samples) - CHUNK + 1, CHUNK):
        phrase = detector.detect(AudioChunk(samples[start : start + CHUNK], HEARING_FORMAT))
        if phrase is not None:
            found.append((phrase, (start + CHUNK) / HEARING_FORMAT.sample_rate_hz))
            detector.reset()
    return found


def _shipped_folder() -> Path:
    spec = importlib.util.find_spec("pymicro_wakeword")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "models"


def own_word(folder: Path, **changed: Any) -> Path:
    """The files of an owner's own wake word, with parts of its description changed."""
    shutil.copy(_shipped_folder() / "alexa.tflite", folder / "computer.tflite")
    description = json.loads((_shipped_folder() / "alexa.json").read_text(encoding="utf-8"))
    description |= {"wake_word": "Computer", "model": "computer.tflite"} | changed
    file = folder / "computer.json"
    file.write_text(json.dumps(description), encoding="utf-8")
    return file


@pytest.mark.parametrize("word", SHIPPED_WORDS)
def test_each_shipped_word_is_found_when_it_is_said_and_only_then(word: str) -> None:
    phrase = word.replace("_", " ")
    detector = MicroWakeWords([word])
    assert detector.phrases == (phrase,)
    found = hits(detector, np.concatenate([room(1.0), speak(f"{phrase.title()}, open the door."), room(1.0)]))
    assert [name for name, _ in found] == [phrase]
    assert hits(detector, np.concatenate([room(1.0), speak("The door is open and it is cold."), room(1.0)])) == []


def test_several_words_are_listened_for_at_once() -> None:
    detector = MicroWakeWords(SHIPPED_WORDS)
    said = [speak("Hey Mycroft, hello."), room(1.5), speak("Okay Nabu, hello."), room(1.5), speak("Alexa, hello.")]
    found = hits(detector, np.concatenate([room(1.0), *said, room(1.0)]))
    assert [name for name, _ in found] == ["hey mycroft", "okay nabu", "alexa"]


def test_the_size_of_the_chunks_does_not_matter() -> None:
    samples = np.concatenate([room(1.0), speak("Okay Nabu, open the door."), room(0.5)])
    detector = MicroWakeWords(["okay_nabu"])
    pieces = [AudioChunk(samples[at : at + 320], HEARING_FORMAT) for at in range(0, len(samples), 320)]
    assert "okay nabu" in {detector.detect(piece) for piece in pieces}


def test_an_owners_own_word_is_found(tmp_path: Path) -> None:
    detector = MicroWakeWords([str(own_word(tmp_path)), "okay_nabu"])
    assert detector.phrases == ("computer", "okay nabu")
    found = hits(detector, np.concatenate([room(1.0), speak("Alexa, hello."), room(1.0)]))
    assert [name for name, _ in found] == ["computer"]


def test_without_words_nothing_ever_wakes() -> None:
    detector = MicroWakeWords([])
    detector.reset()
    assert detector.phrases == ()
    assert hits(detector, room(0.5)) == []


def test_an_unknown_word_names_those_there_are() -> None:
    with pytest.raises(WeightsError, match=r"'hey_computer' is no wake word; there are: okay_nabu, hey_jarvis"):
        MicroWakeWords(["hey_computer"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"model": "elsewhere.tflite"}, "elsewhere.tflite are not beside it"),
        ({"wake_word": " "}, "its wake_word is empty"),
        ({"micro": {}}, "not a description of a microWakeWord"),
        ({"micro": {"probability_cutoff": 0.9, "sliding_window_size": 5, "feature_step_size": 20}}, "every 20 ms"),
    ],
)
def test_a_word_that_cannot_be_used_says_why(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(WeightsError, match=said):
        MicroWakeWords([str(own_word(tmp_path, **changed))])


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '"text"', "null"])
def test_a_description_that_is_not_one_says_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "word.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match=r"word\.json cannot be used"):
        MicroWakeWords([str(file)])


def test_a_missing_description_says_so(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="No such file"):
        MicroWakeWords([str(tmp_path / "word.json")])


@pytest.mark.parametrize("keep", [0, 40, 20_000])
def test_damaged_weights_do_not_end_the_program(tmp_path: Path, keep: int) -> None:
    file = own_word(tmp_path)
    weights = tmp_path / "computer.tflite"
    weights.write_bytes(weights.read_bytes()[:keep])
    with pytest.raises(WeightsError, match="damaged"):
        MicroWakeWords([str(file)]).load()
