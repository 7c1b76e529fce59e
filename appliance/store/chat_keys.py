"""The keys of private chats while they are open, and what the program may know of every chat without asking the store.

Keys are in memory only: a box that starts has every private chat sealed. The store's own thread handles them, inside
the transaction that needs them, so a chat cannot be sealed in the middle of one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.errors import ChatSealedError, NoChatError, NoPassphraseError, StoreError
from appliance.ports_privacy import ChatCipher
from appliance.store.canonical_json import storable
from appliance.store.database import Connection

#: Stands before what is hidden, where a reader of the file would expect a text.
SEALED_MARK = "@enc1:"


@dataclass(frozen=True)
class ChatFacts:
    """A chat as the rest of the program sees it at any time; ``scopes`` maps a scope to its account."""

    name: str
    is_private: bool
    scopes: Mapping[str, str] = field(default_factory=dict)


class ChatSeal:
    """Hides the words of one chat, and shows them again; those of a public chat pass unchanged.

    A ``place`` names table, row and column. Raises ``StoreError`` for what was changed or stands in another place.
    """

    def __init__(self, chat: str, cipher: ChatCipher | None = None, key: bytes | None = None) -> None:
        self._chat = chat
        self._cipher = cipher
        self._key = key

    def close_text(self, text: str, place: str) -> str:
        """As it is stored in a text column."""
        if self._cipher is None or self._key is None:
            return text
        closed = self._cipher.close(self._key, text.encode(), f"{self._chat} {place}")
        return SEALED_MARK + base64.b64encode(closed).decode("ascii")

    def open_text(self, stored: str, place: str) -> str:
        """What was stored."""
        if self._cipher is None or self._key is None:
            return stored
        try:
            closed = base64.b64decode(stored.removeprefix(SEALED_MARK), validate=True)
        except ValueError as error:
            raise StoreError(f"a part of a private chat is not sealed as it should be ({place})") from error
        return self._cipher.open(self._key, closed, f"{self._chat} {place}").decode()

    def close_bytes(self, data: bytes, place: str) -> bytes:
        """As it is stored in a blob column (a picture)."""
        if self._cipher is None or self._key is None:
            return data
        return SEALED_MARK.encode() + self._cipher.close(self._key, data, f"{self._chat} {place}")

    def open_bytes(self, stored: bytes, place: str) -> bytes:
        """What was stored."""
        if self._cipher is None or self._key is None:
            return stored
        return self._cipher.open(self._key, stored.removeprefix(SEALED_MARK.encode()), f"{self._chat} {place}")


class ChatKeys:
    """See the module. Without a ``cipher`` there are no private chats.

    The facts may be asked for in any thread. Everything that takes a connection runs in a transaction.
    """

    def __init__(self, cipher: ChatCipher | None = None) -> None:
        self._cipher = cipher
        self._keys: dict[str, bytes] = {}
        #: Replaced as a whole, so that any thread may read it.
        self._facts: Mapping[str, ChatFacts] = {}
        self._current = ""

    # --------------------------------------------------------------------------------------------- any thread

    @property
    def cipher(self) -> ChatCipher:
        """How private chats are hidden. Raises ``NoPassphraseError`` when this store has none."""
        if self._cipher is None:
            raise NoPassphraseError("this box keeps no private chats")
        return self._cipher

    def is_private(self, chat: str) -> bool:
        """Whether that chat (its id) is private. One that is not known may have been, until a moment ago."""
        facts = self._facts.get(chat)
        return bool(chat) and (facts is None or facts.is_private)

    @property
    def current(self) -> str:
        """Id of the chat in use, also of a locked one that is about to be left; "" when none is."""
        return self._current

    def name_of(self, chat: str) -> str:
        """The name of the chat with this id; the id when it is not known."""
        facts = self._facts.get(chat)
        return facts.name if facts is not None else chat

    def scopes_of(self, chat: str) -> Mapping[str, str]:
        """Which account of each scope holds in that chat."""
        facts = self._facts.get(chat)
        return facts.scopes if facts is not None else {}

    def is_open(self, chat: str) -> bool:
        """Whether that private chat can be read now."""
        return chat in self._keys

    # ------------------------------------------------------------------------------------- in a transaction

    def learn(self, connection: Connection) -> None:
        """Take the facts from the store; after every change of a chat."""
        rows = connection.execute("SELECT id, name, is_private, scopes, is_current FROM chats").fetchall()
        self._facts = {
            chat: ChatFacts(name, bool(private), json.loads(scopes)) for chat, name, private, scopes, _ in rows
        }
        self._current = next((row[0] for row in rows if row[-1]), "")

    def find(self, connection: Connection, chat: str) -> str:
        """The id of the chat with this id or name. Raises ``NoChatError``."""
        query = "SELECT id FROM chats WHERE id = :chat OR name = :chat ORDER BY id = :chat DESC LIMIT 1"
        row = connection.execute(query, {"chat": storable(str(chat))}).fetchone()
        if row is None:
            raise NoChatError(f"there is no chat {chat!r}; `appliance chat list` shows them")
        return str(row[0])

    def is_sealed(self, connection: Connection, chat: str) -> bool:
        """Whether that chat (its id) is private and locked."""
        row = connection.execute("SELECT is_private FROM chats WHERE id = ?", (chat,)).fetchone()
        return row is not None and bool(row[0]) and chat not in self._keys

    def seal(self, connection: Connection, chat: str) -> ChatSeal:
        """What hides the words of that chat (its id). Raises ``ChatSealedError``."""
        row = connection.execute("SELECT is_private, name FROM chats WHERE id = ?", (chat,)).fetchone()
        if row is None:
            raise NoChatError(f"there is no chat {chat!r}")
        if not row[0]:
            return ChatSeal(chat)
        key = self._keys.get(chat)
        if key is None:
            raise ChatSealedError(f"{row[1]} is private and locked; `appliance chat unlock` opens it")
        return ChatSeal(chat, self.cipher, key)

    def put(self, chat: str, key: bytes) -> None:
        """The chat is open from now on."""
        self._keys[chat] = key

    def drop(self, chat: str = "") -> None:
        """The chat is sealed from now on; all of them without an id."""
        if chat:
            self._keys.pop(chat, None)
        else:
            self._keys.clear()

    def fingerprint(self, chat: str, text: str) -> str:
        """Shows that two texts of a private chat are the same one, to nobody without its key; "" when it is sealed."""
        key = self._keys.get(chat)
        if key is None:
            return ""
        own_key = hmac.digest(key, b"fingerprint", hashlib.sha256)
        return f"hmac-sha256:{hmac.new(own_key, text.encode(), hashlib.sha256).hexdigest()}"
