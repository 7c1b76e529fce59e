"""Private chats, hidden with the ``cryptography`` library.

- Words: AES-256-GCM under the chat's own key, a random 96-bit nonce in front. It authenticates what it hides together
  with the label of its place, which Fernet cannot; 28 bytes are added, nothing is padded.
- A chat's key: an X25519 exchange of a throw-away key with the vault's public key, HKDF-SHA256, AES-256-GCM. So a
  private chat can begin at any time, also by voice after a restart, when nobody has typed the passphrase.
- The vault's private key: AES-256-GCM under scrypt of the passphrase.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from appliance.errors import StoreError, WrongPassphraseError
from appliance.ports_privacy import Vault

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

_KEY_BYTES = 32
_NONCE_BYTES = 12
_PUBLIC_KEY_BYTES = 32
_SALT_BYTES = 16
#: 32 MiB and some tenths of a second on a small board for each guess; OWASP's smallest choice for r = 8, p = 1 is 2^17
#: with 128 MiB, which a board with 1 GiB cannot spare beside its models.
_SCRYPT_COST = 2**15
_VAULT_LABEL = "vault"


class AesChatCipher:
    """``ChatCipher``."""

    def make_vault(self, passphrase: str, private_key: bytes | None = None) -> Vault:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        opener = X25519PrivateKey.from_private_bytes(private_key) if private_key else X25519PrivateKey.generate()
        salt = secrets.token_bytes(_SALT_BYTES)
        wrapped = self.close(_from_passphrase(passphrase, salt), opener.private_bytes_raw(), _VAULT_LABEL)
        return Vault(salt, opener.public_key().public_bytes_raw(), wrapped)

    def open_vault(self, vault: Vault, passphrase: str) -> bytes:
        try:
            return self.open(_from_passphrase(passphrase, vault.salt), vault.wrapped_private_key, _VAULT_LABEL)
        except StoreError as error:
            raise WrongPassphraseError("that is not the passphrase of the private chats") from error

    def new_key(self) -> bytes:
        return secrets.token_bytes(_KEY_BYTES)

    def wrap(self, vault: Vault, key: bytes, label: str) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

        once = X25519PrivateKey.generate()
        public_key = once.public_key().public_bytes_raw()
        shared = _exchanged(once, X25519PublicKey.from_public_bytes(vault.public_key), public_key)
        return public_key + self.close(shared, key, label)

    def unwrap(self, private_key: bytes, wrapped: bytes, label: str) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

        public_key, closed = wrapped[:_PUBLIC_KEY_BYTES], wrapped[_PUBLIC_KEY_BYTES:]
        try:
            theirs = X25519PublicKey.from_public_bytes(public_key)
            shared = _exchanged(X25519PrivateKey.from_private_bytes(private_key), theirs, public_key)
        except ValueError as error:
            raise _damaged(label) from error
        return self.open(shared, closed, label)

    def close(self, key: bytes, data: bytes, label: str) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(key).encrypt(nonce, data, label.encode())

    def open(self, key: bytes, closed: bytes, label: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(key).decrypt(closed[:_NONCE_BYTES], closed[_NONCE_BYTES:], label.encode())
        except (InvalidTag, ValueError) as error:
            raise _damaged(label) from error


def _from_passphrase(passphrase: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=_KEY_BYTES, n=_SCRYPT_COST, r=8, p=1).derive(passphrase.encode())


def _exchanged(ours: X25519PrivateKey, theirs: X25519PublicKey, once: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length=_KEY_BYTES, salt=once, info=b"key of a private chat").derive(ours.exchange(theirs))


def _damaged(label: str) -> StoreError:
    return StoreError(f"a part of a private chat was changed or is damaged, and cannot be read ({label})")
