"""What opens things: the credentials, and the keys of private chats. In a backup they are under a passphrase, or not.

The copy of the store that goes into a backup has none of them: a chat that is deleted later cannot be opened from it.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.errors import StoreError, WrongPassphraseError
from appliance.keeping.archive import BackupError
from appliance.ports_privacy import ChatCipher, Vault

_LABEL = "backup keys"


@dataclass(frozen=True)
class Keys:
    """``vault`` is what the owner's passphrase of private chats opens; ``chats`` maps a chat to its wrapped key."""

    credentials: Mapping[str, str] = field(default_factory=dict)
    vault: tuple[bytes, bytes, bytes] | None = None
    chats: Mapping[str, bytes] = field(default_factory=dict)


def keys_in(database: Path) -> Keys:
    """Those in a store that nobody uses; none when it cannot be read. Blocks."""
    try:
        with closing(sqlite3.connect(database)) as store:
            vault = store.execute("SELECT salt, public_key, wrapped_private_key FROM vault").fetchone()
            rows = store.execute("SELECT id, wrapped_key FROM chats WHERE is_private AND length(wrapped_key) > 0")
            return Keys({}, vault, dict(rows.fetchall()))
    except sqlite3.Error:
        return Keys()


def take_out(database: Path) -> int:
    """Remove all keys from a store that nobody uses, without a trace; how many private chats there are. Blocks."""
    with closing(sqlite3.connect(database, isolation_level=None)) as store:
        store.execute("PRAGMA secure_delete=ON").fetchall()
        if not store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vault'").fetchone():
            return 0
        store.execute("DELETE FROM vault")
        store.execute("UPDATE chats SET wrapped_key = NULL WHERE is_private AND length(wrapped_key) > 0")
        store.execute("VACUUM")
        return int(store.execute("SELECT count(*) FROM chats WHERE is_private").fetchone()[0])


def put_in(database: Path, keys: Keys) -> int:
    """Give a store its keys; private chats that nothing opens any more go. How many those were. Blocks."""
    with closing(sqlite3.connect(database, isolation_level=None)) as store:
        store.execute("PRAGMA foreign_keys=ON")
        store.execute("PRAGMA secure_delete=ON").fetchall()
        if not store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vault'").fetchone():
            return 0
        store.execute("BEGIN IMMEDIATE")
        if keys.vault is not None:
            statement = "INSERT OR REPLACE INTO vault (one, salt, public_key, wrapped_private_key) VALUES (1, ?, ?, ?)"
            store.execute(statement, keys.vault)
        for chat, wrapped in keys.chats.items():
            store.execute("UPDATE chats SET wrapped_key = ? WHERE id = ? AND is_private", (wrapped, chat))
        lost = store.execute("DELETE FROM chats WHERE is_private AND coalesce(length(wrapped_key), 0) = 0").rowcount
        store.execute("COMMIT")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return lost


def seal(keys: Keys, passphrase: str, cipher: ChatCipher) -> bytes:
    """The keys, to be opened with the passphrase only. Takes some tenths of a second."""
    fields = {
        "credentials": dict(keys.credentials),
        "vault": None if keys.vault is None else [_text(part) for part in keys.vault],
        "chats": {chat: _text(key) for chat, key in keys.chats.items()},
    }
    lock = cipher.make_vault(passphrase)
    closed = cipher.close(cipher.open_vault(lock, passphrase), json.dumps(fields).encode(), _LABEL)
    parts = {"salt": lock.salt, "public_key": lock.public_key, "wrapped_private_key": lock.wrapped_private_key}
    return json.dumps({name: _text(part) for name, part in {**parts, "closed": closed}.items()}).encode()


def unseal(sealed: bytes, passphrase: str, cipher: ChatCipher) -> Keys:
    """Raises ``WrongPassphraseError``, ``BackupError``."""
    try:
        parts = {name: base64.b64decode(part) for name, part in json.loads(sealed).items()}
        closed = parts.pop("closed")
        lock = Vault(**parts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupError("the keys in this backup cannot be read") from error
    try:
        opened = cipher.open(cipher.open_vault(lock, passphrase), closed, _LABEL)
    except (WrongPassphraseError, StoreError) as error:
        raise WrongPassphraseError("that is not the passphrase of this backup; nothing was changed") from error
    fields: dict[str, Any] = json.loads(opened)
    vault = fields["vault"]
    return Keys(
        fields["credentials"],
        None if vault is None else (_data(vault[0]), _data(vault[1]), _data(vault[2])),
        {chat: _data(key) for chat, key in fields["chats"].items()},
    )


def _data(text: str) -> bytes:
    return base64.b64decode(text)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
