"""The marks that a plugin's text may hold for the person's eyes: rows of pictures, single pictures, cards.

A model gets the text without them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from appliance.tools.tool import Gallery, Tile

#: ``<!--GALLERY:{…}-->``; older plugins leave the colon out.
_GALLERY = re.compile(r"[ \t]*<!--\s*GALLERY\s*:?(?P<body>.*?)-->[ \t]*\n?", re.DOTALL | re.IGNORECASE)
#: ``<<IMG::id>>`` and its like.
_MARK = re.compile(r"[ \t]*<<(?P<kind>[A-Z][A-Z0-9_]*)::(?P<data>[^<>\n]*)>>[ \t]*\n?")
_MOST_TILES = 200
_LONGEST_FIELD = 2000


def gallery_marker(title: str, tiles: list[dict[str, str]]) -> str:
    """The mark of a row, on one line; nothing in it can end it early."""
    body = json.dumps({"title": title, "items": tiles}, ensure_ascii=False)
    return "<!--GALLERY:" + body.replace("<", "\\u003c").replace(">", "\\u003e") + "-->"


def without_marks(text: str) -> tuple[str, tuple[Gallery, ...]]:
    """The text for a model, and what its marks show to the person. A mark that says nothing is dropped all the same."""
    if "<" not in text:
        return text, ()
    galleries: list[Gallery] = []

    def take_gallery(match: re.Match[str]) -> str:
        found = _gallery(match["body"])
        galleries.extend([found] if found.tiles else [])
        return ""

    def take_mark(match: re.Match[str]) -> str:
        if match["kind"] == "IMG" and not match["data"].startswith("tool:"):
            # A picture that its plugin keeps; all we know of it is its name.
            galleries.append(Gallery("", (Tile(title=match["data"].strip()),)))
        return ""

    plain = _MARK.sub(take_mark, _GALLERY.sub(take_gallery, text))
    return (plain.strip("\n"), tuple(galleries)) if plain != text else (text, ())


def _gallery(body: str) -> Gallery:
    """A row from any of its forms: an object with items, a list of objects, a list of URLs."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return Gallery()
    title, items = "", value
    if isinstance(value, Mapping):
        title, items = _word(value, "title"), value.get("items")
    if not isinstance(items, list):
        return Gallery(title)
    return Gallery(title, tuple(_tile(item) for item in items[:_MOST_TILES]))


def _tile(item: Any) -> Tile:
    if isinstance(item, str):
        return Tile(thumb=item[:_LONGEST_FIELD], full=item[:_LONGEST_FIELD])
    if not isinstance(item, Mapping):
        return Tile()
    return Tile(
        title=_word(item, "title"),
        handle=_word(item, "handle"),
        thumb=_word(item, "thumb"),
        full=_word(item, "full"),
        page=_word(item, "page"),
    )


def _word(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return " ".join(value.split())[:_LONGEST_FIELD] if isinstance(value, str) else ""
