"""The soul file: who the box is, in Markdown that its owner writes.

::

    # SOUL
    name: Wren                 front part: name, language, voice_id (or voice); up to the first line of dashes
    ---
    ## Personality             also: How to address the user, Emotional rules, Quirks
    Warm and brief.
    ## Tool voice patterns     lines around tools, over the tools' own
    kettle:
      before: "I put the kettle on."
      heartbeat: ["Not boiling yet.", "Nearly."]
      fail: ""                 silence

Nothing in it is an error: what is not understood is left out. What its owner surely meant otherwise is remarked on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.errors import ConfigError
from appliance.tools.tool import VoiceLines

#: A soul is read to the model in every round; more than this is a mistake.
_LONGEST_CHARACTERS = 32_000
_KEYS = ("before", "heartbeat", "after", "fail")


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
    #: Sentences for the owner about what has another effect than they may think; no part of the soul itself.
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def load(cls, file: Path) -> Soul:
        """Read a soul file. Raises ``ConfigError`` when there is none that can be read."""
        try:
            text = file.read_bytes().decode("utf-8", errors="replace")
        except OSError as error:
            raise ConfigError(f"the soul {file} cannot be read: {error.strerror}") from error
        soul = cls.parse(text[:_LONGEST_CHARACTERS])
        if len(text) <= _LONGEST_CHARACTERS:
            return soul
        remark = f"it is longer than {_LONGEST_CHARACTERS} characters, and what comes after them is left out"
        return replace(soul, remarks=(*soul.remarks, remark))

    @classmethod
    def parse(cls, text: str) -> Soul:
        """A soul from its text."""
        front, sections = _parts(text.removeprefix("\ufeff").splitlines())
        blocks = _blocks(sections.get("tool voice patterns", []))
        return cls(
            name=front.get("name", ""),
            language=front.get("language", ""),
            voice=front.get("voice_id") or front.get("voice", ""),
            personality=_prose(sections, "personality"),
            address=_prose(sections, "how to address the user"),
            emotional_rules=_prose(sections, "emotional rules"),
            quirks=_prose(sections, "quirks"),
            voice_overrides={tool: _override(block) for tool, block in blocks.items()},
            remarks=tuple(_remarks(blocks)),
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


def _blocks(lines: list[str]) -> dict[str, dict[str, str]]:
    """The blocks under the voice patterns, by tool; a tool named twice starts over, one without lines is left out."""
    blocks: dict[str, dict[str, str]] = {}
    block: dict[str, str] = {}
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if line[0].isspace():
            key, colon, value = stripped.partition(":")
            if colon and key.strip().lower() in _KEYS:
                block[key.strip().lower()] = value.strip()
        elif stripped.endswith(":"):
            block = blocks[stripped[:-1].strip()] = {}
        # other text at the margin is prose
    return {tool: values for tool, values in blocks.items() if values}


def _remarks(blocks: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for tool, values in blocks.items():
        raw = values.get("heartbeat", "[]")
        if raw not in ("", '""') and not _is_list(raw):
            yield (
                f'the heartbeat of {tool} is no list on one line, such as ["Still busy."], '
                "so nothing is said while that tool runs"
            )


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
    return tuple(str(entry) for entry in json.loads(raw)) if _is_list(raw) else ()


def _is_list(raw: str) -> bool:
    try:
        return isinstance(json.loads(raw), list)
    except (ValueError, RecursionError):
        return False
