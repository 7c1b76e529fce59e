"""How a plugin looks without running it: what the contracts read off its source, and the plugin manager shows."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class Contract(enum.StrEnum):
    """Which of the two contracts a plugin follows; the words are those of ``plugin list``."""

    MODULE = "module"
    TOOL = "tool"


@dataclass(frozen=True)
class ToolFacts:
    """One tool as its source tells: what it can do to the world, and why that is thought. Nothing was run."""

    name: str
    risk: str
    why_risk: str


@dataclass(frozen=True)
class Inspection:
    """How a plugin looks without running it. Every text is a sentence or part of one for the owner.

    Anything in ``refusals`` forbids installing it; ``warnings`` are told. ``will_be_able_to`` is what is shown before
    the yes. ``requirements`` are what it needs, as in a requirements file. ``keys`` maps each key its code asks for to
    whether it has nothing to use instead. ``background`` says what runs without being called.
    """

    name: str
    contract: Contract
    title: str = ""
    description: str = ""
    tools: tuple[ToolFacts, ...] = ()
    lanes: tuple[str, ...] = ()
    keys: Mapping[str, bool] = field(default_factory=dict)
    background: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    needs_app_version: str = ""
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    will_be_able_to: tuple[str, ...] = ()


class Inspector(Protocol):
    """Reads a plugin's source; never imports it. Its methods read the disk and block."""

    def inspect(self, place: Path, taken: Mapping[str, str]) -> Inspection:
        """Look at a plugin's folder or lone file.

        ``taken`` maps the name of every tool that is there already to whose it is ("the box", "the plugin weather");
        without those of the plugin's own older version. Never raises for what the plugin does wrong.
        """
        ...
