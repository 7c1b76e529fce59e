"""What a small transcriber writes for the sentences of this box, mended where the meaning is beyond doubt.

Collected by having a voice speak our sentences, with and without noise, and the shipped transcriber write them down.
Every pattern looks at its neighbours, so that it does not touch what somebody really said.
"""

from __future__ import annotations

import re

_MENDED = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^(set|start) (?:at|it|in|a|the) (?=(?:\w+ )?timer\b|\d+ (?:second|minute|hour))", r"\1 a "),
        (r"^set (?:(?:in|at|it|a|an|the) )*(?:alarm|along|long|aline|line|lawn|1|arm) (?=for|at|to)", "set an alarm "),
        (r"\ball arms\b", "all alarms"),
        (r"\b(\d) 12 (?=minutes|hours)", r"\1 1/2 "),
        (r"^(?:do you|you|we) mind me\b", "remind me"),
        (r"^(?:time|timer) (?:for|at|of) (?=\d)", "timer for "),
        (r"^at (?=(?:\d+|an?) (?:second|minute|hour)s? to\b)", "add "),
        (r"\b(\d+ hours?) in (?=\d+ minutes?\b)", r"\1 and "),
        (r"\b(minutes?|hours?|seconds?) (?:cold|call|code)\b(?= \w)", r"\1 called"),
        (r"^(?:we )?(?:wait|weight|weak|way) (?:me|meet)( up)?\b", r"wake me\1"),
        (r"^wake (?:need|meet|mean) up\b", "wake me up"),
        (r"^turned (?=up\b|down\b)", "turn "),
        (r"^wake me( up)? (?:that|it|add) (?=\d)", r"wake me\1 at "),
        (r"\b(?:it|that|and|a) (half|quarter) (?:past|pass)\b", r"at \1 past"),
        (r"\b(half|quarter|minutes?) (?:pass|passed) (?=\d)", r"\1 past "),
        (r"^(?:flow|low) down\b", "slow down"),
        (r"^speaks (lower|low)\b", "speak slower"),
        (r"^(?:meet|moot|need|newt|mood|moved?) (?=(?:the )?microphone$|yourself$)", "mute "),
        (r"^(?:value|follow you|power you|volumes) (?=up$|down$|\d+)", "volume "),
        (r"^(?:you|knew|new) (?:topic|top it|topics)$", "new topic"),
        (r"^you are you$", "who are you"),
        (r"^(when|what) it is (?=my\b)", r"\1 is "),
    )
)


def mended(text: str) -> str:
    """``text`` (canonical words) with known mishearings put right."""
    for pattern, replacement in _MENDED:
        text = pattern.sub(replacement, text)
    return text
