"""Takes secrets out of a stranger's error text before it is stored."""

from __future__ import annotations

import re

_LONGEST = 500
_HIDDEN = "[hidden]"

#: What looks like a secret, with the part in front of it that may stay.
_SECRETS = (
    re.compile(r"(?P<keep>\w+://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(r"(?P<keep>\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
    re.compile(
        r"(?P<keep>\b[\w-]*(?:key|token|secret|passw(?:or)?d|authorization)[\w-]*[\"']?\s*[=:]\s*[\"']?)"
        r"(?!(?:bearer|basic)\b)[^\s\"'&,;}]+",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>)\bsk-[\w-]{8,}"),
)


def redacted(text: str) -> str:
    """``text`` on one line, at most 500 characters, without secrets: for a column of a table."""
    line = without_secrets(" ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def without_secrets(text: str) -> str:
    """``text`` with whatever looks like a key, token or password hidden."""
    for pattern in _SECRETS:
        text = pattern.sub(lambda match: match["keep"] + _HIDDEN, text)
    return text
