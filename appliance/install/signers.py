"""Keys in files: the public ones of those whom the owner trusts, and the private one of an author."""

from __future__ import annotations

import base64
import binascii
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from appliance.errors import StoreError, UsageError

_KEY_BYTES = 32
_ENDING = ".pub"


class Ed25519(Protocol):
    """The signature scheme; private and public keys are their 32 raw bytes."""

    def new_key(self) -> bytes:
        """A fresh private key."""
        ...

    def public_key(self, private_key: bytes) -> bytes:
        """Its public half."""
        ...

    def sign(self, private_key: bytes, message: bytes) -> bytes:
        """The 64 bytes of the signature."""
        ...

    def is_signed_by(self, public_key: bytes, signature: bytes, message: bytes) -> bool:
        """Whether the signature is the key's; False for a key that is none."""
        ...


def known_signers(folder: Path) -> Mapping[str, bytes]:
    """Name -> public key of every ``<name>.pub`` in a folder, which may be missing.

    A file holds base64 or hexadecimal, after lines with # if it likes. Raises ``StoreError`` for one that does not.
    """
    return {file.stem: _public_key(file) for file in sorted(folder.glob(f"*{_ENDING}"))}


def new_key(key_file: Path, scheme: Ed25519) -> Path:
    """Make a private key (0600) that was not there, and its public half beside it (``.pub``), which is returned.

    Raises ``UsageError`` when there is one already, or the folder takes none.
    """
    public_file = key_file.with_suffix(_ENDING)
    private = scheme.new_key()
    if key_file == public_file:
        raise UsageError(f"{key_file} is the name of a public key; leave {_ENDING} to the half that you give away")
    _write(key_file, f"# private: keep it to yourself\n{as_text(private)}\n", 0o600)
    _write(public_file, f"{as_text(scheme.public_key(private))}\n", 0o644)
    return public_file


def private_key(key_file: Path) -> bytes:
    """The key that ``new_key`` wrote. Raises ``UsageError``."""
    try:
        if stat.S_IMODE(key_file.stat().st_mode) & 0o077:
            raise UsageError(f"others may read the private key {key_file}; first run: chmod 600 {key_file}")
        key = _read(key_file)
    except OSError as error:
        raise UsageError(f"the private key {key_file} cannot be read: {error.strerror}") from error
    if len(key) != _KEY_BYTES:
        raise UsageError(f"{key_file} holds no private key; appliance plugin sign --new-key makes one")
    return key


def as_text(raw: bytes) -> str:
    """Bytes in a file."""
    return base64.b64encode(raw).decode()


def from_text(text: str) -> bytes:
    """The bytes of base64, or of 32 bytes in hexadecimal; b"" when it is neither."""
    with_hex = text.strip()
    try:
        if len(with_hex) == 2 * _KEY_BYTES:
            return bytes.fromhex(with_hex)
        return base64.b64decode(with_hex, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _public_key(file: Path) -> bytes:
    try:
        key = _read(file)
    except OSError as error:
        raise StoreError(f"the key {file} cannot be read: {error.strerror}") from error
    if len(key) != _KEY_BYTES:
        raise StoreError(f"{file} holds no public key: 32 bytes in base64 or hexadecimal; mend it or remove it")
    return key


def _read(file: Path) -> bytes:
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return from_text(next((line for line in lines if line.strip() and not line.startswith("#")), ""))


def _write(file: Path, text: str, mode: int) -> None:
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except OSError as error:
        raise UsageError(f"{file} cannot be made: {error.strerror}") from error
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        opened.write(text)
