"""The soul file: who the box is, in Markdown that its owner writes.

::

    # SOUL
    name: Wren                 front part: name, language, voice_id; up to the first line of dashes
    ---
    ## Personality             also: How to address the user, Emotional rules, Quirks
    Warm and brief.
    ## Tool voice patterns     lines around tools, over the tools' own
    kettle:
      before: "I put the kettle on."
      heartbeat: ["Not boiling yet.", "Nearly."]
      fail: ""                 silence

Nothing in it is an error: what is not understood is left out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.errors import ConfigError
from appliance.tools.tool import VoiceLines

_LOG = logging.getLogger(__name__)

#: A soul is read to the model in every round; more than this is a mistake.
_LONGEST_CHARACTERS = 32_000


@dataclass(frozen=True)
class VoiceOverride:
    """Lines around one tool; None keeps the tool's own, an empty one is silence."""

    announce: str | None = None
    heartbeat: tuple[str, ...] | None = None
    complete: str | None = None
    fail: str | None = None

    def over(self, own: VoiceLines) -> VoiceLines:
        """The tool's lines with these put over them."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        return replace(own, **given)


@dataclass(frozen=True)
class Soul:
    """Name, language and voice ("" leaves the choice to the settings), and the texts under the headings."""

    name: str = ""
    language: str = ""
    voice: str = ""
    personality: str = ""
    address: str = ""
    emotional_rules: str = ""
    quirks: str = ""
    voice_overrides: Mapping[str, VoiceOverride] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> Soul:
        """Read a soul file. Raises ``ConfigError`` when there is none that can be read."""
        try:
            text = file.read_bytes().decode("utf-8", errors="replace")
        except OSError as error:
            raise ConfigError(f"the soul {file} cannot be read: {error.strerror}") from error
        if len(text) > _LONGEST_CHARACTERS:
            _LOG.warning("the soul %s is cut at %d characters", file, _LONGEST_CHARACTERS)
        return cls.parse(text[:_LONGEST_CHARACTERS])

    @classmethod
    def parse(cls, text: str) -> Soul:
        """A soul from its text."""
        front, sections = _parts(text.removeprefix("\ufeff").splitlines())
        return cls(
            name=front.get("name", ""),
            language=front.get("language", ""),
            voice=front.get("voice_id", ""),
            personality=_prose(sections, "personality"),
            address=_prose(sections, "how to address the user"),
            emotional_rules=_prose(sections, "emotional rules"),
            quirks=_prose(sections, "quirks"),
            voice_overrides=dict(_overrides(sections.get("tool voice patterns", []))),
        )

    def lines_for(self, tool: str, own: VoiceLines) -> VoiceLines:
        """What is said around a tool: its own lines, with this soul's put over them."""
        override = self.voice_overrides.get(tool)
        return own if override is None else override.over(own)


def _parts(lines: list[str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The front part, and the lines under each heading (lower case); a repeated heading goes on."""
    front: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    heading: str | None = None
    in_front = True
    for number, line in enumerate(lines):
        if line.startswith("## "):
            in_front = False
            heading = line[3:].strip().lower()
        elif in_front and _is_rule(line):
            in_front = not any(map(str.strip, lines[:number]))  # a rule on top opens the front part instead
        elif in_front and not line.lstrip().startswith("#"):
            key, colon, value = line.partition(":")
            if colon:
                front[key.strip().lower()] = value.strip().strip("\"'")
        elif heading is not None:
            sections.setdefault(heading, []).append(line)
    return front, sections


def _is_rule(line: str) -> bool:
    return line.strip().startswith("---") and not line.strip(" -")


def _prose(sections: Mapping[str, list[str]], heading: str) -> str:
    return "\n".join(sections.get(heading, [])).strip()


def _overrides(lines: list[str]) -> Iterator[tuple[str, VoiceOverride]]:
    """The blocks under the voice patterns, by tool; a tool named twice starts over."""
    blocks: dict[str, dict[str, str]] = {}
    block: dict[str, str] = {}
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if line[0].isspace():
            key, colon, value = stripped.partition(":")
            if colon:
                block[key.strip().lower()] = value.strip()
        elif stripped.endswith(":"):
            block = blocks[stripped[:-1].strip()] = {}
        # other text at the margin is prose
    for tool, values in blocks.items():
        override = _override(values)
        if override != VoiceOverride():
            yield tool, override


def _override(values: Mapping[str, str]) -> VoiceOverride:
    return VoiceOverride(
        announce=_line(values["before"]) if "before" in values else None,
        heartbeat=_beats(values["heartbeat"]) if "heartbeat" in values else None,
        complete=_line(values["after"]) if "after" in values else None,
        fail=_line(values["fail"]) if "fail" in values else None,
    )


def _line(raw: str) -> str:
    """JSON when it is JSON, else the text without the quotes around it."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return raw.strip("\"'")
    return value if isinstance(value, str) else str(value)


def _beats(raw: str) -> tuple[str, ...]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return ()
    return tuple(str(entry) for entry in value) if isinstance(value, list) else ()
