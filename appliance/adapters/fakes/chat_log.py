"""Conversations in memory."""

from __future__ import annotations

from appliance.errors import StoreError
from appliance.store.shapes import TurnRecord


class FakeChatLog:
    """A ChatLog. ``records`` holds every turn of each chat; ``fails`` makes every call raise, as a full disk does.

    ``private`` are the chats that are.
    """

    def __init__(self, chat: str = "chat-1") -> None:
        self.chat = chat
        self.records: dict[str, list[TurnRecord]] = {chat: []}
        self.fails = False
        self.private: set[str] = set()
        self._topic_starts: dict[str, int] = {}

    async def current(self) -> str:
        self._check()
        return self.chat

    async def append(self, chat: str, record: TurnRecord) -> None:
        self._check()
        self.records.setdefault(chat, []).append(record)

    async def turns(self, chat: str, limit: int) -> list[TurnRecord]:
        self._check()
        since_topic = self.records.get(chat, [])[self._topic_starts.get(chat, 0) :]
        return since_topic[-limit:] if limit > 0 else []

    async def new_topic(self, chat: str) -> None:
        self._check()
        self._topic_starts[chat] = len(self.records.get(chat, []))

    async def forget_last(self, chat: str) -> bool:
        self._check()
        if not self.records.get(chat):
            return False
        self.records[chat].pop()
        self._topic_starts[chat] = min(self._topic_starts.get(chat, 0), len(self.records[chat]))
        return True

    def is_private(self, chat: str = "") -> bool:
        return (chat or self.chat) in self.private

    def _check(self) -> None:
        if self.fails:
            raise StoreError("the disk is full: nothing more can be stored; free some space")
