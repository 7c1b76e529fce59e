"""What a client may ask of the records: conversations, times of turns, the audit trail. Needs the store only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.network.seen import Seen
from appliance.ports import Json
from appliance.store.audit_log import AuditLog
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_vault import ChatVault
from appliance.store.turn_log import TurnLog

_MOST_ROWS = 1000


class RecordService:
    """Serves what is stored."""

    def __init__(self, chats: StoredChatLog, vault: ChatVault, turns: TurnLog, audit: AuditLog, seen: Seen) -> None:
        self._chats = chats
        self._vault = vault
        self._turns = turns
        self._audit = audit
        self._seen = seen

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {
            "chat.list": self.chat_list,
            "chat.show": self.chat_show,
            "chat.new": self.chat_new,
            "chat.use": self.chat_use,
            "chat.rename": self.chat_rename,
            "chat.clear": self.chat_clear,
            "chat.delete": self.chat_delete,
            "chat.private": self.chat_private,
            "chat.lock": self.chat_lock,
            "chat.unlock": self.chat_unlock,
            "chat.has_passphrase": self.chat_has_passphrase,
            "chat.passphrase": self.chat_passphrase,
            "chat.scope": self.chat_scope,
            "turns.last": self.turns_last,
            "turns.show": self.turns_show,
            "audit.list": self.audit_list,
            "audit.verify": self.audit_verify,
            "net.seen": self.net_seen,
        }

    async def chat_list(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """Every chat."""
        return [dataclasses.asdict(chat) for chat in await self._chats.chats()]

    async def chat_show(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The turns of ``{"chat"}``, or of the one in use; ``{"passphrase"}`` opens a locked one for this once."""
        chat = str(params.get("chat") or await self._chats.current())
        passphrase = _passphrase(params)
        was_open = (await self._chats.info(chat)).is_open
        if passphrase and not was_open:
            await self._vault.unlock(passphrase, chat)
        try:
            return [dataclasses.asdict(turn) for turn in await self._chats.everything(chat, _count(params))]
        finally:
            if passphrase and not was_open:
                await self._vault.lock(chat)

    async def chat_new(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Begin a chat named ``{"name"}``, with ``{"private": true}`` a private one, and use it."""
        begin = self._vault.begin if params.get("private") else self._chats.create
        return dataclasses.asdict(await begin(str(params.get("name") or "")))

    async def chat_use(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Go on in ``{"chat"}``."""
        return dataclasses.asdict(await self._chats.use(_chat(params)))

    async def chat_rename(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Call ``{"chat"}`` ``{"name"}``."""
        return dataclasses.asdict(await self._chats.rename(_chat(params), str(params.get("name") or "")))

    async def chat_clear(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Delete what was said in ``{"chat"}``."""
        await self._chats.clear(_chat(params))
        return {}

    async def chat_delete(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Delete ``{"chat"}`` with everything in it."""
        await self._chats.delete(_chat(params))
        return {}

    async def chat_private(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Make ``{"chat"}`` private, with everything in it."""
        return dataclasses.asdict(await self._vault.make_private(_chat(params)))

    async def chat_lock(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Lock the private ``{"chat"}``, or all; those that are locked."""
        return [dataclasses.asdict(chat) for chat in await self._vault.lock(str(params.get("chat") or ""))]

    async def chat_unlock(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Open the private ``{"chat"}``, or all, with the ``{"passphrase"}``; those that are open."""
        opened = await self._vault.unlock(_passphrase(params), str(params.get("chat") or ""))
        return [dataclasses.asdict(chat) for chat in opened]

    async def chat_has_passphrase(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """Whether there is a passphrase for private chats."""
        return await self._vault.has_passphrase()

    async def chat_passphrase(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Set the ``{"passphrase"}`` of private chats; there is one already: ``{"old"}`` is that."""
        await self._vault.set_passphrase(_passphrase(params), str(params.get("old") or ""))
        return {}

    async def chat_scope(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Set which account holds for a plugin scope in ``{"chat"}``, by ``{"scopes"}``; all that are set."""
        scopes = params.get("scopes") or {}
        if not isinstance(scopes, dict) or not all(isinstance(account, str) for account in scopes.values()):
            raise UsageError("scopes are a JSON object of texts, scope to account")
        return dict(await self._chats.set_scopes(_chat(params), scopes))

    async def turns_last(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Times of the last ``{"count"}`` turns, newest first."""
        return [dataclasses.asdict(times) for times in await self._turns.last(_count(params, 20))]

    async def turns_show(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Times and model rounds of ``{"turn_id"}``."""
        turn_id = str(params.get("turn_id") or "")
        story = await self._turns.show(turn_id)
        if story is None:
            raise UsageError(f"no turn {turn_id!r} is known; appliance turns lists the last ones")
        return dataclasses.asdict(story)

    async def audit_list(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """The last ``{"count"}`` lines of the trail, oldest first."""
        return [dataclasses.asdict(line) for line in await self._audit.lines(_count(params, 50))]

    async def audit_verify(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """What is wrong with the trail; an empty list when nothing is."""
        return await self._audit.verify()

    async def net_seen(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Which hosts were asked since the ISO date ``{"since"}``, today when it is not given."""
        since = str(params.get("since") or "")
        rows = await (self._seen.since(since) if since else self._seen.today())
        return [dataclasses.asdict(row) for row in rows]


def _chat(params: Mapping[str, Json]) -> str:
    chat = params.get("chat")
    if not isinstance(chat, str) or not chat:
        raise UsageError("which chat? appliance chat list shows their names")
    return chat


def _passphrase(params: Mapping[str, Json]) -> str:
    passphrase = params.get("passphrase", "")
    if not isinstance(passphrase, str):
        raise UsageError("the passphrase is not a text")
    return passphrase


def _count(params: Mapping[str, Json], usual: int = _MOST_ROWS) -> int:
    count = params.get("count", usual)
    if not isinstance(count, int) or not 0 < count <= _MOST_ROWS:
        raise UsageError(f"a number of rows from 1 to {_MOST_ROWS} is wanted, not {count!r}")
    return count
