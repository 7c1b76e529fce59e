"""What the benchmark of growth is made of: a great many tools, and what understands their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.home import shipped
from appliance.ports_think import SentenceMatcher
from appliance.think.sentences import SENTENCE_LISTS, fixed_lists
from appliance.tools.tool import Tool

_ABOUT = {"type": "string", "description": "what it is about"}
_SCHEMA: Mapping[str, Any] = {
    "type": "function",
    "description": "Tells what one of a great many gadgets says about something.",
    "parameters": {"type": "object", "properties": {"about": _ABOUT}, "required": ["about"]},
}


def many_tools(count: int) -> list[Tool]:
    """Tools that do nothing, ten of each plugin."""
    from appliance.adapters.fakes.tool import FakeTool

    return [
        FakeTool(f"gadget_{number}", origin=f"plugin:p{number // 10}", schema={**_SCHEMA, "name": f"gadget_{number}"})
        for number in range(count)
    ]


def sentence_matcher() -> SentenceMatcher:
    """The box's own, with its English sentences."""
    from appliance.adapters.sentence_matcher import HassilMatcher

    return HassilMatcher(shipped("soul") / "en" / "intents.yaml", fixed_lists(), SENTENCE_LISTS)
