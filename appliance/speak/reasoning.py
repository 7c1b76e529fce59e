"""Reasoning that a model writes into its answer between ``<think>`` tags: nobody is to hear it."""

from __future__ import annotations

from collections.abc import Callable

_NAMES = ("think", "thinking")
_OPENINGS = tuple(f"<{name}>" for name in _NAMES)
_CLOSINGS = tuple(f"</{name}>" for name in _NAMES)


class ReasoningFilter:
    """Passes a text on, character by character, without reasoning; a tag may come in any number of pieces.

    ``is_code`` says whether the text just passed on is code: a tag in code is an example.
    """

    def __init__(self, forward: Callable[[str], None], is_code: Callable[[], bool]) -> None:
        self._forward = forward
        self._is_code = is_code
        self._held = ""
        self._is_reasoning = False

    def push(self, character: str) -> None:
        """The next character."""
        if character == "<" or self._held:
            self._hold(character)
        elif not self._is_reasoning:
            self._forward(character)

    def end(self) -> None:
        """The text is over; reasoning that was never closed stays unsaid."""
        self._release()
        self._is_reasoning = False

    def _hold(self, character: str) -> None:
        if character == "<":  # starts over
            self._release()
            if not self._is_reasoning and self._is_code():
                self._forward(character)
                return
        self._held += character
        tag = self._held.lower()
        if tag in _OPENINGS:
            self._is_reasoning, self._held = True, ""
        elif tag in _CLOSINGS:
            # Also without an opening: some servers put that into the prompt.
            self._is_reasoning, self._held = False, ""
        elif not any(known.startswith(tag) for known in _OPENINGS + _CLOSINGS):
            self._release()

    def _release(self) -> None:
        held, self._held = self._held, ""
        if not self._is_reasoning:
            for character in held:
                self._forward(character)
