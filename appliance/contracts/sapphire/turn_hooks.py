"""The moments of a turn at which plugins are asked, for those who live through them: the assistant and the runner.

In a private chat only plugins that say they are aware of privacy hear of anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from appliance.contracts.sapphire.hooks import HookEvent, Hooks
from appliance.events import Outcome
from appliance.store.canonical_json import storable
from appliance.think.brain import Brain, BrainAnswer, Hands, Question
from appliance.think.items import assistant_message, with_last_words
from appliance.tools.current_chat import in_chat
from appliance.tools.runner import OWN_ORIGIN
from appliance.tools.tool import CallContext, Tool, ToolCall, ToolResult

#: Characters of text that plugins may add to one request to the model; the rest of a longer one is cut.
_LONGEST_CONTEXT, _LONGEST_GHOST = 16_000, 2_048
#: A call from the command line belongs to no turn, and is no reason to end one.
_NO_TURN = "none"
#: At these moments plugins get the words on their way to a model.
_BEFORE_THE_MODEL = ("post_stt", "pre_chat", "prompt_inject", "ghost_inject")
_SKIPPED = "Execution skipped by plugin."


@dataclass(frozen=True)
class Heeded:
    """What became of the person's words; with an ``answer`` no brain is asked."""

    text: str
    answer: BrainAnswer | None = None


@dataclass(frozen=True)
class Moment:
    """A turn in which plugins are asked: its id and its chat (id)."""

    turn_id: str
    chat: str


