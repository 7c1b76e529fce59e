"""How a turn thinks: which brain is asked, and how its hands reach tools and the speaker.

It lives in the turn that is on, which can be cut at any ``await``; nothing here starts or ends a turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from appliance.assistant_parts import Parts
from appliance.contracts.sapphire.turn_hooks import Moment
from appliance.errors import BrainError
from appliance.events import Outcome
from appliance.speak.reply import Reply
from appliance.speak.text_reply import TextReply
from appliance.think.brain import BrainAnswer, Hands, Question
from appliance.tools.registry import ToolSelection
from appliance.tools.tool import CallContext, ToolCall, ToolResult
from appliance.turn import Turn, TurnState


class Thinking:
    """Asks the right brain. ``failed`` is told when a model was away, with the reason."""

    def __init__(self, parts: Parts, failed: Callable[[str, Exception], None]) -> None:
        self._parts = parts
        self._failed = failed

    async def think(self, turn: Turn, text: str, reply: Reply | TextReply, did: list[str]) -> BrainAnswer:
        """Answer ``text`` into ``reply``; what tools did is added to ``did``, in sentences, as it happens.

        Stop, volume and the like never wait for a model; a model that is away is no silence.
        """
        turn.state = TurnState.THINKING
        question = await self._question(turn, text)
        selection = await self.select_tools()
        hands = Hands(
            say=reply.feed,
            run=lambda call: self._run_tool(turn, question, selection, reply, did, call),
            tools=selection,
            next_call_id=turn.next_call_id,
        )
        offline, model = self._parts.offline, self._parts.model
        if turn.origin == "alert":
            return await offline.answer(question, hands, is_alert=True)
        match = offline.match(text)
        is_control = match is not None and match.is_control
        if self._parts.memory.take_closed() and turn.is_voice and not is_control:
            # Meant for the private chat, which was closed from elsewhere: no other chat and no model gets it.
            sentence = self._parts.catalogue.say("private.closed")
            reply.feed(sentence)
            return BrainAnswer(sentence, is_remembered=False)
        if model is not None and self._parts.memory.hides_words and not self._parts.is_model_local:
            return await offline.answer(question, hands, unknown_key="private.model_outside")
        if model is None or is_control:
            return await offline.answer(question, hands)
        if match is not None and match.tool == "box_more" and self._parts.memory.has_more:
            # "Shall I go on?" "Yes": the rest is here, a model would make it up again. It is part of the conversation.
            return replace(await offline.answer(question, hands), items=(), is_remembered=True)
        try:
            moment = Moment(turn.turn_id, self._parts.memory.chat_in_use)
            answer = await self._parts.hooks.answered(moment, model, question, hands)
            self._parts.health.is_model_away = False
            return answer
        except BrainError as error:
            self._failed("model", error)
            self._parts.health.is_model_away = True
            if match is not None:
                return await offline.answer(question, hands)
            sentence = self._parts.catalogue.say(error.sentence_key)
            reply.flush_text()
            reply.feed(sentence)
            return BrainAnswer(sentence, is_remembered=False, failed=f"{type(error).__name__}: {error}")

    async def select_tools(self) -> ToolSelection:
        """The tools of a turn that starts now, after asking those that want to be asked whether they are available."""
        await self._parts.refresh_tools()
        chat = await self._parts.memory.chat()
        return self._parts.registry.select([lambda tool: self._parts.why_not_in(tool, chat)])

    async def _question(self, turn: Turn, text: str) -> Question:
        history = await self._parts.memory.history(is_spoken=turn.is_voice)
        return Question(turn.turn_id, text, "voice" if turn.is_voice else "text", history)

    async def _run_tool(
        self,
        turn: Turn,
        question: Question,
        selection: ToolSelection,
        reply: Reply | TextReply,
        did: list[str],
        call: ToolCall,
    ) -> ToolResult:
        """Act: what was said so far is spoken first, then the tool's own lines around its run."""
        turn.state = TurnState.RUNNING
        reply.flush_text()
        context = CallContext(
            call_id=call.call_id,
            turn_id=turn.turn_id,
            chat=await self._parts.memory.chat(),
            channel=question.channel,
            gate=turn,
            user_text=question.text,
            user_texts=(question.text, *(record.user_text for record in reversed(question.history[-3:]))),
        )
        outcome = Outcome.INTERRUPTED
        try:
            result = await self._parts.runner.run(call, context, selection)
            outcome = result.outcome
            return result
        finally:
            turn.state = TurnState.THINKING
            did.append(self._parts.catalogue.say(f"brain.did_{outcome}", tool=call.name.replace("_", " ")))
