"""Ed25519 of the ``cryptography`` library; meets ``install.signers.Ed25519``."""

from __future__ import annotations


class LibraryEd25519:
    """Keys are their raw bytes. Any thread."""

    def new_key(self) -> bytes:
        """A fresh private key."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.generate().private_bytes_raw()

    def public_key(self, private_key: bytes) -> bytes:
        """Its public half."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()

    def sign(self, private_key: bytes, message: bytes) -> bytes:
        """The 64 bytes of the signature."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(private_key).sign(message)

    def is_signed_by(self, public_key: bytes, signature: bytes, message: bytes) -> bool:
        """Whether the signature is the key's; False for a key that is none."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True
