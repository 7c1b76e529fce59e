"""English lengths of time, read from canonical words (see ``pre_pass``) and said again.

``5 minutes``, ``half an hour``, ``1 hour and a half``, ``2 and a half minutes``, ``1 hour 30``.
"""

from __future__ import annotations

import re

_UNITS: dict[str, int] = {
    name: seconds
    for seconds, names in (
        (1, "second seconds sec secs"),
        (60, "minute minutes min mins"),
        (3600, "hour hours hr hrs"),
        (86400, "day days"),
        (604800, "week weeks"),
    )
    for name in names.split()
}
#: What a bare number behind this unit counts: "1 hour 30" is minutes.
_NEXT_UNIT = {60: 1, 3600: 60, 86400: 3600}
_UNIT = rf" (?P<unit>{'|'.join(_UNITS)})\b"

_LENGTHS = (
    re.compile(rf"(?:a )?half(?: an| a)?{_UNIT}"),
    re.compile(rf"(?:(?P<quarters>[123]) |a )?quarters?(?: of)? an?{_UNIT}"),
    re.compile(rf"(?P<couple>a couple)(?: of)?{_UNIT}"),
    re.compile(rf"(?P<number>\d+(?:\.\d+)?|an?)(?P<half> (?:and )?(?:a )?half(?: an?)?| (?:and )?1/2)?{_UNIT}"),
)
_TAIL = re.compile(r"(?:and )?a half$|(?P<number>\d{1,2})$")


def parse_duration(text: str) -> float | None:
    """Seconds of a length (``1 hour 30 minutes``); None when the words are not exactly one length."""
    rest, total = text.strip(), 0.0
    last_unit = 0
    while rest:
        found = next((match for pattern in _LENGTHS if (match := pattern.match(rest))), None)
        if found is not None:
            unit = _UNITS[found["unit"]]
            # Units fall ("1 hour 30 minutes"); "3 minutes 2 hours" is two lengths, not one.
            if last_unit and unit >= last_unit:
                return None
            total += _amount(found) * unit
            last_unit = unit
        else:
            found = _TAIL.match(rest)
            if found is None or last_unit not in _NEXT_UNIT:
                return None
            total += last_unit / 2 if found["number"] is None else int(found["number"]) * _NEXT_UNIT[last_unit]
        rest = rest[found.end() :].lstrip()
        if rest.startswith("and ") and not _TAIL.match(rest):
            rest = rest.removeprefix("and ")
    return total if total > 0 else None


def say_duration(seconds: float) -> str:
    """A length in words that the voice reads well: ``4 minutes and 10 seconds``; the seconds are rounded."""
    rest = max(0, round(seconds))
    parts = []
    for unit_seconds, unit in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        count, rest = divmod(rest, unit_seconds)
        if count:
            parts.append(f"{count} {unit}" + ("s" if count > 1 else ""))
    if not parts:
        return "0 seconds"
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def _amount(found: re.Match[str]) -> float:
    groups = found.groupdict()
    if groups.get("couple"):
        return 2.0
    if "quarters" in groups:
        return int(groups["quarters"] or 1) / 4
    if "number" not in groups:
        return 0.5
    number = 1.0 if groups["number"] in ("a", "an") else float(groups["number"])
    return number + (0.5 if groups["half"] else 0.0)
