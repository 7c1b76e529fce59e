"""JSON texts as the store writes them: strict, one spelling for one value."""

from __future__ import annotations

import json

from appliance.ports import Json


def canonical_json(value: Json) -> str:
    """The one JSON text of ``value``, ASCII only, keys sorted: what digests and the audit chain are made of.

    Raises ``ValueError`` for what JSON does not know (NaN, keys that are no texts, other types).
    """
    check_json(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def json_text(value: Json) -> str:
    """``value`` as readable JSON, order of keys kept; safe to encode as UTF-8. Raises ``ValueError`` as above."""
    check_json(value)
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def storable(text: str) -> str:
    """``text`` with broken surrogates mended or replaced: models send halves of an emoji in two pieces."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def check_json(value: Json) -> None:
    """Raises ``ValueError`` for what is not JSON; ``json.dumps`` would turn a number used as a key into a text."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{key!r} cannot be a key in JSON: keys are texts")
            check_json(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            check_json(entry)
    elif value is not None and not isinstance(value, str | int | float):
        raise ValueError(f"a {type(value).__name__} cannot be written as JSON")
