"""How far a mouth is open: from the phonemes of a voice that tells them, and when what was rendered is heard."""

from __future__ import annotations

import threading
import unicodedata
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable

from appliance.ports import TimedPhoneme

#: IPA sounds by how far they open a mouth, 0 to 1; whatever is not listed is a consonant behind the teeth.
_OPENNESS = {
    1.0: "aɑæɐ",
    0.75: "ɔɒʌoɞ",
    0.55: "eɛəɜɚɝɘø",
    0.4: "œʊuɯɤɵ",
    0.35: "iɪyʏɨ",
    0.2: "wɹrlɫjhɦʁɾ",
    0.1: "fvʋ",
    0.0: "mbpɱ",
}
_OPEN_BY_SOUND = {sound: share for share, sounds in _OPENNESS.items() for sound in sounds}
_BEHIND_TEETH = 0.22
#: Unicode's classes of letters; marks of stress and length are another one.
_LETTERS = ("Ll", "Lu", "Lo")

#: A track remembers this long: longer than any output latency.
_MOST_MOMENTS = 256


def openness(phoneme: str) -> float:
    """How far this phoneme opens a mouth, 0 to 1; pauses and marks of stress are 0."""
    letters = [character for character in phoneme if unicodedata.category(character) in _LETTERS]
    if not letters:
        return 0.0
    return max(_OPEN_BY_SOUND.get(letter, _BEHIND_TEETH) for letter in letters)


class MouthShapes:
    """The phonemes of one clip against its samples. The writer adds, the audio thread asks, with one lock held."""

    def __init__(self) -> None:
        self._ends: list[float] = []
        self._shares: list[float] = []

    def add(self, phonemes: Iterable[TimedPhoneme], start_frame: float, frames_per_sample: float) -> None:
        """Phonemes that begin at ``start_frame`` of the clip."""
        end = start_frame
        for timed in phonemes:
            end += timed.samples * frames_per_sample
            self._ends.append(end)
            self._shares.append(openness(timed.phoneme))

    def at(self, frame: int) -> float | None:
        """How far the mouth is open at that frame of the clip; None where no phoneme is known."""
        index = bisect_right(self._ends, frame)
        return self._shares[index] if index < len(self._shares) else None


class MouthTrack:
    """What the mouth does at the moment at which sound is *heard*: a card plays what it took a little later.

    ``latency_seconds`` is how much later, to be set when the card is open. ``note`` is for the audio thread, ``at`` for
    the face's.
    """

    def __init__(self, now_seconds: Callable[[], float], latency_seconds: float = 0.0) -> None:
        self.latency_seconds = latency_seconds
        self._now_seconds = now_seconds
        self._lock = threading.Lock()
        self._moments: deque[tuple[float, float]] = deque(maxlen=_MOST_MOMENTS)

    def note(self, share: float) -> None:
        """The block that was rendered just now opens the mouth so far."""
        at_seconds = self._now_seconds()
        with self._lock:
            self._moments.append((at_seconds, share))

    def at(self, seconds: float) -> float:
        """How far the mouth is open at ``seconds`` of the clock, 0 to 1."""
        rendered_at = seconds - self.latency_seconds
        with self._lock:
            for at_seconds, share in reversed(self._moments):
                if at_seconds <= rendered_at:
                    return share
        return 0.0
