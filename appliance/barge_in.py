"""Barge-in: people talk over the box, and it falls silent at once, listens, and then knows what to do.

While the box speaks in a voice turn, and the measured echo allows it, the ear is open with a raised bar. At the first
sure sign of speech the voice is held, not dropped. When it turns out that nothing was meant (a cough, a "mhm", an echo
of our own words), the voice goes on where it stopped; "stop" ends everything; anything else is the next turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from appliance import events
from appliance.audio import AudioChunk, level_dbfs
from appliance.catalogue import Catalogue
from appliance.clock import Clock, within
from appliance.errors import HearingError
from appliance.events import Event
from appliance.listen.config import ListenConfig
from appliance.listen.duplex import DuplexSoundCard
from appliance.listen.ear import Ear, Utterance
from appliance.listen.earcons import Earcon
from appliance.listen.echo_meter import DuplexMode
from appliance.listen.raised_bar import Bar, RaisedBar
from appliance.listen.utterance import STEP_SAMPLES
from appliance.ports import AsyncCallback, Transcriber, Transcript, VoiceActivityDetector
from appliance.speak.mixer import Lane, Mixer
from appliance.speak.speaker import Speaker
from appliance.think.offline_brain import OfflineBrain

_LOG = logging.getLogger(__name__)

#: How often it is looked whether the ear may be open; only while something sounds.
_LOOK_SECONDS = 0.1
#: One opening of the ear; it is closed with our own last word.
_OPEN_SECONDS = 600.0
#: A transcriber that needs longer for this is stuck, and our voice goes on.
_LONGEST_TRANSCRIPTION_SECONDS = 15.0
#: What ends so soon after our voice fell silent may be the last of its echo, whatever a transcriber makes of it: a
#: sound server and a room give it back for half a second. "Stop" and "yes" are taken at their word.
_SHORTEST_WORDS_SECONDS = 0.7
#: So much louder than our echo can be nobody but a person.
_SURELY_A_PERSON_DECIBELS = 12.0
#: And so loud is the loudest tenth of a second of anybody who speaks up: a voice at the far end of a room is not meant.
_SPEAKS_UP_DBFS = -42.0
#: Where our echo comes and goes, whoever wants more than silence has to be so much louder still.
_GUARDED_DECIBELS = 8.0
#: An echo so far below what is played does not hide what people say.
_FAINT_ECHO_DECIBELS = 20.0
#: Of the words that were heard so many are in what we say: then it was us.
_ECHO_SHARE = 0.75
_LEVEL_SAMPLES = 1_600
#: The first half of a short word was under our own voice: its end has to be heard to the end.
_SOFT_END_SECONDS = 0.2
#: "Stop", and what may have been made of it.
_MOST_WORDS_OF_STOP = 3
#: Our voice is lowered behind so many steps of sound that is not ours, until there was none for so many.
_LOUD_STEPS, _QUIET_STEPS = 2, 12
_LISTEN_DBFS, _LISTEN_ABOVE_ECHO_DECIBELS = -60.0, 5.0
_HELD_LANES = (Lane.SPEECH, Lane.HUM)
#: So often our voice may halt for nothing in one turn: an echo that is not taken out as it was measured would make us
#: stutter. From then on only the wake word and the button interrupt that turn.
_MOST_FALSE_HOLDS = 3


#: In steps of voice activity (32 ms): two, and five. It is less sure of a person while we speak than in a silent
#: room, and after a long silence; that it is none of our own voice, the level has to tell.
_BARS: Mapping[DuplexMode, Bar] = {
    DuplexMode.FULL: Bar(0.35, 0.06, 5.0),
    DuplexMode.GUARDED: Bar(0.5, 0.15, 8.0),
}


class Floor(Protocol):
    """Who has the word; the assistant."""

    @property
    def turn_to_talk_over(self) -> str:
        """Id of the voice turn that is on and does not listen itself; "" when there is none."""
        ...

    def stop(self) -> bool:
        """End what goes on."""
        ...

    def interrupt(self, text: str) -> None:
        """End what goes on; the next turn is about ``text``."""
        ...


class Verdict(enum.StrEnum):
    """What somebody meant who spoke over us."""

    NOTHING = "nothing"
    STOP = "stop"
    SOMETHING = "something"


@dataclass(frozen=True)
class OwnWords:
    """What we said when somebody spoke over us, and how loud its echo could be then."""

    text: str
    is_question: bool
    echo_dbfs: float


async def _do_nothing() -> None:
    """For whom nobody waits."""


class BargeIn:
    """One for the box. ``rules`` are the owner's as they are now; ``is_ringing`` tells an alarm, which has rules of its
    own; ``sound`` plays an earcon; ``when_silent`` is awaited each time the box has fallen silent.
    """

    def __init__(
        self,
        floor: Floor,
        card: DuplexSoundCard,
        ear: Ear,
        mixer: Mixer,
        speaker: Speaker,
        transcriber: Transcriber,
        activity: VoiceActivityDetector,
        offline: OfflineBrain,
        catalogue: Catalogue,
        clock: Clock,
        *,
        publish: Callable[[Event], None],
        sound: Callable[[Earcon], None],
        rules: Callable[[], ListenConfig] = ListenConfig,
        is_ringing: Callable[[], bool] = lambda: False,
        when_silent: AsyncCallback = _do_nothing,
    ) -> None:
        self._floor = floor
        self._card = card
        self._ear = ear
        self._mixer = mixer
        self._speaker = speaker
        self._transcriber = transcriber
        self._activity = activity
        self._offline = offline
        self._backchannel = _letters_of(catalogue, "backchannel")
        self._imagined = _letters_of(catalogue, "imagined")
        self._clock = clock
        self._publish = publish
        self._sound = sound
        self._rules = rules
        self._is_ringing = is_ringing
        self._when_silent = when_silent
        self._own_words: OwnWords | None = None
        self._loud_steps = self._quiet_steps = 0
        #: The turn in which our voice halted for nothing, and how often.
        self._false_holds = ("", 0)

    @property
    def mode(self) -> DuplexMode:
        """Whether people may talk over the box now: the owner's word, else what the measured echo allows."""
        wanted = self._rules().duplex
        return self._card.meter.mode if wanted == "auto" else DuplexMode(wanted)

    @property
    def is_holding(self) -> bool:
        """Whether our voice is held because somebody speaks."""
        return self._own_words is not None

    async def run(self) -> None:
        """Let people talk over the box, for ever; while it is silent this costs nothing."""
        while True:
            await self._card.sounding()
            while self._card.is_sounding:
                mode, turn_id = self.mode, self._floor.turn_to_talk_over
                if not self._ear.is_listening and self._may_stay(mode, turn_id):
                    await self._listen_over(mode, turn_id)
                await self._clock.sleep(_LOOK_SECONDS)
            await self._when_silent()

    # ------------------------------------------------------------------------------------------- one opening

    def _may_stay(self, mode: DuplexMode, turn_id: str) -> bool:
        return (
            mode is not DuplexMode.HALF
            and self.mode is mode
            and bool(turn_id)
            and self._floor.turn_to_talk_over == turn_id
            and self._false_holds_in(turn_id) < _MOST_FALSE_HOLDS
            and self._card.is_sounding
            and self._ear.can_hear
            and not self._is_ringing()
        )

    def _false_holds_in(self, turn_id: str) -> int:
        turn, count = self._false_holds
        return count if turn == turn_id else 0

    async def _listen_over(self, mode: DuplexMode, turn_id: str) -> None:
        early: asyncio.Task[Transcript] | None = None
        generation = self._mixer.generation(Lane.SPEECH)

        def begin(so_far: AudioChunk) -> None:
            nonlocal early
            drop()
            early = asyncio.ensure_future(self._transcriber.transcribe(self._clearest(so_far)))
            early.add_done_callback(self._finish_when_told_to_stop)

        def drop() -> None:
            nonlocal early
            if early is not None:
                early.cancel()
                early = None

        listening = asyncio.ensure_future(self._open(mode, begin, drop))
        try:
            while not listening.done():
                if not (self.is_holding or self._may_stay(mode, turn_id)):
                    return
                with contextlib.suppress(TimeoutError):
                    await within(self._clock, _LOOK_SECONDS, asyncio.shield(listening))
            utterance = listening.result()
            # A press or a wake word may have ended the turn meanwhile: then nobody asks us.
            if utterance is not None and self._own_words is not None:
                text = await self._text_of(utterance, early)
                if self._mixer.generation(Lane.SPEECH) == generation:
                    self._act(turn_id, text, self._judge(text, utterance, self._own_words))
        finally:
            listening.cancel()
            drop()
            await asyncio.gather(listening, return_exceptions=True)
            self._release()

    async def _open(
        self, mode: DuplexMode, begin: Callable[[AudioChunk], None], drop: Callable[[], None]
    ) -> Utterance | None:
        bar, meter = _BARS[mode], self._card.meter
        return await self._ear.listen(
            no_speech_seconds=_OPEN_SECONDS,
            after_wake_word=False,
            is_overhearing=True,
            activity=RaisedBar(
                self._activity, bar, lambda: meter.expected_dbfs, lambda: not self.is_holding, self._lend_an_ear
            ),
            rules=replace(self._rules(), minimum_speech_seconds=bar.speech_seconds, soft_end_seconds=_SOFT_END_SECONDS),
            on_speech_started=self._hold,
            on_soft_end=begin,
            on_resumed=drop,
        )

    def _clearest(self, so_far: AudioChunk) -> AudioChunk:
        """What was said, for a transcriber. Where our echo is faint anyway, a canceller takes more from a person's
        first words than from it: then as the microphone heard it.
        """
        figure = self._card.meter.figure
        raw = self._card.raw_lately(len(so_far.samples) + STEP_SAMPLES)
        if figure is None or figure.loss_decibels < _FAINT_ECHO_DECIBELS or len(raw) < len(so_far.samples):
            return so_far
        return AudioChunk(raw, so_far.format)

    def _lend_an_ear(self, level: float, above_echo_decibels: float) -> None:
        """There is a sound that is not ours. Where our echo is loud nobody can be understood over it, so speak lower
        for a moment, and hear whether it is a person.
        """
        if level > _LISTEN_DBFS and above_echo_decibels > _LISTEN_ABOVE_ECHO_DECIBELS:
            self._loud_steps, self._quiet_steps = self._loud_steps + 1, 0
        else:
            self._quiet_steps += 1
        if self._loud_steps and self._quiet_steps > _QUIET_STEPS:
            self._speak_up()
        elif self._loud_steps == _LOUD_STEPS:
            self._mixer.duck(True)
            self._card.meter.is_paused = True

    def _speak_up(self) -> None:
        self._loud_steps = self._quiet_steps = 0
        self._mixer.duck(False)
        self._card.meter.is_paused = self.is_holding

    def _hold(self) -> None:
        """Somebody speaks: be silent within a block, and lose nothing."""
        self._mixer.hold(*_HELD_LANES)
        self._card.meter.is_paused = True
        is_question = self._speaker.now_saying.rstrip().endswith("?")
        self._own_words = OwnWords(self._speaker.lately_said, is_question, self._card.meter.expected_dbfs)

    def _release(self) -> None:
        if self._own_words is not None:
            self._own_words = None
            self._mixer.release(*_HELD_LANES)
        self._speak_up()

    def _finish_when_told_to_stop(self, early: asyncio.Task[Transcript]) -> None:
        """Whoever says "stop" need not be waited for."""
        is_waited_for = self.is_holding and self._ear.is_overhearing
        if early.cancelled() or early.exception() is not None or not is_waited_for:
            return
        if self._is_stop(early.result().text):
            self._ear.finish_utterance()

    async def _text_of(self, utterance: Utterance, early: asyncio.Task[Transcript] | None) -> str:
        try:
            work = early or self._transcriber.transcribe(utterance.audio)
            return (await within(self._clock, _LONGEST_TRANSCRIPTION_SECONDS, work)).text
        except (HearingError, TimeoutError) as error:
            _LOG.warning("what was said over the box could not be transcribed: %s", error)
            return ""

    # --------------------------------------------------------------------------------------------- judgement

    def _judge(self, text: str, utterance: Utterance, own: OwnWords) -> Verdict:
        if not _letters(text) or _letters(text) in self._imagined:
            return Verdict.NOTHING
        loudness = _loudness(utterance.audio)
        raised_decibels = 0.0 if self.mode is DuplexMode.FULL else _GUARDED_DECIBELS
        is_a_person = loudness > raised_decibels + max(_SPEAKS_UP_DBFS, own.echo_dbfs + _SURELY_A_PERSON_DECIBELS)
        if not is_a_person and _is_echo(text, own.text):
            return Verdict.NOTHING
        if self._is_stop(text):
            return Verdict.STOP
        if not is_a_person:
            return Verdict.NOTHING
        # "Yes" is the answer to a question, and nothing more than politeness to everything else.
        if _letters(text) in self._backchannel:
            return Verdict.SOMETHING if own.is_question else Verdict.NOTHING
        if utterance.speech_seconds < _SHORTEST_WORDS_SECONDS:
            return Verdict.NOTHING
        return Verdict.SOMETHING

    def _is_stop(self, text: str) -> bool:
        match = self._offline.match(text)
        if self._offline.match_answer(text) == "stop" or (match is not None and match.tool == "box_stop"):
            return True
        # Over our own voice "stop" is heard as "stop them" and "stop, stop" as "Scott, stop"; who says "stop" first or
        # last in so few words means it.
        words = _words(text)
        is_short = 1 <= len(words) <= _MOST_WORDS_OF_STOP and not text.casefold().startswith("don")
        return is_short and "stop" in (self._offline.match_answer(words[0]), self._offline.match_answer(words[-1]))

    def _act(self, turn_id: str, text: str, verdict: Verdict) -> None:
        """Do it before the voice is released: what was flushed does not sound again."""
        if verdict is Verdict.NOTHING:
            self._false_holds = (turn_id, self._false_holds_in(turn_id) + 1)
            _LOG.info("somebody made a sound while the box spoke; it goes on")
            return
        if self._floor.turn_to_talk_over == turn_id:
            self._publish(events.Transcribed(turn_id, self._clock.monotonic_seconds(), text))
        if verdict is Verdict.STOP:
            self._floor.stop()
            self._release()
            self._sound(Earcon.CLOSED)
        else:
            self._floor.interrupt(text)


def _loudness(audio: AudioChunk) -> float:
    """Level of the loudest tenth of a second."""
    samples = audio.samples
    return max(level_dbfs(samples[at : at + _LEVEL_SAMPLES]) for at in range(0, max(1, len(samples)), _LEVEL_SAMPLES))


def _letters_of(catalogue: Catalogue, name: str) -> frozenset[str]:
    return frozenset(map(_letters, catalogue.forms(f"barge_in.{name}")))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _letters(text: str) -> str:
    return "".join(_words(text))


def _is_echo(text: str, own: str) -> bool:
    """Whether what was heard are our own words, as far as a transcriber understood them."""
    heard, said = _words(text), set(_words(own))
    return bool(heard) and float(np.mean([word in said for word in heard])) >= _ECHO_SHARE
