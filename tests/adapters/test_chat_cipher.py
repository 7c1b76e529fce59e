"""What hides private chats, real and fake."""

from __future__ import annotations

import pytest

from appliance.adapters.chat_cipher import AesChatCipher
from appliance.adapters.fakes.chat_cipher import FakeChatCipher
from appliance.errors import StoreError, WrongPassphraseError
from appliance.ports_privacy import ChatCipher

WORDS = b"what nobody else may read"


@pytest.fixture(params=["real", "fake"])
def cipher(request: pytest.FixtureRequest) -> ChatCipher:
    return AesChatCipher() if request.param == "real" else FakeChatCipher()


def test_words_come_back_under_their_key_and_in_their_place(cipher: ChatCipher) -> None:
    key = cipher.new_key()
    closed = cipher.close(key, WORDS, "turns 1 reply")
    assert WORDS not in closed and cipher.open(key, closed, "turns 1 reply") == WORDS
    assert cipher.close(key, WORDS, "turns 1 reply") != closed, "the same words do not look the same"
    for wrong_key, wrong_label in ((cipher.new_key(), "turns 1 reply"), (key, "turns 2 reply")):
        with pytest.raises(StoreError):
            cipher.open(wrong_key, closed, wrong_label)


def test_a_key_is_wrapped_without_the_passphrase_and_opened_with_it(cipher: ChatCipher) -> None:
    vault, key = cipher.make_vault("correct horse battery"), cipher.new_key()
    wrapped = cipher.wrap(vault, key, "chat-1")
    assert key not in wrapped
    private_key = cipher.open_vault(vault, "correct horse battery")
    assert cipher.unwrap(private_key, wrapped, "chat-1") == key
    with pytest.raises(StoreError):
        cipher.unwrap(private_key, wrapped, "chat-2")
    with pytest.raises(WrongPassphraseError):
        cipher.open_vault(vault, "correct horse battery ")


def test_a_new_passphrase_opens_what_was_wrapped_under_the_old_one(cipher: ChatCipher) -> None:
    vault, key = cipher.make_vault("the old passphrase"), cipher.new_key()
    wrapped = cipher.wrap(vault, key, "chat-1")
    changed = cipher.make_vault("the new passphrase", cipher.open_vault(vault, "the old passphrase"))
    assert changed.public_key == vault.public_key
    assert cipher.unwrap(cipher.open_vault(changed, "the new passphrase"), wrapped, "chat-1") == key
    with pytest.raises(WrongPassphraseError):
        cipher.open_vault(changed, "the old passphrase")


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 60])
def test_rubbish_is_a_sentence(cipher: ChatCipher, damage: bytes) -> None:
    with pytest.raises(StoreError):
        cipher.open(cipher.new_key(), damage, "here")
    with pytest.raises(StoreError):
        cipher.unwrap(cipher.new_key(), damage, "here")


def test_one_changed_bit_is_noticed() -> None:
    cipher = AesChatCipher()
    key = cipher.new_key()
    closed = bytearray(cipher.close(key, WORDS, "here"))
    for place in (0, 20, len(closed) - 1):
        closed[place] ^= 1
        with pytest.raises(StoreError, match="changed or is damaged"):
            cipher.open(key, bytes(closed), "here")
        closed[place] ^= 1
