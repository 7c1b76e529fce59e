"""Grades what a call did: whatever it returned or raised becomes one ``ToolResult`` with its final text.

Everything that touches a returned value may run its author's code (``__str__``, ``__bool__``): ``grade`` belongs on
the plugin's side.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from appliance.contracts.kotoba.witness import CallWitness
from appliance.events import Outcome
from appliance.store.canonical_json import storable
from appliance.tools.redact import redacted
from appliance.tools.tool import ToolImage, ToolResult

RETURNED_NOTHING = "The tool returned nothing."
ERRORED = "The tool errored."
TIMED_OUT = "The tool timed out."
IMAGE_BELOW = "[image below]"

FAILURE_NOTE = (
    "[This call failed. Do not make the same call again: try another way, or tell the user what could not be done.]"
)

_CUT = "[…truncated: "

#: Characters of text that reach the model.
OUTPUT_CAP = 16_000
#: Pages are long: tools of a browser server get more.
_BROWSER_CAP = 24_000

_DATA_URL = re.compile(r"data:(?P<media_type>image/[\w.+-]+);base64,(?P<data>.*)", re.DOTALL)
_MOST_IMAGES = 8
_LARGEST_IMAGE_BYTES = 8_000_000


def grade(value: Any, witness: CallWitness, tool_name: str) -> ToolResult:
    """The result of a call that returned ``value``. Raises whatever the value's own methods raise."""
    images = _images(getattr(value, "images", None))
    text = _text(value, has_images=bool(images), cap=_BROWSER_CAP if tool_name.startswith("browser__") else OUTPUT_CAP)
    if not text and not images:
        return ended_badly(RETURNED_NOTHING, "returned nothing", witness)
    if witness.is_refused or witness.failure_reasons:
        return ended_badly(text, "; ".join(witness.failure_reasons), witness, images)
    failed = next((code for code in witness.exit_codes if code), 0)
    if failed:
        # The tool did its work and tells about it itself: no note for the model.
        return ToolResult(text, Outcome.FAILED, images, f"a command ended with exit code {failed}")
    return ToolResult(text, Outcome.OK, images)


def errored(error: str, witness: CallWitness | None = None) -> ToolResult:
    """The result of a call that raised; the model gets no diagnosis, the log and the audit row get ``error``."""
    return ended_badly(ERRORED, error, witness)


def timed_out(seconds: float) -> ToolResult:
    """The result of a call whose budget ran out."""
    return ended_badly(TIMED_OUT, f"no answer within {seconds:g} s", None)


def what_was_wrong(result: ToolResult) -> str:
    """Half a sentence on a call for the owner of its tool; "" when nothing was."""
    if result.outcome is Outcome.FAILED:
        return f"its last call failed: {redacted(result.error)}"
    if _CUT in result.text[OUTPUT_CAP:]:
        return "its last answer was too long, and the model got only the beginning of it"
    return ""


def ended_badly(text: str, error: str, witness: CallWitness | None, images: tuple[ToolImage, ...] = ()) -> ToolResult:
    """Refused when the tool said so, else failed and noted. The note comes behind the cap: it is never cut off."""
    if witness is not None and witness.is_refused:
        return ToolResult(text, Outcome.REFUSED, images, error or "the tool declined")
    return ToolResult(f"{text} {FAILURE_NOTE}", Outcome.FAILED, images, error)


def _text(value: Any, *, has_images: bool, cap: int) -> str:
    """The text for the model; "" for nothing at all."""
    if has_images:
        text = str(getattr(value, "text", "") or "")
        return _capped(text, cap) if text.strip() else IMAGE_BELOW
    if not value:
        return ""
    text = str(value)
    return _capped(text, cap) if text.strip() else ""


def _capped(text: str, cap: int) -> str:
    cut = len(text) - cap
    # Half an emoji at the cut, or from a careless tool, must not spoil the request to the model.
    kept = storable(text[:cap])
    if cut <= 0:
        return kept
    return f"{kept}\n\n{_CUT}{cut} more characters. Summarise what is here, or ask for something more specific.]"


def _images(value: Any) -> tuple[ToolImage, ...]:
    """Pictures from data URLs; what is no picture, or too large, is left out."""
    if not isinstance(value, list | tuple):
        return ()
    found = (_image(entry) for entry in value[:_MOST_IMAGES])
    return tuple(image for image in found if image is not None)


def _image(url: Any) -> ToolImage | None:
    if not isinstance(url, str) or len(url) > _LARGEST_IMAGE_BYTES * 4 // 3 + 100:
        return None
    match = _DATA_URL.fullmatch(url)
    if match is None:
        return None
    try:
        return ToolImage(base64.b64decode(match["data"], validate=True), match["media_type"])
    except binascii.Error:
        return None
