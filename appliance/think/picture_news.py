"""What is said aloud about the pictures of a turn, for a person who hears and may not look."""

from __future__ import annotations

import re

from appliance.catalogue import Catalogue
from appliance.tools.tool import ToolResult

#: Nobody wants to hear a longer title.
_LONGEST_TITLE = 80


class PictureNews:
    """Counts the pictures that are new to the person."""

    def __init__(self) -> None:
        self._count = 0
        self._title = ""

    def add(self, result: ToolResult) -> None:
        """A call has ended. A row of pictures counts with what is in it: the sheet beside it is for the model."""
        rows = [gallery for gallery in result.galleries if gallery.tiles]
        if rows:
            self._count += sum(len(gallery.tiles) for gallery in rows)
            self._title = self._title or rows[0].title
        else:
            self._count += sum(1 for image in result.images if image.handle and not image.was_there)

    def sentence(self, reply: str, catalogue: Catalogue) -> str:
        """What to say behind this reply; "" when there is no picture, or the reply speaks of it."""
        words = "|".join(map(re.escape, catalogue.forms("pictures.words")))
        if not self._count or re.search(rf"\b(?:{words})", reply, re.IGNORECASE):
            return ""
        title = self._title[:_LONGEST_TITLE].strip(" .")
        key = ("titled_" if title else "") + ("one" if self._count == 1 else "some")
        return catalogue.say(f"pictures.{key}", count=self._count, title=title)
