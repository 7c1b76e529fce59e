"""A saying: a text on its way through the speaker, sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from appliance.speak.line import Line


class Saying:
    """The ``Playback`` of what ``Speaker.say`` was given."""

    def __init__(self, lines: Sequence[Line], withdraw: Callable[[Line], None]) -> None:
        self._lines = tuple(lines)
        self._withdraw = withdraw

    @property
    def named_so_far(self) -> str:
        """The text that has really sounded until now."""
        return " ".join(text for text in (line.heard_text for line in self._lines) if text)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it will sound any more."""
        return all(line.is_over for line in self._lines)

    def withdraw(self) -> None:
        """Do not begin with any further sentence; one that sounds is said to its end."""
        for line in self._lines:
            self._withdraw(line)

    async def finished(self) -> str:
        """Wait for the end; the text that was heard."""
        for line in self._lines:
            await line.finished()
        return self.named_so_far
