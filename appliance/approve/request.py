"""The request out of reach of whoever made it, and its arguments as people may see them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace

from appliance.ports import Json
from appliance.store.canonical_json import canonical_json, storable
from appliance.tools.tool import ApprovalRequest

#: An argument of such a name holds a secret that we cannot know.
_SECRET_NAME = re.compile(r"passw|passphrase|passcode|secret|token|credential|api_?key|(^|_)pin(_|$)", re.IGNORECASE)
_HIDDEN = "[hidden]"


def sealed(request: ApprovalRequest) -> ApprovalRequest:
    """The request with its arguments read back from its record, out of reach of whoever made it.

    Raises ``ValueError`` when the record does not say what the call says.
    """
    recorded = json.loads(request.arguments_json)
    if canonical_json(recorded) != canonical_json(dict(request.call.arguments)):
        raise ValueError("the arguments of the call are not those of the request")
    return replace(request, call=replace(request.call, arguments=recorded))


def arguments_digest(request: ApprovalRequest) -> str:
    """SHA-256 of the arguments alone."""
    return sha256_of(request.arguments_json)


def preview_of(arguments: Json) -> str:
    """The arguments for people: what is named like a secret is hidden, characters that they cannot see are gone."""
    text = storable(json.dumps(without_named_secrets(arguments), ensure_ascii=False))
    return "".join(letter if letter.isprintable() else " " for letter in text)


def sha256_of(text: str) -> str:
    """Digest of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def without_named_secrets(value: Json) -> Json:
    """``value`` without what stands under a name like password, token or pin."""
    if isinstance(value, Mapping):
        return {key: _HIDDEN if _SECRET_NAME.search(key) else without_named_secrets(value[key]) for key in value}
    if isinstance(value, list):
        return [without_named_secrets(entry) for entry in value]
    return value
