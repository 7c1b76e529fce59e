"""Hides nothing from a thief, but keeps every rule of a ``ChatCipher``, and is quick."""

from __future__ import annotations

import hashlib
import itertools
import json

from appliance.errors import StoreError, WrongPassphraseError
from appliance.ports_privacy import Vault


class FakeChatCipher:
    """A ChatCipher. ``slow_calls`` counts what a real one takes its time for."""

    def __init__(self) -> None:
        self.slow_calls = 0
        self._numbers = itertools.count(1)

    def make_vault(self, passphrase: str, private_key: bytes | None = None) -> Vault:
        self.slow_calls += 1
        private_key = private_key or self.new_key()
        public_key = hashlib.sha256(private_key).digest()
        return Vault(b"salt", public_key, self.close(passphrase.encode(), private_key, "vault"))

    def open_vault(self, vault: Vault, passphrase: str) -> bytes:
        self.slow_calls += 1
        try:
            return self.open(passphrase.encode(), vault.wrapped_private_key, "vault")
        except StoreError as error:
            raise WrongPassphraseError("that is not the passphrase of the private chats") from error

    def new_key(self) -> bytes:
        return f"key {next(self._numbers)}".encode()

    def wrap(self, vault: Vault, key: bytes, label: str) -> bytes:
        return self.close(vault.public_key, key, label)

    def unwrap(self, private_key: bytes, wrapped: bytes, label: str) -> bytes:
        return self.open(hashlib.sha256(private_key).digest(), wrapped, label)

    def close(self, key: bytes, data: bytes, label: str) -> bytes:
        return json.dumps([next(self._numbers), key.hex(), label, data[::-1].hex()]).encode()

    def open(self, key: bytes, closed: bytes, label: str) -> bytes:
        try:
            _, by_key, by_label, data = json.loads(closed)
        except ValueError as error:
            raise StoreError(f"damaged: {label}") from error
        if (by_key, by_label) != (key.hex(), label):
            raise StoreError(f"another key or place: {label}")
        return bytes.fromhex(data)[::-1]
