"""What the box remembers while it talks: the conversation, what it said last, what is still to be said."""

from __future__ import annotations

import logging
from typing import Protocol

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.speak.reply import HeardReply
from appliance.store.shapes import ChatLog, TurnRecord
from appliance.think.brain import BrainAnswer
from appliance.turn import Turn

_LOG = logging.getLogger(__name__)


class Rounds(Protocol):
    """What models were asked, kept for whoever looks (``TurnLog``)."""

    async def forget(self, turn_id: str) -> None:
        """Delete the rounds of that turn and all later ones, which repeat them. Raises ``StoreError``."""
        ...


class Memory:
    """The conversation in use. A store that fails costs memory, never a turn: it is told in the log."""

    def __init__(self, chats: ChatLog, rounds: Rounds, clock: Clock, *, history_turns: int) -> None:
        self._chats = chats
        self._rounds = rounds
        self._clock = clock
        self._history_turns = history_turns
        self._chat = ""
        self._rest: tuple[str, ...] = ()
        #: The last turn that can be forgotten, "" for none since the start; and whether it is in the conversation.
        self._last_turn_id = ""
        self._is_last_kept = False
        self.last_heard = ""
        self.last_reply = ""
        self.last_did: tuple[str, ...] = ()

    @property
    def chat_in_use(self) -> str:
        """Id of the chat that was used last; "" before the first turn."""
        return self._chat

    async def chat(self) -> str:
        """Id of the chat in use."""
        try:
            self._chat = await self._chats.current()
        except StoreError as error:
            _LOG.warning("the chat in use is not known: %s", error)
        return self._chat

    async def history(self) -> tuple[TurnRecord, ...]:
        """The turns that a brain may know, oldest first."""
        try:
            return tuple(await self._chats.turns(await self.chat(), self._history_turns))
        except StoreError as error:
            _LOG.warning("the conversation cannot be read: %s", error)
            return ()

    async def remember(self, turn: Turn, text: str, answer: BrainAnswer, spoken: HeardReply) -> None:
        """Keep the turn with what was really heard of its reply.

        A failure of ours, and a turn that was stopped before anything was heard, do not enter the conversation.
        """
        self._rest = spoken.remainder
        if answer.is_remembered or answer.failed:
            self.last_heard = text
            self.last_did = answer.did
            self._last_turn_id, self._is_last_kept = turn.turn_id, False
        if spoken.heard_text:
            self.last_reply = spoken.heard_text
        if not answer.is_remembered or not (answer.items or spoken.heard_text):
            return
        await turn.committed()
        record = TurnRecord(
            turn_id=turn.turn_id,
            user_text=text,
            reply_text=answer.reply_text or spoken.heard_text,
            heard_text=spoken.heard_text,
            items=answer.items,
            did=answer.did,
            at=self._clock.now().isoformat(timespec="seconds"),
        )
        try:
            await self._chats.append(self._chat or await self.chat(), record)
            self._is_last_kept = True
        except StoreError as error:
            _LOG.warning("the turn could not be kept: %s", error)

    @property
    def has_more(self) -> bool:
        """Whether a part of the last reply was left unsaid."""
        return bool(self._rest)

    def take_more(self) -> str:
        """What was left unsaid of the last reply, once; "" when all was said."""
        rest, self._rest = " ".join(self._rest), ()
        return rest

    async def new_topic(self) -> None:
        """Later turns know nothing of the earlier ones."""
        await self._chats.new_topic(await self.chat())

    async def forget_last(self) -> bool:
        """Delete the last turn for good; False when there was none. Raises ``StoreError``."""
        last_turn_id, self._last_turn_id = self._last_turn_id, ""
        self.last_heard = self.last_reply = ""
        self.last_did = ()
        if last_turn_id:
            await self._rounds.forget(last_turn_id)
            if not self._is_last_kept:
                return True  # It never entered the conversation: the turn before it is not what was meant.
        return await self._chats.forget_last(await self.chat())
