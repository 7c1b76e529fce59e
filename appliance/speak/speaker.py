"""The speaker: all that the box says comes through here, so that two things are never said at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from appliance import events
from appliance.audio import AudioChunk
from appliance.clock import Clock
from appliance.events import Event
from appliance.ports import CommitGate, Priority, Synthesizer
from appliance.speak.clip import Clip
from appliance.speak.line import Line
from appliance.speak.line_cache import LineCache
from appliance.speak.line_player import LinePlayer
from appliance.speak.line_voice import LineVoice
from appliance.speak.mixer import Lane, Mixer
from appliance.speak.notices import Notices
from appliance.speak.rehearsal import Rehearsal
from appliance.speak.reply import Reply
from appliance.speak.saying import Saying
from appliance.speak.speech_text import SpeechText

SLOWEST, FASTEST = 0.5, 2.0


class Speaker:
    """Says sentences in order of priority; ``say`` and ``notice`` meet the ``Person`` port.

    ``is_quiet`` tells quiet hours, ``is_busy`` whether a turn is on: notices wait for both to be false, and fixed
    lines are synthesised ahead only while no turn is on. Where ``has_speaker`` is false, nothing waits to be heard.
    ``is_written_fast`` whether a reply is written so much faster than it is said that it may be begun in mid-sentence.
    """

    def __init__(
        self,
        mixer: Mixer,
        synthesizer: Synthesizer,
        clock: Clock,
        publish: Callable[[Event], None],
        *,
        cache: LineCache | None = None,
        language: str = "en",
        speed: float = 1.0,
        has_speaker: Callable[[], bool] = lambda: True,
        is_quiet: Callable[[], bool] = lambda: False,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._mixer = mixer
        self._clock = clock
        self._publish = publish
        self._language = language
        self._is_busy = is_busy
        self.is_written_fast: Callable[[], bool] = lambda: False
        self._voice = LineVoice(synthesizer, clock, cache, speed=speed)
        self._player = LinePlayer(mixer, self._voice, clock, publish, has_speaker=has_speaker)
        self._notices = Notices(
            lambda text: self.say(text, Priority.NOTICE), lambda: self._is_idle() and not is_quiet(), clock
        )
        self._rehearsal: Rehearsal | None = None
        if cache is not None:
            self._rehearsal = Rehearsal(
                cache,
                clock,
                lines_of=self._sentences,
                speed=lambda: self._voice.speed,
                is_idle=self._is_idle,
                is_voice_free=lambda: not self._player.is_synthesizing,
            )
        self._hums: set[asyncio.Task[None]] = set()

    # ------------------------------------------------------------------------------------------- saying

    def say(
        self,
        text: str,
        priority: Priority = Priority.REPLY,
        *,
        turn_id: str = "",
        gate: CommitGate | None = None,
        hold: Callable[[], bool] | None = None,
        on_started: Callable[[], None] | None = None,
    ) -> Saying:
        """Say ``text`` when it is this priority's turn; returns at once.

        Nothing of it sounds before ``gate`` is committed, nor while ``hold`` is true. An alert cuts what is being
        said, which is said again after it; the other priorities wait for the sentence that sounds.
        """
        generation = self._mixer.generation(Lane.ALERT if priority is Priority.ALERT else Lane.SPEECH)
        lines = [
            Line(sentence, generation, priority=priority, turn_id=turn_id, gate=gate, hold=hold)
            for sentence in self._sentences(text)
        ]
        if lines:
            lines[0].on_started = on_started
        for line in lines:
            self._player.add(line)
        return Saying(lines, self._player.withdraw)

    def notice(self, key: str, text: str) -> None:
        """Say ``text`` once for this ``key``, when nothing else is going on and no quiet hours are on."""
        self._notices.add(key, text)

    def open_reply(
        self, turn_id: str, gate: CommitGate, longest_sentences: int | None = None, *, go_on: str = ""
    ) -> Reply:
        """A reply that is still being written.

        After ``longest_sentences`` the rest is kept unsaid and ``go_on`` ("Shall I go on?") is asked instead.
        """
        return Reply(
            self._player,
            self._mixer,
            self._clock,
            self._publish,
            turn_id=turn_id,
            gate=gate,
            language=self._language,
            longest_sentences=longest_sentences,
            go_on=go_on,
            is_written_fast=self.is_written_fast,
        )

    def hum(self, sound: AudioChunk, turn_id: str, on_started: Callable[[], None]) -> Clip:
        """Play a wordless sound beside the speech."""

        def began() -> None:
            self._publish(events.PlaybackStarted(turn_id, self._clock.monotonic_seconds(), Lane.HUM.value))
            on_started()

        clip = self._mixer.play(Lane.HUM, sound, began)
        task = asyncio.create_task(self._hum_finished(clip, turn_id), name="hum")
        self._hums.add(task)
        task.add_done_callback(self._hums.discard)
        return clip

    def stop(self) -> None:
        """Silence within one block: what is being said, the hum and what waits. Unheard alerts and notices stay."""
        self._player.stop()

    # ----------------------------------------------------------------------------------------- the rest

    @property
    def is_speaking(self) -> bool:
        """Whether something is being said or waits to be said."""
        return self._player.is_busy

    @property
    def now_saying(self) -> str:
        """The sentence that sounds right now; "" when none does."""
        return self._player.now_saying

    @property
    def lately_said(self) -> str:
        """What sounds now, or did until a moment ago: its echo may still be in the room."""
        return self._player.lately_said

    @property
    def speed(self) -> float:
        """Pace of speech; 1.0 is the voice's own. Set values are kept between 0.5 and 2."""
        return self._voice.speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._voice.speed = min(FASTEST, max(SLOWEST, speed))
        if self._rehearsal is not None:
            self._rehearsal.start_over()

    def prepare(self, texts: Iterable[str], *, soon: bool = False) -> None:
        """Synthesise fixed texts ahead into the line cache: when the box is idle, or ``soon``."""
        if self._rehearsal is not None:
            self._rehearsal.add(texts, soon=soon)

    def prepare_first(self, text: str) -> None:
        """Make the sound of the first sentence of ``text``, which may be said next, and keep it unsaid.

        A line that says the same begins with it. There is one place: the next text, ``forget_first`` and ``stop`` drop
        it, and what is really said never waits for it.
        """
        sentences = self._sentences(text)
        if sentences:
            self._voice.prepare(sentences[0])

    def prepare_first_words(self, words: str) -> None:
        """The same for a sentence that is still being written, of which these words are known; then for more of it."""
        if self.is_written_fast():
            self._voice.prepare(words, is_whole=False)

    def forget_first(self) -> None:
        """What was prepared will not be said."""
        self._voice.forget()

    async def close(self) -> None:
        """Fall silent for good and end every task."""
        if self._rehearsal is not None:
            await self._rehearsal.close()
        await self._notices.close()
        self._mixer.flush(*Lane)
        await self._player.close()
        await asyncio.gather(*self._hums)

    def _is_idle(self) -> bool:
        return not (self._player.is_busy or self._is_busy() or self._mixer.has_sound())

    def _sentences(self, text: str) -> list[str]:
        reader = SpeechText(self._language)
        return [sentence.text for sentence in (*reader.feed(text), *reader.end())]

    async def _hum_finished(self, clip: Clip, turn_id: str) -> None:
        if await clip.finished() > 0.0:
            self._publish(events.PlaybackFinished(turn_id, self._clock.monotonic_seconds(), ""))
