"""The request: the record of what is asked for, and of what then runs."""

from __future__ import annotations

import dataclasses
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


def digest(request: ApprovalRequest) -> str:
    """SHA-256 over every field: two requests with one digest are the same request."""
    return _sha256(canonical_json(dataclasses.asdict(request)))


def arguments_digest(request: ApprovalRequest) -> str:
    """SHA-256 of the arguments alone."""
    return _sha256(request.arguments_json)


def preview(request: ApprovalRequest) -> str:
    """The arguments for people: what is named like a secret is hidden, control characters are gone."""
    arguments = _without_secrets(json.loads(request.arguments_json))
    text = storable(json.dumps(arguments, ensure_ascii=False))
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _without_secrets(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _HIDDEN if _SECRET_NAME.search(key) else _without_secrets(value[key]) for key in value}
    if isinstance(value, list):
        return [_without_secrets(entry) for entry in value]
    return value
