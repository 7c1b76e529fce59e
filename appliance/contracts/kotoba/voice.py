"""The lines around a call: the module's own, with the soul's merged over them key by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from appliance.tools.tool import VoiceLines

#: Called with a sentence for the author about something in the module that has no effect.
Complain = Callable[[str], None]

#: Key in the soul file -> attribute of the module.
_KEYS = {"before": "ANNOUNCE", "heartbeat": "HEARTBEAT", "after": "COMPLETE", "fail": "FAIL"}


def voice_lines(module: Any, overrides: Mapping[str, Any], complain: Complain) -> VoiceLines:
    """An override of "" silences its phase; what neither names is silence too."""
    found = {key: getattr(module, attribute, None) for key, attribute in _KEYS.items()}
    found.update({key: value for key, value in overrides.items() if key in _KEYS})
    return VoiceLines(
        announce=_line("ANNOUNCE", found["before"], complain),
        heartbeat=_beats(found["heartbeat"], complain),
        complete=_line("COMPLETE", found["after"], complain),
        fail=_line("FAIL", found["fail"], complain),
    )


def as_soul_pattern(lines: VoiceLines) -> dict[str, Any]:
    """The lines in the shape in which ``ctx.soul_patterns`` shows them."""
    return {
        "before": lines.announce,
        "heartbeat": list(lines.heartbeat),
        "after": lines.complete,
        "fail": lines.fail,
    }


def _line(attribute: str, value: Any, complain: Complain) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    complain(f"{attribute} is not a text, so nothing is said there")
    return ""


def _beats(value: Any, complain: Complain) -> tuple[str, ...]:
    """A blank beat is kept: it is a beat of silence, and the one behind it keeps its time."""
    if not value:
        return ()
    if isinstance(value, str):
        complain("HEARTBEAT is a text and not a list of texts; it is taken as one line")
        return (value.strip(),)
    if not isinstance(value, list | tuple):
        complain("HEARTBEAT is not a list of texts, so nothing is said while the tool runs")
        return ()
    return tuple("" if beat is None else str(beat).strip() for beat in value)
