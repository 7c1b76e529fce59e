"""A sentence matcher that knows exactly the sentences it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from appliance.ports import Json
from appliance.ports_think import SentenceFile, SentenceMatch


class FakeSentenceMatcher:
    """A ``SentenceMatcher``: text to what it means.

    ``lists`` keeps what the last text was matched with, ``files`` what plugins brought; ``wrong`` is said about those.
    """

    def __init__(self, sentences: Mapping[str, SentenceMatch | list[SentenceMatch]]) -> None:
        self._sentences = sentences
        self.loads = 0
        self.lists: Mapping[str, Mapping[str, Json]] = {}
        self.files: Sequence[SentenceFile] = ()
        self.wrong: Mapping[str, tuple[str, ...]] = {}

    def load(self) -> None:
        """Counted."""
        self.loads += 1

    def match(self, text: str, lists: Mapping[str, Mapping[str, Json]]) -> list[SentenceMatch]:
        """The meaning of exactly this text."""
        self.lists = lists
        found = self._sentences.get(text, [])
        return found if isinstance(found, list) else [found]

    def use(self, files: Sequence[SentenceFile]) -> Mapping[str, tuple[str, ...]]:
        """Kept."""
        self.files = files
        return self.wrong
