"""Looks again at a picture by its handle, and keeps one beyond its chat, as a file under ``user/pictures``.

A plugin that brings tools of these names takes their place.
"""

import re
import time
from pathlib import Path

from core import images as ci

ENABLED = True
EMOJI = "🖼️"
AVAILABLE_FUNCTIONS = ["memory_view_image", "memory_save_image"]

_IMAGE_ID = {
    "type": "string",
    "description": "The handle of the picture, like img:0123456789ab.jpg, or the name that saving it gave",
}

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "memory_view_image",
            "description": "Look again at an earlier picture of this chat, or at a saved one.",
            "parameters": {"type": "object", "properties": {"image_id": _IMAGE_ID}, "required": ["image_id"]},
        },
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "memory_save_image",
            "description": "Keep a picture for good, beyond its chat. Only when the user asks for it.",
            "parameters": {
                "type": "object",
                "properties": {
                    "image_id": _IMAGE_ID,
                    "description": {"type": "string", "description": "What it shows, in a few words; becomes its name"},
                },
                "required": ["image_id"],
            },
        },
    },
]

_LONGEST_NAME = 60
_SAVED_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\.(?:png|jpg)")


def execute(function_name, arguments, config):
    folder = Path(config.__file__).parent / "user" / "pictures"
    image_id = str(arguments.get("image_id") or "").strip()
    try:
        if function_name == "memory_view_image":
            return ci.result(f"Here is {image_id}.", [_find(image_id, folder)]), True
        if function_name == "memory_save_image":
            return _save(_find(image_id, folder), str(arguments.get("description") or ""), folder), True
    except ci.ImageError as error:
        return str(error), False
    except OSError as error:
        return f"The picture could not be saved: {error.strerror}", False
    return f"Unknown function {function_name}", False


def _find(image_id, folder):
    """A picture of the chat, or a saved one; no other file and no URL: a text that was read may have named those."""
    if _SAVED_NAME.fullmatch(image_id) and (folder / image_id).is_file():
        return ci.resolve(str((folder / image_id).absolute()))
    return ci.resolve(image_id if image_id.startswith("img:") else f"img:{image_id}")


def _save(picture, description, folder):
    words = re.sub(r"[^a-z0-9]+", "-", description.lower())[:_LONGEST_NAME].strip("-") or "picture"
    ending = "png" if picture.media_type == "image/png" else "jpg"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{words}.{ending}"
    while (folder / name).exists():
        name = f"{words}-{time.time_ns() % 10**6}.{ending}"
    half = folder / f".{name}.new"
    half.write_bytes(picture.data)
    half.replace(folder / name)
    return f"Saved as {name}, in {folder}."
