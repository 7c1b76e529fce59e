"""The real sentences of the box, parsed once for all tests."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.home import shipped
from appliance.think.sentences import Sentences, fixed_lists

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
    return Sentences(HassilMatcher(shipped("soul") / "en" / "intents.yaml", fixed_lists()))


def rows() -> list[Row]:
    """The table of what was heard and what it means."""
    found = []
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        heard, meaning, arguments, flags = [*line.split("\t"), "", ""][:4]
        found.append(Row(heard, meaning, json.loads(arguments or "{}"), flags == "control"))
    return found
