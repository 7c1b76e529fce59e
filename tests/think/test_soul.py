from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import ConfigError
from appliance.home import shipped
from appliance.think.soul import Soul, VoiceOverride
from appliance.tools.tool import VoiceLines

SOUL = """\
# The soul
name: Pip
language: auto
voice_id: "joe"
avatar_model: none

a line without a meaning
---
Not under any heading.
## personality
Calm and brief.

Likes: mornings.
## Something else
Skipped.
## Tool Voice Patterns
Spoken around tools.

tide_table:
  before: "Checking the tides."
  heartbeat: ["Still reading the chart.", 2]
  fail: 'The chart would not load.'
  later: "No such line."
bus_times:
  before: "First."
bus_times:
  after: ""
# kettle:
#  before: "Never."
broken:
  heartbeat: ["no end
  after: plain words: with a colon
number:
  before: 5
empty:
--- just prose
## Quirks
- Likes the sea.
"""

OWN = VoiceLines("Own start.", ("Own beat.",), "Own end.", "Own failure.")


def test_the_parts_of_a_soul_are_read() -> None:
    soul = Soul.parse(SOUL)
    assert (soul.name, soul.language, soul.voice) == ("Pip", "auto", "joe")
    assert soul.personality == "Calm and brief.\n\nLikes: mornings."
    assert soul.quirks == "- Likes the sea."
    assert (soul.address, soul.emotional_rules) == ("", "")


def test_voice_patterns_are_read_line_by_line() -> None:
    assert Soul.parse(SOUL).voice_overrides == {
        "tide_table": VoiceOverride(
            announce="Checking the tides.",
            heartbeat=("Still reading the chart.", "2"),
            fail="The chart would not load.",
        ),
        "bus_times": VoiceOverride(complete=""),
        "broken": VoiceOverride(heartbeat=(), complete="plain words: with a colon"),
        "number": VoiceOverride(announce="5"),
    }


def test_a_partial_override_keeps_the_tools_other_lines_and_an_empty_one_silences() -> None:
    soul = Soul.parse(SOUL)
    assert soul.lines_for("tide_table", OWN) == VoiceLines(
        "Checking the tides.", ("Still reading the chart.", "2"), "Own end.", "The chart would not load."
    )
    assert soul.lines_for("bus_times", OWN) == VoiceLines("Own start.", ("Own beat.",), "", "Own failure.")
    assert soul.lines_for("unnamed", OWN) == OWN


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "## ",
        "no headings at all",
        "name:\n",
        "\ufeff---\n---\n",
        "## Tool voice patterns\n  before: x\n:\n :",
    ],
)
def test_whatever_an_owner_writes_is_no_error(text: str) -> None:
    assert Soul.parse(text).voice_overrides == {}


def test_a_front_part_between_two_rules_is_read_too() -> None:
    assert Soul.parse("---\nname: Pip\n---\nname: Pop\n## Quirks\nNone.\n").name == "Pip"


def test_a_missing_file_says_which_and_odd_bytes_are_read_over(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"soul\.md"):
        Soul.load(tmp_path / "soul.md")
    (tmp_path / "soul.md").write_bytes(b"name: P\xffp\n---\n## Quirks\n" + b"long " * 10_000)
    soul = Soul.load(tmp_path / "soul.md")
    assert soul.name == "P\ufffdp"
    assert len(soul.quirks) <= 32_000


def test_the_shipped_soul_is_whole() -> None:
    soul = Soul.load(shipped("soul") / "default.md")
    assert soul.name and soul.personality and soul.address and soul.emotional_rules and soul.quirks
    assert soul.voice_overrides == {}
