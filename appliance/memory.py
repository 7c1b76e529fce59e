"""What the box remembers while it talks: the conversation, what it said last, what is still to be said."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Protocol

from appliance.clock import Clock
from appliance.errors import NoPassphraseError, StoreError
from appliance.speak.reply import HeardReply
from appliance.store.shapes import ChatInfo, ChatLog, TurnRecord
from appliance.think.brain import BrainAnswer
from appliance.turn import Turn

_LOG = logging.getLogger(__name__)


class Rounds(Protocol):
    """What models were asked, kept for whoever looks (``TurnLog``)."""

    async def forget(self, turn_id: str) -> None:
        """Delete the rounds of that turn and all later ones, which repeat them. Raises ``StoreError``."""
        ...


class PrivateChats(Protocol):
    """Beginning and ending private chats (``ChatVault``)."""

    async def begin(self, name: str = "") -> ChatInfo:
        """Begin a private chat and use it. Raises ``NoPassphraseError``, ``StoreError``."""
        ...

    async def end(self, chat: str) -> None:
        """Seal the private chat in use and go on in the last public one. Raises ``StoreError``."""
        ...

    async def delete(self, chat: str) -> None:
        """Delete a private chat for good. Raises ``StoreError``."""
        ...


class Memory:
    """The conversation in use. A store that fails costs memory, never a turn: it is told in the log.

    A spoken conversation rests after ``rest_minutes`` without a word (0: never): what follows is a new topic.
    """

    def __init__(
        self,
        chats: ChatLog,
        rounds: Rounds,
        clock: Clock,
        *,
        history_turns: int,
        rest_minutes: float = 0.0,
        private: PrivateChats | None = None,
    ) -> None:
        self._chats = chats
        self._rounds = rounds
        self._clock = clock
        self._history_turns = history_turns
        self.rest_after(rest_minutes)
        self._private = private
        self._chat = ""
        #: The chat in which the turn that is on began: its words belong there, whatever is in use by its end.
        self._chat_of_turn = ""
        self._is_in_private = False
        #: The private chat in use was locked or deleted, or another one chosen, and nobody here has been told.
        self._is_closed = False
        self._rest: tuple[str, ...] = ()
        #: The last turn that can be forgotten, "" for none since the start; and whether it is in the conversation.
        self._last_turn_id = ""
        self._is_last_kept = False
        self.last_heard = ""
        self.last_reply = ""
        self.last_did: tuple[str, ...] = ()

    def rest_after(self, minutes: float) -> None:
        """After so long without a word a spoken conversation begins anew; 0 lets it go on for ever."""
        self._rest_after = timedelta(minutes=minutes)

    @property
    def chat_in_use(self) -> str:
        """Id of the chat of the turn that is on, or was last; "" before the first."""
        return self._chat_of_turn or self._chat

    async def chat(self) -> str:
        """Id of the chat in use."""
        try:
            chat = await self._chats.current()
        except StoreError as error:
            _LOG.warning("the chat in use is not known: %s", error)
            return self._chat
        is_private = self._chats.is_private(chat)
        if self._chat not in ("", chat):
            self._is_closed = not is_private and (self._is_closed or self._is_in_private)
            self._leave()
        self._chat, self._is_in_private = chat, is_private
        return chat

    @property
    def is_private(self) -> bool:
        """Whether the chat in use is a private one."""
        return self._chats.is_private()

    @property
    def hides_words(self) -> bool:
        """Whether what is said now may belong to a private chat, the one in use or that of the turn that is on."""
        return any(self._chats.is_private(chat) for chat in ("", self._chat, self._chat_of_turn))

    @property
    def is_closed(self) -> bool:
        """What ``take_closed`` would tell, without taking it."""
        return self._is_closed

    def take_closed(self) -> bool:
        """Whether the private chat in use was closed from elsewhere, once: what is said next was meant for it."""
        is_closed, self._is_closed = self._is_closed, False
        return is_closed

    async def history(self, *, is_spoken: bool = False) -> tuple[TurnRecord, ...]:
        """The turns that a brain may know, oldest first; none when a spoken conversation has rested."""
        try:
            self._chat_of_turn = await self.chat()
            turns = tuple(await self._chats.turns(self._chat_of_turn, self._history_turns))
            if not (is_spoken and turns and self._has_rested(turns[-1])):
                return turns
            self._rest = ()
            await self._chats.new_topic(self._chat_of_turn)
        except StoreError as error:
            _LOG.warning("the conversation cannot be read: %s", error)
        return ()

    async def history_ahead(self, chat: str) -> tuple[TurnRecord, ...]:
        """What a spoken turn in that chat would get now; changes nothing. Raises ``StoreError``."""
        turns = tuple(await self._chats.turns(chat, self._history_turns))
        return () if turns and self._has_rested(turns[-1]) else turns

    async def remember(self, turn: Turn, text: str, answer: BrainAnswer, spoken: HeardReply) -> None:
        """Keep the turn with what was really heard of its reply.

        A failure of ours, and a turn that was stopped before anything was heard, do not enter the conversation.
        """
        chat = self._chat_of_turn or await self.chat()
        is_of_talk = answer.is_remembered or bool(answer.failed)
        if chat == self._chat or not is_of_talk:
            self._rest = spoken.remainder
            self.last_reply = spoken.heard_text or self.last_reply
        if chat == self._chat and is_of_talk:
            self.last_heard = text
            self.last_did = answer.did
            self._last_turn_id, self._is_last_kept = turn.turn_id, False
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
            await self._chats.append(chat, record)
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

    async def begin_private(self) -> None:
        """Begin a private chat and go on in it. Raises ``NoPassphraseError``, ``StoreError``."""
        if self._private is None:
            raise NoPassphraseError("this box keeps no private chats")
        await self._private.begin()
        await self.chat()

    async def end_private(self, *, is_deleted: bool) -> bool:
        """Leave the private chat, locked or deleted for good; False when it was none. Raises ``StoreError``."""
        chat = await self.chat()
        if self._private is None or not self._chats.is_private(chat):
            return False
        await (self._private.delete(chat) if is_deleted else self._private.end(chat))
        await self.chat()
        self._is_closed = False
        return True

    def _has_rested(self, last: TurnRecord) -> bool:
        """Whether so much time has passed since; a clock that was set back says nothing."""
        try:
            return bool(self._rest_after) and self._clock.now() - datetime.fromisoformat(last.at) > self._rest_after
        except (ValueError, TypeError):
            return False

    def _leave(self) -> None:
        """What was said is another conversation's: nobody hears it here."""
        self._rest = ()
        self._last_turn_id, self._is_last_kept = "", False
        self.last_heard = self.last_reply = ""
        self.last_did = ()

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
