"""Many pictures, one look: a numbered row of tiles for the person, one numbered sheet for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from appliance.contracts.sapphire.markers import gallery_marker
from appliance.errors import PictureError
from appliance.ports_pictures import PictureMaker


class GalleryMaker:
    """Makes rows. ``stash`` stores a picture and gives its handle; it raises ``PictureError``.

    An entry is a dict with ``raw`` (bytes), ``title`` and ``page``. It may have ``full`` and ``thumb`` (URLs),
    ``stash`` False for a picture that its plugin serves itself, and ``show``: other bytes for the model's sheet, or
    False for an empty place on it, so that the numbers of both stay the same.
    """

    def __init__(self, maker: PictureMaker, stash: Callable[[bytes], str]) -> None:
        self._maker = maker
        self._stash = stash

    def make(self, title: str, entries: Sequence[dict[str, Any]], *, is_viewed: bool = True) -> tuple[list[bytes], str]:
        """The model's pictures (one sheet, the one picture, or none), and the end of the text with note and mark.

        Each entry whose picture could be stored gets its ``handle``.
        """
        tiles = [self._tile(entry) for entry in entries]
        if not tiles:
            return [], ""
        images = self._images(entries) if is_viewed else []
        count = "1 picture" if len(tiles) == 1 else f"{len(tiles)} pictures"
        seen = "you see the same numbers on the sheet" if images and len(tiles) > 1 else "numbered in this order"
        note = f"({count} shown to the user; {seen})" if len(tiles) > 1 else f"({count} shown to the user)"
        return images, f"{note}\n{gallery_marker(str(title), tiles)}"

    def _tile(self, entry: dict[str, Any]) -> dict[str, str]:
        """What the person gets of an entry: the stored picture, else what its plugin serves."""
        tile = {name: str(entry[name]) for name in ("title", "full", "page") if entry.get(name)}
        raw = entry.get("raw")
        if entry.get("stash", True) and raw:
            try:
                tile["handle"] = entry["handle"] = self._stash(raw)
            except PictureError:
                entry.pop("handle", None)
        if "handle" not in tile and entry.get("thumb"):
            tile["thumb"] = str(entry["thumb"])
        return tile

    def _images(self, entries: Sequence[dict[str, Any]]) -> list[bytes]:
        shown = [_shown(entry) for entry in entries]
        readable = [raw for raw in shown if self._is_picture(raw)]
        if not readable:
            return []
        try:
            return [self._maker.jpeg(shown[0])] if len(shown) == 1 else [self._maker.sheet(shown)]
        except PictureError:
            return []

    def _is_picture(self, raw: bytes) -> bool:
        try:
            self._maker.look(raw)
        except PictureError:
            return False
        return True


def _shown(entry: dict[str, Any]) -> bytes:
    """What the model sees of an entry; nothing leaves its place empty."""
    show = entry.get("show", True)
    if isinstance(show, bytes | bytearray | memoryview):
        return bytes(show)
    raw = entry.get("raw")
    return bytes(raw) if show and isinstance(raw, bytes | bytearray | memoryview) else b""
