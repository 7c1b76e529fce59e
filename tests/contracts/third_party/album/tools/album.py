"""Many pictures: one sheet for the model, a row of tiles for the person, a handle for each."""

from pathlib import Path

from core import images as ci
from core.plugin_loader import plugin_loader

ENABLED = True
EMOJI = "🖼️"
AVAILABLE_FUNCTIONS = ["album_browse", "album_show"]

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "album_browse",
            "description": "Shows the photos in a folder of the album.",
            "parameters": {"type": "object", "properties": {"folder": {"type": "string"}}},
        },
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "album_show",
            "description": "Looks at one photo by its handle.",
            "parameters": {"type": "object", "properties": {"image_id": {"type": "string"}}},
        },
    },
]


def _root():
    return Path(plugin_loader.get_plugin_settings("album").get("folder") or "nowhere").resolve()


def _browse(name):
    folder = (_root() / name).resolve()
    if not folder.is_relative_to(_root()) or not folder.is_dir():
        return "Folder not found", False
    photos = sorted(path for path in folder.iterdir() if path.suffix in (".jpg", ".png"))
    entries = [{"raw": path.read_bytes(), "title": path.stem, "page": ""} for path in photos]
    images, tail = ci.gallery(name or "album", entries)
    numbered = [f"{n}. {e['title']} — {e.get('handle', '?')}" for n, e in enumerate(entries, start=1)]
    text = "\n".join([*numbered, tail]) if entries else "No photos there"
    return (ci.result(text, images) if images else text), True


def execute(function_name, arguments, config):
    if function_name == "album_browse":
        return _browse(arguments.get("folder", ""))
    if function_name == "album_show":
        try:
            photo = ci.resolve(arguments.get("image_id", ""))
        except ci.ImageError as error:
            return str(error), False
        return ci.result("The photo.", [ci.for_chat(photo.data)]), True
    return "Unknown function", False
