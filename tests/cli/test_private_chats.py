"""``appliance chat`` and private chats, at a shell."""

from __future__ import annotations

from tests.cli.shell import Shell

PASSPHRASE = "correct horse battery"


def everything_in(shell: Shell) -> bytes:
    return b"".join(file.read_bytes() for file in shell.home.rglob("*") if file.is_file())


def test_the_first_private_chat_asks_for_a_passphrase(shell: Shell) -> None:
    ran = shell("chat", "new", "diary", "--private", stdin=f"{PASSPHRASE}\n")
    assert (ran.code, ran.out) == (0, "diary (0 turns), private\n")
    assert "nobody can find it out" in ran.err
    assert shell("chat", "new", "other", "--private").out == "other (0 turns), private\n", "only the first one asks"
    rows = [line.split()[-2:] for line in shell("chat", "list").out.splitlines()]
    assert rows == [["private,", "locked"]] * 2
    assert PASSPHRASE.encode() not in everything_in(shell)


def test_without_a_passphrase_nothing_becomes_private(shell: Shell) -> None:
    ran = shell("chat", "new", "diary", "--private")
    assert ran.code == 2 and "no new passphrase for private chats was given" in ran.err
    assert shell("chat", "passphrase", stdin="short\n").code == 2
    assert shell("chat", "list", "--json").json == []


def test_a_chat_becomes_private_and_opens_with_the_passphrase_only(shell: Shell) -> None:
    shell("ask", "--text", "who are you")
    assert b"who are you" in everything_in(shell)
    assert shell("chat", "private", "chat 1", stdin=f"{PASSPHRASE}\n").out == "chat 1 (1 turns), private\n"
    assert b"who are you" not in everything_in(shell)
    ran = shell("chat", "show", "chat 1")
    assert ran.code == 1 and "chat 1 is private and locked" in ran.err
    assert "you: who are you" in shell("chat", "show", "chat 1", "--unlock", stdin=f"{PASSPHRASE}\n").out
    ran = shell("chat", "show", "chat 1", "--unlock", stdin="something else\n")
    assert (ran.code, ran.out) == (1, "") and "not the passphrase" in ran.err
    assert shell("ask", "--text", "what time is it").code == 0
    assert [chat["name"] for chat in shell("chat", "list", "--json").json if chat["is_current"]] == ["chat 2"]
    assert shell("chat", "delete", "chat 1").out == "chat 1 is deleted\n"
    assert b"@enc1:" not in everything_in(shell)


def test_the_passphrase_is_changed_with_the_old_one(shell: Shell) -> None:
    shell("chat", "new", "diary", "--private", stdin=f"{PASSPHRASE}\n")
    ran = shell("chat", "passphrase", stdin="wrong wrong wrong\nanother good one\n")
    assert ran.code == 1 and "not the passphrase" in ran.err
    assert shell("chat", "passphrase", stdin=f"{PASSPHRASE}\nanother good one\n").code == 0
    assert shell("chat", "unlock", "diary", stdin="another good one\n").out == "diary: open\n"
    assert shell("chat", "unlock", stdin=f"{PASSPHRASE}\n").code == 1
    assert shell("chat", "lock").out == "diary: locked\n"


def test_a_chat_has_accounts_of_its_own(shell: Shell) -> None:
    shell("chat", "new", "office")
    assert shell("chat", "scope", "office", "email=work", "github=none").out == "email   work\ngithub  none\n"
    assert shell("chat", "scope", "office", "github=").out == "email  work\n"
    assert shell("chat", "scope", "office").out == "email  work\n"
    ran = shell("chat", "scope", "office", "email")
    assert ran.code == 2 and "SCOPE=ACCOUNT" in ran.err
