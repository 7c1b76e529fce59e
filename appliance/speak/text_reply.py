"""The reply of a typed turn: shown, not spoken; the same shape as a spoken one."""

from __future__ import annotations

from collections.abc import Callable

from appliance.speak.reply import HeardReply
from appliance.speak.speech_text import Sentence, SpeechText


class TextReply:
    """Collects the text as it comes; the mood of its first audio tag goes to ``on_sentence``."""

    def __init__(self, on_text: Callable[[str], None], on_sentence: Callable[[Sentence], None]) -> None:
        self._on_text = on_text
        self._on_sentence = on_sentence
        self._text = ""
        self._sentences = SpeechText()

    def feed(self, delta: str) -> None:
        """A piece of the reply."""
        self._text += delta
        self._on_text(delta)
        for sentence in self._sentences.feed(delta):
            self._on_sentence(sentence)

    def flush_text(self) -> None:
        """The text so far is whole."""
        for sentence in self._sentences.end():
            self._on_sentence(sentence)

    async def end(self) -> HeardReply:
        """The reply is whole."""
        self.flush_text()
        return self.so_far()

    def so_far(self) -> HeardReply:
        """A person who reads gets all of it."""
        return HeardReply(heard_text=self._text)
