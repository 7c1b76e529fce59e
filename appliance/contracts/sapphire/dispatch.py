"""How ``execute`` is called, and what its return means.

Both touch a stranger's values (``__str__``, ``__bool__``), so they belong on the plugin's side.
"""

from __future__ import annotations

import base64
import binascii
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from appliance.contracts.kotoba.blame import describe
from appliance.contracts.sapphire.markers import without_marks
from appliance.events import Outcome
from appliance.ports_pictures import LARGEST_PICTURE_BYTES
from appliance.store.canonical_json import storable
from appliance.tools.tool import ToolImage, ToolResult

NO_OUTPUT = "(no output)"
#: Characters of text that reach the model.
OUTPUT_CAP = 200_000

_FEWEST, _MOST = 3, 5


def call(execute: Callable[..., Any], everything: tuple[Any, Any, Any, Any, Any]) -> Any:
    """Call with as many of (name, arguments, config, settings, credentials) as it takes: 3, 4 or 5, by position."""
    return execute(*everything[: min(max(_parameter_count(execute), _FEWEST), _MOST)])


def grade(value: Any, tool_name: str) -> ToolResult:
    """The result of a call that returned ``value``; only a pair with a real bool says whether it went well."""
    message, is_success = value, True
    if type(value) is tuple and len(value) == 2 and isinstance(value[1], bool):
        message, is_success = value
    if inspect.iscoroutine(message):
        message.close()
        return failed(tool_name, "its execute is an async def, which gives a coroutine; it must be a plain def")
    whole, images = _parts(message)
    text, galleries = without_marks(whole)
    outcome = Outcome.OK if is_success else Outcome.FAILED
    error = "" if is_success else "it says that it failed"
    return ToolResult(_capped(text), outcome, images, error, galleries=galleries)


def raised(tool_name: str, error: BaseException) -> ToolResult:
    """The result of a call that raised; on this contract the model is told with what."""
    if isinstance(error, Exception):
        return failed(tool_name, _text(error), describe(error))
    return failed(tool_name, f"it tried to end the program ({type(error).__name__})")


def failed(tool_name: str, why: str, error: str = "") -> ToolResult:
    """A call that did not do its work, in the words of the contract."""
    return ToolResult(_capped(f"Error executing {tool_name}: {why}"), Outcome.FAILED, error=error or why)


# ---------------------------------------------------------------------------------------------------- private


def _parameter_count(execute: Callable[..., Any]) -> int:
    try:
        return len(inspect.signature(execute).parameters)
    except (TypeError, ValueError):
        return _MOST


def _parts(message: Any) -> tuple[str, tuple[ToolImage, ...]]:
    if message is None:
        return NO_OUTPUT, ()
    if isinstance(message, dict) and "images" in message and isinstance(message.get("text"), str):
        images = message["images"]
        found = (_image(entry) for entry in images) if isinstance(images, list | tuple) else ()
        return message["text"], tuple(image for image in found if image is not None)
    return message if isinstance(message, str) else str(message), ()


def _image(entry: Any) -> ToolImage | None:
    """A picture of the images contract; what is no picture is left out."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("data"), str):
        return None
    if len(entry["data"]) > LARGEST_PICTURE_BYTES * 4 // 3 + 4:
        return None
    try:
        data = base64.b64decode("".join(entry["data"].split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    media_type = entry.get("media_type")
    handle = entry.get("handle")
    return ToolImage(
        data,
        media_type if isinstance(media_type, str) else "image/jpeg",
        bool(entry.get("display_only")),
        handle if isinstance(handle, str) else "",
    )


def _capped(text: str) -> str:
    # Half an emoji from a careless tool must not spoil the request to the model.
    kept = storable(text[:OUTPUT_CAP])
    cut = len(text) - OUTPUT_CAP
    return f"{kept}\n\n[cut here: {cut} more characters]" if cut > 0 else kept


def _text(error: Exception) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:
        return describe(error)
