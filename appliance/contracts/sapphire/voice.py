"""The lines around a plugin tool: the soul's, else those in the plugin's settings, else friendly ones of the box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.catalogue import Catalogue
from appliance.contracts.kotoba.voice import as_soul_pattern, voice_lines
from appliance.tools.tool import VoiceLines

#: In the plugin's settings: lines for all its tools, or one object of lines for each tool.
VOICE_SETTING = "voice"
_KEYS = frozenset({"before", "heartbeat", "after", "fail"})


def usual_lines(catalogue: Catalogue, spoken_name: str) -> VoiceLines:
    """What is said around the tools of a plugin that brings no words of its own."""
    return VoiceLines(
        announce=catalogue.say("plugins.before", plugin=spoken_name),
        heartbeat=tuple(form.format(plugin=spoken_name) for form in catalogue.forms("plugins.still")),
        complete=catalogue.say("plugins.after", plugin=spoken_name),
        fail=catalogue.say("plugins.fail", plugin=spoken_name),
    )


def lines_for(
    tool: str, plugin: str, usual: VoiceLines, settings: Mapping[str, Any], soul: Mapping[str, Mapping[str, Any]]
) -> VoiceLines:
    """The lines of one tool; the soul may name the tool, or its plugin."""
    chosen: dict[str, Any] = as_soul_pattern(usual)
    block = settings.get(VOICE_SETTING)
    if isinstance(block, Mapping):
        chosen.update(_known(block))
        chosen.update(_known(block.get(tool)))
    chosen.update(soul.get(plugin, {}))
    chosen.update(soul.get(tool, {}))
    return voice_lines(None, chosen, lambda _sentence: None)


def _known(block: object) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key in _KEYS} if isinstance(block, Mapping) else {}
