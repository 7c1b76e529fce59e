"""The reply: what the model answers, spoken sentence by sentence while it still writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from appliance import events
from appliance.clock import Clock
from appliance.events import Event
from appliance.ports import CommitGate
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
    ) -> None:
        self._player = player
        self._clock = clock
        self._publish = publish
        self._turn_id = turn_id
        self._gate = gate
        self._longest_sentences = longest_sentences
        self._go_on = go_on
        # A reply that was stopped stays silent, whatever its model still writes.
        self._generation = mixer.generation(Lane.SPEECH)
        self._text = SpeechText(language)
        self._lines: list[Line] = []
        self._remainder: list[str] = []

    def feed(self, delta: str) -> None:
        """A piece of the reply."""
        self._add(self._text.feed(delta))

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
        """What was heard until now."""
        heard = [line.heard_text for line in self._lines if line.has_started]
        return HeardReply(" ".join(text for text in heard if text), len(heard), tuple(self._remainder))

    # ------------------------------------------------------------------------------------------- private

    def _add(self, sentences: list[Sentence]) -> None:
        for sentence in sentences:
            if self._longest_sentences is not None and len(self._lines) >= self._longest_sentences:
                self._remainder.append(sentence.text)
            else:
                self._say(sentence)

    def _say(self, sentence: Sentence) -> None:
        line = Line(
            sentence.text,
            self._generation,
            turn_id=self._turn_id,
            gate=self._gate,
            on_started=partial(self._began, sentence),
        )
        self._lines.append(line)
        self._player.add(line)

    def _began(self, sentence: Sentence) -> None:
        now = self._clock.monotonic_seconds()
        self._publish(events.ReplySentenceSpoken(self._turn_id, now, sentence.text))
        if sentence.emotion is not None:
            self._publish(events.EmotionChanged(self._turn_id, now, sentence.emotion, "reply"))
