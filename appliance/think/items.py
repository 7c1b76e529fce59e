"""Responses API items as the conversation keeps them and as they may be sent back.

Items go back without ``id`` and ``status``: nothing is stored at the endpoint, so an id would refer to nothing, and
some servers refuse unknown ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from appliance.ports import Json
from appliance.ports_pictures import data_url
from appliance.tools.tool import ToolImage, ToolResult

Item = Mapping[str, Json]

_DATA = "data:"
_NOT_SEEN = "(You cannot see pictures. The user can see these, and you can use their handles.)"
_GONE = "(a picture that is not there any more)"

#: Private-use characters (models put citation marks there) and halves of character pairs.
_UNSENDABLE = re.compile("[\ue000-\uf8ff\ud800-\udfff]")


def user_message(text: str) -> Item:
    """What the person said."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def assistant_message(text: str) -> Item:
    """What the box answered."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def with_last_words(items: Iterable[Item], text: str) -> tuple[Item, ...]:
    """The items of a turn, with ``text`` as all that the box answered."""
    others = (item for item in items if item.get("role") != "assistant")
    return (*others, assistant_message(text))


def call_output(call_id: str, text: str) -> Item:
    """How a call ended, in the words for the model."""
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def pictures_message(tool: str, images: Iterable[ToolImage]) -> Item:
    """Pictures that a tool returned, by their handles; those without one are in it themselves.

    A message of its own: not every server takes pictures inside an output.
    """
    parts: list[Item] = [{"type": "input_text", "text": f"(pictures returned by {tool})"}]
    for image in images:
        url = image.handle or data_url(image.data, image.media_type)
        parts.append({"type": "input_image", "detail": "auto", "image_url": url})
    return {"type": "message", "role": "user", "content": parts}


def shown_item(tool: str, result: ToolResult) -> Item | None:
    """What a call showed to the person, for the conversation alone: no model gets it. None when it was nothing."""
    pictures = [{"handle": image.handle} for image in result.images if image.handle]
    if not pictures and not result.galleries:
        return None
    galleries = [asdict(gallery) for gallery in result.galleries]
    return {"type": "shown", "tool": tool, "pictures": pictures, "galleries": galleries}


def has_pictures(item: Item) -> bool:
    """Whether the item holds a picture."""
    content = item.get("content")
    return isinstance(content, list) and any(map(_is_picture, content))


def handles_in(items: Iterable[Item]) -> list[str]:
    """The handles of the pictures in these items."""
    parts = (part for item in items if has_pictures(item) for part in item["content"] if _is_picture(part))
    return [url for part in parts if not (url := str(part.get("image_url"))).startswith(_DATA)]


def with_pictures(item: Item, urls: Mapping[str, str]) -> Item:
    """The item with data URLs in place of handles; a picture that is not there any more leaves a word."""
    if not has_pictures(item):
        return item

    def put_in(part: Json) -> Json:
        if not _is_picture(part) or str(part["image_url"]).startswith(_DATA):
            return part
        url = urls.get(str(part["image_url"]), "")
        return {**part, "image_url": url} if url else {"type": "input_text", "text": _GONE}

    return {**item, "content": [put_in(part) for part in item["content"]]}


def without_pictures(item: Item) -> Item:
    """The item for a model that cannot see."""
    if not has_pictures(item):
        return item
    parts = [part for part in item["content"] if not _is_picture(part)]
    return {**item, "content": [*parts, {"type": "input_text", "text": _NOT_SEEN}]}


def without_data(item: Item) -> Item:
    """The item without the pictures that are in it themselves: for whoever keeps it."""
    if not has_pictures(item):
        return item
    kept = [part for part in item["content"] if not (_is_picture(part) and part["image_url"].startswith(_DATA))]
    return {**item, "content": kept}


def sent_back(item: Item, *, call_id: str = "") -> Item | None:
    """A model's item as input of the next round; None when it cannot be sent.

    A call gets ``call_id`` and arguments that are surely JSON. Reasoning can only be carried when it came with its
    content, sealed or open.
    """
    kept: dict[str, Json] = {name: value for name, value in item.items() if name not in ("id", "status")}
    if item.get("type") == "function_call":
        kept["call_id"] = call_id or item.get("call_id")
        kept["arguments"] = json.dumps(arguments_of(item), ensure_ascii=False)
    elif item.get("type") == "reasoning":
        if not item.get("encrypted_content") and not item.get("content"):
            return None
        kept["id"] = item.get("id")
    elif not message_text(item).strip():
        return None
    return kept


def arguments_of(item: Item) -> dict[str, Json]:
    """The arguments of a call; {} when they are not a JSON object."""
    return _parsed_arguments(item) or {}


def is_whole_call(item: Item) -> bool:
    """Whether a call was not cut off while the model wrote it."""
    return item.get("status") != "incomplete" and _parsed_arguments(item) is not None


def message_text(item: Item) -> str:
    """The text of a message; "" for anything else."""
    content = item.get("content")
    if item.get("type") != "message":
        return ""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") or part.get("refusal") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _is_picture(part: Json) -> bool:
    return isinstance(part, dict) and part.get("type") == "input_image"


def _parsed_arguments(item: Item) -> dict[str, Json] | None:
    raw = item.get("arguments")
    if isinstance(raw, str):
        try:
            raw = json.loads(_UNSENDABLE.sub("", raw) or "{}")
        except (ValueError, RecursionError):
            return None
    return _scrubbed(raw) if isinstance(raw, dict) else None


def _scrubbed(value: Json) -> Any:
    """The value without characters that a model's text may hold but no tool expects; escapes brought them in."""
    if isinstance(value, str):
        return _UNSENDABLE.sub("", value)
    if isinstance(value, list):
        return [_scrubbed(entry) for entry in value]
    if isinstance(value, dict):
        return {_UNSENDABLE.sub("", name): _scrubbed(entry) for name, entry in value.items()}
    return value
