"""ONE TURN AS A STORY: a person speaks, the box hears, thinks, acts, answers.

Read ``_turn`` first: it is the whole product in twenty lines. Around it stand what opens the ear (``live``), what
ends a turn early (``stop``) and the one place where every turn ends (``take_turn``). Only this file starts or ends
a turn.

Everything here runs on our loop and nothing blocks it. Every wait has an end: the ear has its windows, transcribing
and speaking have deadlines, the model its time-outs, a tool its budget.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace

from appliance import events
from appliance.assistant_parts import Parts, TurnReport
from appliance.clock import within
from appliance.contracts.sapphire.turn_hooks import Heeded, Moment
from appliance.errors import HearingError, TurnDroppedError
from appliance.events import EndReason
from appliance.listen.earcons import Earcon
from appliance.listen.hearer import Hearer
from appliance.listen.opening import Opening, OpeningKind
from appliance.ports import Answer, Json, Playback, Priority
from appliance.speak.reply import HeardReply, Reply
from appliance.speak.speech_text import Sentence
from appliance.speak.text_reply import TextReply
from appliance.think.brain import BrainAnswer
from appliance.think.offline_brain import OfflineBrain
from appliance.thinking import Thinking
from appliance.tools.registry import ToolSelection
from appliance.turn import Turn, TurnState

_LOG = logging.getLogger(__name__)

OnText = Callable[[str], None]


def _ignore(_delta: str) -> None:
    """For turns whose text nobody reads along."""


#: States in which the person speaks anyway.
_OPEN_EAR = (TurnState.LISTENING, TurnState.ASKING)
#: No reply is this long (six spoken sentences take half a minute): beyond it the speaker is stuck.
_LONGEST_SPEAKING_SECONDS = 240.0


class Assistant:
    """Takes turns with a person, one at a time; to the rest of the program it is the ``Person`` port."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._clock = parts.clock
        self._one_at_a_time = asyncio.Lock()
        self._openings: asyncio.Queue[Opening] = asyncio.Queue()
        self._turn_now: Turn | None = None
        self._work: asyncio.Task[TurnReport] | None = None
        self._thinking = Thinking(parts, self._failed)

    # ------------------------------------------------------------------ living: wait, take a turn, wait again

    async def live(self) -> None:
        """Take turns for ever: whoever says the wake word or presses the button is heard."""
        wake_watch = asyncio.create_task(self._watch_for_wake_words(), name="wake words")
        try:
            while True:
                report = await self.take_turn(await self._next_opening())
                if report.wants_answer and report.reason is EndReason.ANSWERED and self._openings.empty():
                    seconds = self._parts.windows.follow_up_seconds
                    self._openings.put_nowait(Opening(OpeningKind.FOLLOW_UP, "follow-up", seconds))
        finally:
            wake_watch.cancel()

    async def _next_opening(self) -> Opening:
        """The next call for the ear; whoever called again while a turn was winding down is answered once."""
        opening = await self._openings.get()
        while not self._openings.empty():
            opening = self._openings.get_nowait()
        return opening

    def press(self, *, is_held: bool = False) -> None:
        """The talk button: ends the utterance while listening, stops whatever goes on, else opens the ear.

        One that is held to talk always gets an open ear, until ``let_go``.
        """
        turn = self._turn_now
        is_listening = turn is not None and turn.state in _OPEN_EAR and turn.origin != "alert"
        if is_held and is_listening:
            return
        if turn is not None and turn.state is TurnState.LISTENING and turn.origin != "alert":
            self._parts.ear.finish_utterance()
        elif not self.stop() or is_held:
            seconds = self._parts.windows.addressed_seconds
            self._openings.put_nowait(Opening(OpeningKind.BUTTON, "button", seconds, is_held=is_held))

    def let_go(self) -> None:
        """The finger goes up that was held to talk: the utterance is over; an ear not yet open stays closed."""
        while not self._openings.empty():
            self._openings.get_nowait()
        self._parts.ear.finish_utterance()

    def silence(self) -> None:
        """End what rings, and the ear that is open for an answer to it; a turn about something else goes on."""
        self._parts.alarm.dismiss()
        if self._turn_now is not None and self._turn_now.origin == "alert":
            self._cut(EndReason.STOPPED)

    async def _watch_for_wake_words(self) -> None:
        """Whatever the box does, a wake word takes the turn from it. Without one: ``barge_in.py``."""
        while True:
            word = await self._parts.ear.wake()
            is_listening = self._turn_now is not None and self._turn_now.state is TurnState.LISTENING
            # "Say: okay nabu" from our own loudspeaker must not wake us.
            if is_listening or letters(word) in letters(self._parts.speaker.lately_said):
                continue
            self._parts.hooks.woke(word)
            self._parts.alarm.pause()
            self._cut(EndReason.BARGED_IN)
            self._openings.put_nowait(Opening(OpeningKind.WAKE_WORD, word, self._parts.windows.addressed_seconds))

    def interrupt(self, text: str) -> None:
        """The person spoke over us, and this is what they said: the turn that is on ends, theirs begins."""
        self._cut(EndReason.BARGED_IN)
        self._openings.put_nowait(Opening(OpeningKind.BARGE_IN, "barge-in", 0.0, heard=text))

    @property
    def offline(self) -> OfflineBrain:
        """The brain that is always there."""
        return self._parts.offline

    @property
    def draft_counts(self) -> Json:
        """How many drafts were begun, used and discarded; {} where none are made."""
        return self._parts.drafts.counts if self._parts.drafts is not None else {}

    @property
    def state(self) -> str:
        """What it does now, in a word."""
        return self._turn_now.state.value if self._turn_now is not None else "idle"

    @property
    def is_busy(self) -> bool:
        """Whether a turn is on."""
        return self._turn_now is not None

    async def select_tools(self) -> ToolSelection:
        """The tools of a turn that starts now."""
        return await self._thinking.select_tools()

    @property
    def turn_to_talk_over(self) -> str:
        """Id of the voice turn that is on and does not listen itself; "" when there is none."""
        turn = self._turn_now
        if turn is None or turn.origin != "voice" or turn.state in _OPEN_EAR or turn.cut_by is not None:
            return ""
        return turn.turn_id

    def is_asking(self, turn_id: str) -> bool:
        """Whether that turn is on and waits for an answer of the person."""
        turn = self._turn_now
        return turn is not None and turn.turn_id == turn_id and turn.state is TurnState.ASKING

    # ----------------------------------------------------------------------------------- one turn, whole

    async def take_turn(self, opening: Opening, *, hearer: Hearer | None = None) -> TurnReport:
        """One spoken turn; ``hearer`` for a recording instead of the microphone."""
        turn = Turn("alert" if opening.kind is OpeningKind.ALERT else "voice")
        return await self._run(turn, lambda: self._turn(turn, opening, hearer or self._parts.hearer))

    async def take_typed_turn(self, text: str, *, is_voiced: bool = False, on_text: OnText = _ignore) -> TurnReport:
        """One typed turn; with ``is_voiced`` the answer is spoken as in a voice turn, with all its lines."""
        turn = Turn("voice" if is_voiced else "typed")
        return await self._run(turn, lambda: self._answer(turn, text, on_text))

    async def _turn(self, turn: Turn, opening: Opening, hearer: Hearer) -> TurnReport:
        """The story: open the ear, hear; then think with tools, speak, remember."""
        if opening.kind is not OpeningKind.ALERT:
            self._tell(events.WakeDetected(turn.turn_id, self._now(), opening.word))
        text = opening.heard or await self._hear(turn, opening, hearer)
        if not text or (opening.kind is OpeningKind.ALERT and not self._parts.offline.match_alert(text)):
            # Nobody spoke; or, while an alarm rings, somebody spoke of something else. It leaves no trace.
            return TurnReport(turn.turn_id, EndReason.NOTHING_HEARD)
        if turn.origin != "alert":
            text = await self._parts.hooks.heard(await self._moment(turn), text)
        return await self._answer(turn, text, _ignore)

    async def _hear(self, turn: Turn, opening: Opening, hearer: Hearer) -> str:
        """What the person says; meanwhile the model gets ready for it, and may be asked ahead."""
        drafts, warm_model = self._parts.drafts, self._parts.warm_model
        if warm_model is not None and opening.is_addressed:
            warm_model.begin(turn.turn_id)
        if drafts is None or turn.origin == "alert":
            return await hearer.hear(turn.turn_id, opening)
        drafts.open(turn.turn_id)
        text = await hearer.hear(turn.turn_id, opening, drafts)
        drafts.settle()
        return text

    async def _answer(self, turn: Turn, text: str, on_text: OnText) -> TurnReport:
        """Think, speak while thinking, remember what was really heard, even when stopped in mid-sentence."""
        turn.commit()
        moment = await self._moment(turn)
        heeded = await self._ask_plugins(turn, moment, text)
        # Behind the plugins: one that silenced the box has not silenced the answer to that.
        text, reply = heeded.text, self._open_reply(turn, on_text)
        answer, did = BrainAnswer(""), list[str]()
        try:
            answer = heeded.answer or await self._thinking.think(turn, text, reply, did)
            if heeded.answer is not None:
                reply.feed(answer.reply_text)
            turn.state = TurnState.SPEAKING
            await within(self._clock, _LONGEST_SPEAKING_SECONDS, reply.end())
        finally:
            if answer.failed or not answer.reply_text:
                # The brain broke off and cannot tell any more; what was done is done.
                answer = replace(answer, did=tuple(did))
            spoken = reply.so_far()
            await self._parts.memory.remember(turn, text, answer, spoken)
            self._parts.hooks.after_chat(moment, text, answer.reply_text)
        reason = EndReason.FAILED if answer.failed else EndReason.ANSWERED
        return TurnReport(
            turn.turn_id,
            reason,
            text,
            answer.reply_text,
            spoken.heard_text,
            self._is_asking(answer, spoken),
            answer.failed,
        )

    async def _ask_plugins(self, turn: Turn, moment: Moment, text: str) -> Heeded:
        """Voice commands and their like; what controls the box itself is never theirs to take."""
        turn.state = TurnState.THINKING
        if turn.origin == "alert" or not self._parts.hooks.is_any_asked(moment):
            return Heeded(text)
        match = self._parts.offline.match(text)
        if match is not None and match.is_control:
            return Heeded(text)
        return await self._parts.hooks.before_chat(moment, text)

    async def _moment(self, turn: Turn) -> Moment:
        return Moment(turn.turn_id, await self._parts.memory.chat())

    def _open_reply(self, turn: Turn, on_text: OnText) -> Reply | TextReply:
        if turn.is_voice:
            go_on = self._parts.catalogue.say("assistant.go_on")
            longest = self._parts.longest_reply_sentences
            return self._parts.speaker.open_reply(turn.turn_id, turn, longest, go_on=go_on)
        return TextReply(on_text, lambda sentence: self._show_mood(turn, sentence))

    # ------------------------------------------------------------------------------ ends, early and late

    def stop(self) -> bool:
        """The person wants quiet: ends the turn, the hum, a ringing alarm. False when nothing was going on."""
        was_ringing = self._parts.alarm.dismiss()
        return self._cut(EndReason.STOPPED) or was_ringing

    def _cut(self, reason: EndReason) -> bool:
        """Cancel the turn that is on; the speaker is silent within one block. False when none was on."""
        self._parts.speaker.stop()
        turn, work = self._turn_now, self._work
        if turn is None or work is None or turn.cut_by is not None:
            return False
        turn.cut_by = reason
        self._parts.narrator.end_turn()
        work.cancel()
        return True

    async def _run(self, turn: Turn, story: Callable[[], Coroutine[None, None, TurnReport]]) -> TurnReport:
        """Run a turn's story when the one before is over, and end it: the only place where ``TurnEnded`` is told."""
        async with self._one_at_a_time:
            self._begin(turn)
            self._work = asyncio.create_task(story(), name=turn.turn_id, context=turn.context())
            report = TurnReport(turn.turn_id, EndReason.STOPPED)
            try:
                await asyncio.wait({self._work})
                report = turn.context().run(self._report_of, turn, self._work)
            except asyncio.CancelledError:
                # Whoever asked has gone away, and nobody waits for the answer: end it, and its sound, in good order.
                self._cut(EndReason.STOPPED)
                await asyncio.wait({self._work})
                raise
            finally:
                self._work.cancel()
                self._turn_now = self._work = None
                self._parts.narrator.end_turn()
                if self._parts.drafts is not None:
                    self._parts.drafts.close()
                if turn.end(report.reason):
                    self._tell(events.TurnEnded(turn.turn_id, self._now(), report.reason))
        await self._parts.after_turn()
        if turn.is_voice and report.heard:
            await self._parts.when_heard()
        return report

    def _begin(self, turn: Turn) -> None:
        self._turn_now = turn
        self._tell(events.TurnStarted(turn.turn_id, self._now(), turn.origin))
        channel = "voice" if turn.is_voice else "text"
        self._parts.narrator.begin_turn(turn.turn_id, turn, channel, self._parts.is_reasoning)

    def _report_of(self, turn: Turn, work: asyncio.Task[TurnReport]) -> TurnReport:
        """What became of the story; every way in which it can break is a report, and a sentence for the person."""
        try:
            return work.result()
        except asyncio.CancelledError:
            return TurnReport(turn.turn_id, turn.cut_by or EndReason.STOPPED)
        except TurnDroppedError:
            return TurnReport(turn.turn_id, EndReason.NOTHING_HEARD)
        except HearingError as error:
            return self._broken(turn, EndReason.FAILED, "hearing", error)
        except TimeoutError as error:
            return self._broken(turn, EndReason.TIMED_OUT, "speaking", error)
        except Exception as error:
            _LOG.exception("a turn broke")
            return self._broken(turn, EndReason.FAILED, "turn", error)

    def _broken(self, turn: Turn, reason: EndReason, where: str, error: Exception) -> TurnReport:
        """Something of ours failed: never silence, one short sentence and the error tone."""
        self._failed(where, error)
        self._parts.speaker.stop()
        self._parts.sound(Earcon.ERROR)
        self._parts.speaker.say(self._parts.catalogue.say(f"assistant.{where}_failed"))
        return TurnReport(turn.turn_id, reason, problem=f"{type(error).__name__}: {error}")

    # -------------------------------------------------------------------------------------- the Person port

    def say(self, text: str, priority: Priority = Priority.REPLY) -> Playback:
        """Say ``text`` when it is this priority's turn; returns at once."""
        return self._parts.speaker.say(text, priority)

    def notice(self, key: str, text: str) -> None:
        """Say ``text`` once for this ``key``, when nothing else is going on."""
        self._parts.speaker.notice(key, text)

    async def ask(self, question: str, seconds: float) -> Answer:
        """Say ``question``, then listen inside the turn, without wake word, for at most ``seconds``."""
        turn = self._turn_now
        if turn is None or not turn.is_voice or not self._parts.ear.can_hear:
            return Answer("", "unreachable")
        try:
            with self.asking(turn.turn_id):
                await self.say(question, Priority.APPROVAL).finished()
                opening = Opening(OpeningKind.FOLLOW_UP, "question", seconds)
                text = await self._parts.hearer.hear(turn.turn_id, opening)
        except HearingError as error:
            self._failed("hearing", error)
            return Answer("", "unanswered")
        return Answer(text, "answered" if text else "unanswered")

    @contextlib.contextmanager
    def asking(self, turn_id: str) -> Iterator[None]:
        """Inside the block that turn waits for an answer of the person; when it is not on, nothing changes."""
        turn = self._turn_now
        if turn is None or turn.turn_id != turn_id:
            yield
            return
        before, turn.state = turn.state, TurnState.ASKING
        try:
            yield
        finally:
            if turn.state is TurnState.ASKING:
                turn.state = before

    # ---------------------------------------------------------------------------------------------- small

    def _is_asking(self, answer: BrainAnswer, spoken: HeardReply) -> bool:
        return answer.wants_answer or bool(spoken.remainder)

    def _show_mood(self, turn: Turn, sentence: Sentence) -> None:
        if sentence.emotion is not None:
            self._tell(events.EmotionChanged(turn.turn_id, self._now(), sentence.emotion, "reply"))

    def _failed(self, where: str, error: Exception) -> None:
        problem = f"{type(error).__name__}: {error}"
        if self._parts.memory.hides_words:
            problem = type(error).__name__  # An endpoint may repeat in its error what was said.
        _LOG.warning("%s failed: %s", where, problem)
        turn_id = self._turn_now.turn_id if self._turn_now else ""
        self._tell(events.ErrorRaised(turn_id, self._now(), where, problem))

    def _tell(self, event: events.Event) -> None:
        self._parts.bus.publish(event)

    def _now(self) -> float:
        return self._clock.monotonic_seconds()


def letters(text: str) -> str:
    """What of ``text`` can be heard."""
    return "".join(filter(str.isalnum, text)).casefold()
