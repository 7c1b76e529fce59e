"""How the ear was opened; decides how long it waits and whether it makes a sound."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class OpeningKind(enum.StrEnum):
    """What opened the ear."""

    WAKE_WORD = "wake_word"
    BUTTON = "button"
    #: The box asked something, so the person need not say the wake word.
    FOLLOW_UP = "follow_up"
    #: The silence between two rings of an alarm.
    ALERT = "alert"
    #: The person spoke over our own voice; what they said was heard meanwhile.
    BARGE_IN = "barge_in"
    #: A recording is played to us instead of a microphone.
    RECORDING = "recording"


@dataclass(frozen=True)
class Opening:
    """One opening of the ear; ``word`` is the wake word, or the kind for the others.

    ``heard`` is what was said, where it was heard before the turn began; then the ear stays closed. ``is_held`` when a
    finger stays on the button for as long as the person speaks.
    """

    kind: OpeningKind
    word: str
    no_speech_seconds: float
    heard: str = ""
    is_held: bool = False

    @property
    def is_addressed(self) -> bool:
        """Whether the person did something to be heard, so that silence deserves a closing tone."""
        return self.kind in (OpeningKind.WAKE_WORD, OpeningKind.BUTTON)

    @property
    def follows_our_sound(self) -> bool:
        """Whether our own sound ended just now, whose tail in the room must not be taken for speech."""
        return self.kind in (OpeningKind.FOLLOW_UP, OpeningKind.ALERT)

    def is_its_word(self, text: str) -> bool:
        """Whether ``text`` is nothing but the word that opened the ear, said again or heard late."""
        return self.kind is OpeningKind.WAKE_WORD and _letters(text) == _letters(self.word)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
