"""The real sentences of the box and of the plugins that ship with it, parsed once for all tests."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.home import shipped
from appliance.ports_think import SentenceFile
from appliance.think.sentences import SENTENCE_LISTS, Sentences, fixed_lists

_TABLE = Path(__file__).parent / "offline-sentences.tsv"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    heard: str
    meaning: str
    arguments: dict[str, Any]
    is_control: bool


@functools.cache
def sentences() -> Sentences:
    """The shipped sentences."""
    matcher = HassilMatcher(shipped("soul") / "en" / "intents.yaml", fixed_lists(), SENTENCE_LISTS)
    assert not matcher.use(plugin_files())
    return Sentences(matcher)


def plugin_files() -> list[SentenceFile]:
    """What the shipped plugins bring along that are on from the start."""
    files = [file for file in sorted(shipped("plugins").glob("*/sentences/en.yaml")) if _is_on(file.parent.parent)]
    intents = (yaml.safe_load(file.read_text(encoding="utf-8"))["intents"] for file in files)
    return [
        SentenceFile(f"plugin:{file.parent.parent.name}", file, frozenset(names))
        for file, names in zip(files, intents, strict=True)
    ]


def _is_on(plugin: Path) -> bool:
    manifest = plugin / "plugin.json"
    return not manifest.exists() or json.loads(manifest.read_text(encoding="utf-8")).get("default_enabled") is True


def rows() -> list[Row]:
    """The table of what was heard and what it means."""
    found = []
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        heard, meaning, arguments, flags = [*line.split("\t"), "", ""][:4]
        found.append(Row(heard, meaning, json.loads(arguments or "{}"), flags == "control"))
    return found
