"""Private chats for tests: a log and a vault with a quick cipher, and a passphrase already set."""

from __future__ import annotations

from appliance.adapters.fakes.chat_cipher import FakeChatCipher
from appliance.clock import Clock, FakeClock
from appliance.ports_privacy import ChatCipher
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_vault import ChatVault
from appliance.store.database import Database

PASSPHRASE = "correct horse battery"


async def with_vault(
    database: Database, clock: Clock | None = None, cipher: ChatCipher | None = None
) -> tuple[StoredChatLog, ChatVault]:
    """The chats of a store whose owner has set ``PASSPHRASE``."""
    chats = StoredChatLog(database, clock or FakeClock(), ChatKeys(cipher or FakeChatCipher()))
    vault = ChatVault(database, chats)
    if not await vault.has_passphrase():
        await vault.set_passphrase(PASSPHRASE)
    return chats, vault
