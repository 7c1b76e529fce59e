"""Language and voice of the soul: in force where the settings leave the choice, together or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.config import BoxConfig, Config, load
from appliance.home import Home
from appliance.soul_settings import follow_soul, with_soul
from appliance.speak.config import SpeakConfig
from appliance.think.soul import Soul

JOE = SpeakConfig().voice


def in_force(config: Config) -> tuple[str, str]:
    return config.of(BoxConfig).language, config.of(SpeakConfig).voice


def follow(soul: Soul, folder: Path, *languages: str, **settings: str) -> Config:
    config = load(None, {}, {key.replace("__", "."): value for key, value in settings.items()})
    return follow_soul(config, soul, languages or ("en",), folder)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with two fetched voices."""
    for name in ("en_GB-alba-medium", "de_DE-thorsten-medium"):
        (tmp_path / name).mkdir()
        for file in (f"{name}.onnx", f"{name}.onnx.json"):
            (tmp_path / name / file).write_bytes(b"x")
    return tmp_path


@pytest.mark.parametrize("language", ["", "auto", "en", "en-GB", "EN_us"])
def test_a_soul_without_another_wish_changes_nothing(models: Path, language: str) -> None:
    config = follow(Soul(language=language), models)
    assert (in_force(config), config.problems) == (("en", JOE), ())


def test_a_voice_of_the_soul_speaks(models: Path) -> None:
    config = follow(Soul(voice="en_GB-alba-medium"), models)
    assert (in_force(config), config.problems) == (("en", "en_GB-alba-medium"), ())
    (origin,) = [o for o in config.origins if (o.section, o.key) == ("speak", "voice")]
    assert (origin.value, origin.source) == ("en_GB-alba-medium", "soul")


def test_what_the_owner_has_set_is_stronger_than_the_soul(models: Path) -> None:
    soul = Soul(language="de", voice="en_GB-alba-medium")
    config = follow(soul, models, "en", "de", box__language="en", speak__voice=JOE)
    assert (in_force(config), config.problems) == (("en", JOE), ())
    config = follow(Soul(voice="en_GB-alba-medium"), models, speak__voice_path="my.onnx")
    assert (in_force(config), config.problems) == (("en", JOE), ())


@pytest.mark.parametrize("voice", ["EXAVITQu4vr4xnSDxMaL", "de_DE-thorsten-medium", "tiny.en"])
def test_a_voice_that_does_not_fit_is_told_and_the_usual_one_speaks(models: Path, voice: str) -> None:
    config = follow(Soul(voice=voice), models)
    assert in_force(config) == ("en", JOE)
    (problem,) = config.problems
    assert voice in problem
    assert "en_GB-alba-medium" in problem


def test_a_voice_that_was_not_fetched_is_told_with_what_to_do(tmp_path: Path) -> None:
    config = follow(Soul(voice="en_GB-alba-medium"), tmp_path)
    assert in_force(config) == ("en", JOE)
    assert "appliance models fetch en_GB-alba-medium" in config.problems[0]


def test_a_language_that_the_box_lacks_is_told(models: Path) -> None:
    config = follow(Soul(language="de"), models)
    assert in_force(config) == ("en", JOE)
    assert "'de'" in config.problems[0]
    assert "the box has: en" in config.problems[0]


def test_a_language_is_switched_with_all_that_belongs_to_it_or_not_at_all(models: Path) -> None:
    soul = Soul(language="de-AT", voice="de_DE-thorsten-medium")
    config = follow(soul, models, "en", "de")
    assert in_force(config) == ("en", JOE)
    assert "hear.model" in config.problems[0]
    assert "speak.voice" not in config.problems[0]

    config = follow(Soul(language="de"), models, "en", "de", hear__model="base")
    assert in_force(config) == ("en", JOE)
    assert "speak.voice" in config.problems[0]

    config = follow(soul, models, "en", "de", hear__model="base")
    assert (in_force(config), config.problems) == (("de", "de_DE-thorsten-medium"), ())


def test_the_soul_of_a_home_is_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert with_soul(load(None, {}), home).problems == ()
    home.soul_file.parent.mkdir()
    home.soul_file.write_text("name: Pip\nlanguage: xx\n---\n", encoding="utf-8")
    assert "'xx'" in with_soul(load(None, {}), home).problems[0]
