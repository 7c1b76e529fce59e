"""What the model would be asked if a spoken turn began to think now: the very request that the turn would make.

Nothing is said, kept or run for it, and no plugin is asked.
"""

from __future__ import annotations

from collections.abc import Callable

from appliance.contracts.sapphire.turn_hooks import Moment, TurnHooks
from appliance.memory import Memory
from appliance.ports_think import ModelRequest
from appliance.think.brain import Question
from appliance.think.model_brain import ModelBrain
from appliance.think.offline_brain import OfflineBrain
from appliance.tools.registry import Registry
from appliance.tools.tool import Tool

#: In place of the words that are still to come; any would do.
_ANY_WORDS = "…"


class FirstRequest:
    """Builds it. Each method raises ``StoreError`` when the conversation cannot be read."""

    def __init__(
        self,
        brain: ModelBrain,
        *,
        memory: Memory,
        offline: OfflineBrain,
        hooks: TurnHooks,
        registry: Registry,
        why_not_in: Callable[[Tool, str], str | None],
        is_model_local: bool,
    ) -> None:
        self._brain = brain
        self._memory = memory
        self._offline = offline
        self._hooks = hooks
        self._registry = registry
        self._why_not_in = why_not_in
        self._is_model_local = is_model_local

    async def of(self, turn_id: str, text: str) -> ModelRequest | None:
        """The request for these words; None when they would not go to the model as they are, or not at all."""
        chat = await self._memory.chat()
        request = await self._build(chat, turn_id, text)
        # The last word, because the chat in use may have become another one meanwhile.
        is_same_chat = await self._memory.chat() == chat
        return request if is_same_chat and self._is_for_model(Moment(turn_id, chat), text) else None

    async def beginning(self, turn_id: str) -> ModelRequest | None:
        """A request that begins as any would now; None when the model may know nothing of the chat in use."""
        chat = await self._memory.chat()
        request = await self._build(chat, turn_id, _ANY_WORDS)
        return request if await self._memory.chat() == chat and self._may_know else None

    async def may_be_said_at_once(self, turn_id: str) -> bool:
        """Whether the answer is said as the model gives it."""
        return not self._hooks.may_change_answer(Moment(turn_id, await self._memory.chat()))

    async def _build(self, chat: str, turn_id: str, text: str) -> ModelRequest:
        history = await self._memory.history_ahead(chat)
        # Whether tools are available is not asked anew, for plugins would be asked: if it has changed, so has the
        # request that the turn makes.
        tools = self._registry.select([lambda tool: self._why_not_in(tool, chat)])
        return await self._brain.first_request(Question(turn_id, text, "voice", history), tools)

    def _is_for_model(self, moment: Moment, text: str) -> bool:
        """Whether ``Thinking`` would ask the model; at the least doubt it is not asked ahead."""
        if self._memory.is_closed or not self._may_know or self._hooks.may_change_request(moment):
            return False
        match = self._offline.match(text)
        return match is None or not (match.is_control or (match.tool == "box_more" and self._memory.has_more))

    @property
    def _may_know(self) -> bool:
        return self._is_model_local or not self._memory.hides_words
