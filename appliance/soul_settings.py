"""Language and voice that the soul asks for, put in force where the owner's settings leave the choice.

A language is hearing, voice, sentences and catalogue together: it is switched when the box has all of them, or not at
all. A voice must speak the language that is in force.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from pathlib import Path

from appliance import models
from appliance.config import BoxConfig, Config
from appliance.errors import WeightsError
from appliance.home import Home, shipped
from appliance.listen.config import HearConfig
from appliance.models import Purpose, known_weights
from appliance.speak.config import SpeakConfig
from appliance.think.soul import Soul
from appliance.think.soul_file import find_soul

#: Leaves the language to the settings.
_ANY_LANGUAGE = ("", "auto")


def with_soul(config: Config, home: Home) -> Config:
    """The settings with what the soul of this home asks for. Reads the disk."""
    souls = shipped("soul")
    languages = {file.parent.name for file in souls.glob("*/*.toml")}
    return follow_soul(config, find_soul(home.soul_file, souls / "default.md").soul, languages, home.models_folder)


def follow_soul(config: Config, soul: Soul, languages: Collection[str], models_folder: Path) -> Config:
    """The settings with what the soul asks for; its wishes that cannot be met are among the ``problems``.

    Reads the disk.
    """
    problems: list[str] = []
    config = _with_language(config, soul, languages, problems.append)
    config = _with_voice(config, soul, models_folder, problems.append)
    return dataclasses.replace(config, problems=(*config.problems, *problems))


def _with_language(config: Config, soul: Soul, languages: Collection[str], complain: Callable[[str], None]) -> Config:
    wanted = soul.language.lower().replace("_", "-").partition("-")[0]
    now = config.of(BoxConfig).language
    if wanted in (*_ANY_LANGUAGE, now) or not _is_default(config, "box", "language"):
        return config
    if wanted not in languages:
        known = ", ".join(sorted(languages))
        complain(f"the soul asks for the language {soul.language!r}, and the box has: {known}; it stays with {now}")
        return config
    speak, hear = config.of(SpeakConfig), config.of(HearConfig)
    voice = soul.voice if _is_default(config, "speak", "voice") and _speaks(soul.voice, wanted) else speak.voice
    lacks = [] if speak.voice_path or _speaks(voice, wanted) else ["a voice that speaks it (speak.voice)"]
    lacks += [] if hear.model_path or _fits(hear.model, wanted) else ["weights that hear it (hear.model)"]
    if lacks:
        complain(f"the soul asks for the language {soul.language!r}, which needs {' and '.join(lacks)}")
        return config
    return _with(config, "box", "language", wanted)


def _with_voice(config: Config, soul: Soul, models_folder: Path, complain: Callable[[str], None]) -> Config:
    speak, language = config.of(SpeakConfig), config.of(BoxConfig).language
    if not soul.voice or soul.voice == speak.voice or speak.voice_path or not _is_default(config, "speak", "voice"):
        return config
    if not _speaks(soul.voice, language):
        known = ", ".join(name for name in known_weights() if _speaks(name, language))
        complain(f"the soul asks for the voice {soul.voice!r}; those that speak {language} are: {known}")
        return config
    try:
        models.locate(soul.voice, models_folder)
    except WeightsError as error:
        complain(f"the voice of the soul cannot be used: {error}")
        return config
    return _with(config, "speak", "voice", soul.voice)


def _speaks(voice: str, language: str) -> bool:
    weights = known_weights().get(voice)
    return weights is not None and weights.purpose is Purpose.VOICE and _fits(voice, language)


def _fits(name: str, language: str) -> bool:
    weights = known_weights().get(name)
    return weights is not None and (not weights.languages or language in weights.languages)


def _is_default(config: Config, section: str, key: str) -> bool:
    return all(o.source == "default" for o in config.origins if (o.section, o.key) == (section, key))


def _with(config: Config, section: str, key: str, value: str) -> Config:
    changed = dataclasses.replace(config.sections[section], **{key: value})
    origins = tuple(
        dataclasses.replace(o, value=value, source="soul") if (o.section, o.key) == (section, key) else o
        for o in config.origins
    )
    return dataclasses.replace(config, sections={**config.sections, section: changed}, origins=origins)
