"""What travels over the control socket: one JSON object per line, both ways.

::

    -> {"id": 1, "method": "say", "params": {"text": "hello"}}
    <- {"id": 1, "event": {...}}                                        any number of these, then one of
    <- {"id": 1, "result": ...}
    <- {"id": 1, "error": {"message": "what happened, what to do", "exit_code": 1}}

A client may have several calls open. It ends them by closing the connection, or only its sending half.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import ApplianceError, ConfigError, RefusedError, UsageError
from appliance.ports import Json

#: Longest request line. Answers may be longer (what a model got in one turn).
REQUEST_LIMIT_BYTES = 1_000_000
ANSWER_LIMIT_BYTES = 64_000_000

#: The kernel's limit for the path of a Unix socket, with the zero byte behind it.
_LONGEST_SOCKET_PATH = 107


@dataclass(frozen=True)
class Request:
    """One call. ``number`` is the client's, given back with every line of the answer."""

    number: Json
    method: str
    params: Mapping[str, Json]


def encode(message: Mapping[str, Json]) -> bytes:
    """One line. Raises ``ValueError`` or ``TypeError`` for what is not JSON."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def decode_request(line: bytes) -> Request:
    """Raises ``UsageError`` that says what is wrong with the line."""
    fields = _decode(line)
    number, method, params = fields.get("id"), fields.get("method"), fields.get("params") or {}
    if not isinstance(number, int | str) or isinstance(number, bool):
        raise UsageError('a request needs an "id", a number or a text')
    if not isinstance(method, str) or not isinstance(params, dict):
        raise UsageError('a request needs a "method" (a text), and its "params" are an object')
    return Request(number, method, params)


def decode_answer(line: bytes) -> Mapping[str, Json]:
    """Raises ``UsageError`` for a line that is no JSON object."""
    return _decode(line)


def error_message(error: ApplianceError) -> dict[str, Json]:
    """An error as it travels."""
    return {"message": str(error), "exit_code": error.exit_code}


def error_from(message: Json) -> ApplianceError:
    """The error that travelled, as the kind that has its exit code."""
    fields = message if isinstance(message, dict) else {}
    kind = _KINDS.get(fields.get("exit_code", 1), ApplianceError)
    return kind(str(fields.get("message") or "the device failed without a word; see its log"))


@contextmanager
def short_path(socket_file: Path) -> Iterator[str]:
    """A path for ``socket_file`` that the kernel takes, however deep it lies; valid inside the block."""
    if len(os.fsencode(socket_file)) <= _LONGEST_SOCKET_PATH:
        yield str(socket_file)
        return
    folder = os.open(socket_file.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{socket_file.name}"
    finally:
        os.close(folder)


def _decode(line: bytes) -> dict[str, Json]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("the line is not JSON") from error
    if not isinstance(fields, dict):
        raise UsageError("the line is not a JSON object")
    return fields


_KINDS: dict[Json, type[ApplianceError]] = {kind.exit_code: kind for kind in (UsageError, RefusedError, ConfigError)}
