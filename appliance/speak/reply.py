"""The reply: what the model answers, spoken sentence by sentence while it still writes.

The first sentence is begun with its first words, where the rest of it will surely be written before they are said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from appliance import events
from appliance.clock import Clock
from appliance.events import Emotion, Event
from appliance.ports import CommitGate
from appliance.speak.growing_text import GrowingText
from appliance.speak.line import Line
from appliance.speak.line_player import LinePlayer
from appliance.speak.mixer import Lane, Mixer
from appliance.speak.speech_text import Sentence, SpeechText


@dataclass(frozen=True)
class HeardReply:
    """What became of a reply.

    ``heard_text`` is what really sounded: whole sentences and the words of the one that was cut.
    ``spoken_sentences`` counts the sentences that began to sound. ``remainder`` holds the sentences beyond the
    longest reply, which were not said.
    """

    heard_text: str
    spoken_sentences: int = 0
    remainder: tuple[str, ...] = ()


class Reply:
    """Made by ``Speaker.open_reply``; takes markdown with audio tags, as the model writes it."""

    def __init__(
        self,
        player: LinePlayer,
        mixer: Mixer,
        clock: Clock,
        publish: Callable[[Event], None],
        *,
        turn_id: str,
        gate: CommitGate,
        language: str = "en",
        longest_sentences: int | None = None,
        go_on: str = "",
        is_written_fast: Callable[[], bool] = lambda: False,
    ) -> None:
        self._player = player
        self._clock = clock
        self._publish = publish
        self._turn_id = turn_id
        self._gate = gate
        self._longest_sentences = longest_sentences
        self._go_on = go_on
        self._is_written_fast = is_written_fast
        # A reply that was stopped stays silent, whatever its model still writes.
        self._generation = mixer.generation(Lane.SPEECH)
        self._text = SpeechText(language)
        self._lines: list[Line] = []
        #: The first line while its text is not known to its end, and when it began to sound.
        self._growing: Line | None = None
        self._began_growing_at: float | None = None
        self._remainder: list[str] = []

    def feed(self, delta: str) -> None:
        """A piece of the reply."""
        self._add(self._text.feed(delta))
        self._begin_early()

    def flush_text(self) -> None:
        """The text so far is whole: say its last sentence too, before whatever is said next."""
        self._add(self._text.end())

    async def end(self) -> HeardReply:
        """The reply is whole; wait until the last sentence was heard, or was cut."""
        self.flush_text()
        if self._remainder and self._go_on:
            self._say(Sentence(self._go_on, None))
        for line in self._lines:
            await line.finished()
        return self.so_far()

    def so_far(self) -> HeardReply:
        """What was heard until now; nothing more is written."""
        if self._growing is not None:
            self._end_first(self._growing, self._growing.text)
        heard = [line.heard_text for line in self._lines if line.has_started]
        return HeardReply(" ".join(text for text in heard if text), len(heard), tuple(self._remainder))

    # ------------------------------------------------------------------------------------------- private

    def _add(self, sentences: list[Sentence]) -> None:
        for sentence in sentences:
            if self._growing is not None:
                self._end_first(self._growing, sentence.text)
            elif self._longest_sentences is not None and len(self._lines) >= self._longest_sentences:
                self._remainder.append(sentence.text)
            else:
                self._say(sentence)

    def _begin_early(self) -> None:
        """Say the first words; or pass on what more there is of the sentence that they begin."""
        if self._growing is None and (self._lines or not self._is_written_fast()):
            return
        words = self._text.first_words()
        if words is None:
            return
        if self._growing is None:
            self._growing = self._say(words, GrowingText(words.text, self._clock))
        elif self._growing.growing is not None:
            self._growing.growing.grow(words.text)

    def _end_first(self, line: Line, sentence: str) -> None:
        self._growing = None
        line.end_text(sentence)
        if self._began_growing_at is not None:
            self._publish(events.ReplySentenceSpoken(self._turn_id, self._began_growing_at, line.text))

    def _say(self, sentence: Sentence, growing: GrowingText | None = None) -> Line:
        line = Line(sentence.text, self._generation, turn_id=self._turn_id, gate=self._gate, growing=growing)
        line.on_started = partial(self._began, line, sentence.emotion)
        self._lines.append(line)
        self._player.add(line)
        return line

    def _began(self, line: Line, emotion: Emotion | None) -> None:
        now = self._clock.monotonic_seconds()
        if line is self._growing:
            self._began_growing_at = now  # told when it is known what is said
        else:
            self._publish(events.ReplySentenceSpoken(self._turn_id, now, line.text))
        if emotion is not None:
            self._publish(events.EmotionChanged(self._turn_id, now, emotion, "reply"))