class TurnHooks:
    """On the loop. ``name_of`` and ``is_private`` are about a chat's id; ``system`` is None while there is none."""

    def __init__(
        self,
        hooks: Hooks,
        *,
        config: Any,
        system: Callable[[], Any],
        name_of: Callable[[str], str],
        is_private: Callable[[str], bool],
    ) -> None:
        self._hooks = hooks
        self._config = config
        self._system = system
        self._name_of = name_of
        self._is_private = is_private
        #: Those that nobody waits for.
        self._telling: set[asyncio.Task[None]] = set()

    def woke(self, word: str) -> None:
        """Somebody said the wake word; returns at once."""
        if self._hooks.has("on_wake"):
            self._later(self._hooks.fire("on_wake", config=self._config, metadata={"wake_word": word}))

    async def heard(self, moment: Moment, text: str) -> str:
        """What was transcribed, as plugins put it right."""
        event = await self._fire("post_stt", moment, input=text)
        return text if event is None else _text(event.input, text)

    def is_any_asked(self, moment: Moment) -> bool:
        """Whether ``before_chat`` asks anybody."""
        return self._hooks.has("pre_chat", is_private=self._is_private(moment.chat))

    def may_change_request(self, moment: Moment) -> bool:
        """Whether plugins have a say in what a model is asked, which they may not be asked about ahead."""
        return any(self._hooks.has(name, is_private=self._is_private(moment.chat)) for name in _BEFORE_THE_MODEL)

    def may_change_answer(self, moment: Moment) -> bool:
        """Whether plugins have a say in what a model answered, before it is said."""
        return self._hooks.has("post_llm", is_private=self._is_private(moment.chat))

    async def before_chat(self, moment: Moment, text: str) -> Heeded:
        """Voice commands and filters: what goes to a brain, or an answer in its stead."""
        event = await self._fire("pre_chat", moment, input=text)
        if event is None:
            return Heeded(text)
        changed = _text(event.input, text)
        if event.skip_llm is not True:
            return Heeded(changed)
        reply = _text(event.response)
        is_kept = event.ephemeral is not True and bool(reply.strip())
        return Heeded(changed, BrainAnswer(reply, (assistant_message(reply),), is_remembered=is_kept))

    async def answered(self, moment: Moment, model: Brain, question: Question, hands: Hands) -> BrainAnswer:
        """The model's answer, with what plugins add to the question and make of the answer. Raises ``BrainError``.

        With plugins that see the answer before it is said, nothing of it is said while it comes.
        """
        question = replace(question, context=await self._context(moment, question.text))
        if not self._hooks.has("post_llm", is_private=self._is_private(moment.chat)):
            return await model.answer(question, hands)
        answer = await model.answer(question, replace(hands, say=lambda _delta: None))
        event = await self._fire("post_llm", moment, input=question.text, response=answer.reply_text)
        text = answer.reply_text if event is None else _text(event.response, answer.reply_text)
        hands.say(text)
        return replace(answer, reply_text=text, items=with_last_words(answer.items, text))

    def after_chat(self, moment: Moment, text: str, reply: str) -> None:
        """The turn was answered and kept; returns at once."""
        if self._hooks.has("post_chat", is_private=self._is_private(moment.chat)):
            self._later(self._fire("post_chat", moment, input=text, response=reply))

    async def before_call(self, call: ToolCall, tool: Tool, context: CallContext) -> ToolCall | ToolResult:
        """The call as plugins change it, or a result in its stead; it is decided and recorded as it comes back.

        The box's own tools are the person's, not to be changed.
        """
        if tool.origin == OWN_ORIGIN:
            return call
        event = await self._fire(
            "pre_execute",
            Moment(context.turn_id, context.chat),
            function_name=tool.name,
            arguments=dict(call.arguments),
        )
        if event is None:
            return call
        if event.skip_llm is True:
            text = _text(event.result)
            return ToolResult(text) if text else ToolResult(_SKIPPED, Outcome.REFUSED, error="a plugin skipped it")
        return replace(call, arguments=event.arguments) if isinstance(event.arguments, dict) else call

    async def after_call(self, call: ToolCall, context: CallContext, result: ToolResult) -> None:
        """How it ended; nothing can be changed any more."""
        moment = Moment(context.turn_id, context.chat)
        await self._fire(
            "post_execute",
            moment,
            has_system=False,
            function_name=call.name,
            arguments=dict(call.arguments),
            result=result.text,
        )

    async def close(self) -> None:
        """Wait for what is still being told; each has its budget."""
        await asyncio.gather(*self._telling, return_exceptions=True)

    # ------------------------------------------------------------------------------------------------ private

    async def _context(self, moment: Moment, text: str) -> tuple[str, ...]:
        """What plugins add to this one request to the model."""
        parts = await self._fire("prompt_inject", moment, has_system=False, input=text)
        added = parts.context_parts if parts is not None and isinstance(parts.context_parts, list) else []
        ghost = await self._fire("ghost_inject", moment, has_config=False, input=text)
        said = _text(ghost.ghost_text) if ghost is not None else ""
        label = _text(ghost.ghost_label) if ghost is not None else ""
        whole = "\n\n".join(part for part in map(_text, added) if part.strip())
        line = f"[{label}] {said}" if said and label else said
        return tuple(filter(None, (whole[:_LONGEST_CONTEXT], line[:_LONGEST_GHOST])))

    async def _fire(
        self, name: str, moment: Moment, *, has_system: bool = True, has_config: bool = True, **values: Any
    ) -> HookEvent | None:
        """The event as the handlers left it; None when there is nobody to tell."""
        is_private = self._is_private(moment.chat)
        if not self._hooks.has(name, is_private=is_private):
            return None
        with in_chat(moment.chat, moment.turn_id or _NO_TURN):
            return await self._hooks.fire(
                name,
                is_private=is_private,
                chat_name=self._name_of(moment.chat),
                config=self._config if has_config else None,
                metadata={"system": self._system()} if has_system else {},
                **values,
            )

    def _later(self, telling: Coroutine[Any, Any, object]) -> None:
        async def told() -> None:
            await telling

        task = asyncio.create_task(told(), name="hook")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


def _text(value: object, otherwise: str = "") -> str:
    """A text that a plugin gave. Nothing else: what a stranger's object says of itself is not asked on our loop."""
    return storable(value) if isinstance(value, str) else otherwise
