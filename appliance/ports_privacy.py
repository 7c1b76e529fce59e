"""The needs of private chats: a cipher; what is said in ``ports.py`` holds here too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Vault:
    """What is stored of the owner's passphrase.

    Keys of chats are wrapped for ``public_key``, without the passphrase; only that opens ``wrapped_private_key``.
    """

    salt: bytes
    public_key: bytes
    wrapped_private_key: bytes


class ChatCipher(Protocol):
    """Hides private chats. Stateless, any thread.

    A ``label`` says what is hidden and where it belongs; nothing opens under another one, so that a row of a store
    cannot be passed off as another row.
    """

    def make_vault(self, passphrase: str, private_key: bytes | None = None) -> Vault:
        """A vault for this passphrase, new or around the private key of an older one. Slow on purpose."""
        ...

    def open_vault(self, vault: Vault, passphrase: str) -> bytes:
        """Its private key. Slow on purpose. Raises ``WrongPassphraseError``."""
        ...

    def new_key(self) -> bytes:
        """A key for one chat."""
        ...

    def wrap(self, vault: Vault, key: bytes, label: str) -> bytes:
        """A chat's key, to be stored; needs no passphrase."""
        ...

    def unwrap(self, private_key: bytes, wrapped: bytes, label: str) -> bytes:
        """The chat's key again. Raises ``StoreError`` when it was changed."""
        ...

    def close(self, key: bytes, data: bytes, label: str) -> bytes:
        """``data``, hidden; another result each time."""
        ...

    def open(self, key: bytes, closed: bytes, label: str) -> bytes:
        """What was hidden. Raises ``StoreError`` when it was changed, or stands in the wrong place."""
        ...
