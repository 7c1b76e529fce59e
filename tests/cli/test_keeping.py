"""``appliance backup``, ``restore`` and ``reset`` as their owner meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Shell

PASSPHRASE = "four words make one"
CANARY = "sk-canary-5550123"


@pytest.fixture
def owned(shell: Shell) -> Shell:
    """A shell whose home has a chat, a secret and a setting of a device that is not here."""
    assert shell("chat", "new", "garden").code == 0
    assert shell("credential", "set", "OPENAI_API_KEY", stdin=CANARY).code == 0
    shell.write("config.toml", '[face]\nbackends = ["serial"]\nserial_port = "/dev/serial/by-id/usb-of-the-old-box"\n')
    return shell


def chats(shell: Shell) -> list[str]:
    return [chat["name"] for chat in shell("chat", "list", "--json").json]


def test_a_home_comes_back_as_it_was_and_what_does_not_fit_this_machine_is_told(owned: Shell, tmp_path: Path) -> None:
    file = tmp_path / "box.tar"
    done = owned("backup", file, "--json")
    assert (done.code, done.json["file"], done.json["has_keys"]) == (0, str(file), False)
    before = chats(owned)
    owned("chat", "delete", "garden")
    assert chats(owned) != before
    restored = owned("restore", file, "--yes", "--json")
    assert restored.code == 0, restored.err
    assert "usb-of-the-old-box is not here" in restored.json["devices"][0]
    assert restored.json["credentials"] is True, "those of the home that was there"
    assert chats(owned) == before
    assert Path(restored.json["old_home"]).is_dir()
    purged = owned("restore", "--purge-old", "--json")
    assert purged.json == {"removed": [restored.json["old_home"]]}


def test_nobody_is_there_to_ask_so_nothing_is_replaced(owned: Shell, tmp_path: Path) -> None:
    file = tmp_path / "box.tar"
    assert owned("backup", file).code == 0
    for words in (("backup", file), ("restore", file), ("reset",)):
        refused = owned(*words)
        assert refused.code == 3, words
        assert "nothing was changed" in refused.err
    assert owned("backup", file, "--yes").code == 0


def test_keys_need_a_passphrase_and_are_back_with_it(owned: Shell, tmp_path: Path) -> None:
    file, words = tmp_path / "box.tar", tmp_path / "words"
    words.write_text(f"{PASSPHRASE}\n")
    assert owned("backup", file, "--with-keys").code == 2
    assert owned("backup", file, "--with-keys", "--passphrase-file", words).code == 0
    assert CANARY.encode() not in file.read_bytes()
    assert owned("reset", "--yes").code == 0
    assert not file.exists(), "a backup that was made here goes too"


def test_a_backup_goes_over_to_another_home_with_its_keys(owned: Shell, tmp_path: Path) -> None:
    file = tmp_path / "box.tar"
    owned.set_variable("APPLIANCE_BACKUP_PASSPHRASE", PASSPHRASE)
    assert owned("backup", file, "--with-keys").code == 0
    owned.set_variable("APPLIANCE_HOME", str(tmp_path / "card"))
    owned.set_variable("APPLIANCE_BACKUP_PASSPHRASE", "the wrong words")
    wrong = owned("restore", file, "--yes")
    assert (wrong.code, "not the passphrase of this backup" in wrong.err) == (1, True)
    owned.set_variable("APPLIANCE_BACKUP_PASSPHRASE", PASSPHRASE)
    assert owned("restore", file, "--yes").code == 0
    assert "garden" in chats(owned)
    assert "OPENAI_API_KEY" in owned("credential", "list").out


def test_a_look_changes_nothing(owned: Shell, tmp_path: Path) -> None:
    file = tmp_path / "box.tar"
    owned("backup", file)
    looked = owned("restore", file, "--dry-run", "--json")
    assert (looked.code, looked.json["members"] > 2) == (0, True)
    assert not list(tmp_path.glob("home.*"))
    assert owned("restore", tmp_path / "words", "--dry-run").code == 1


def test_after_a_reset_the_box_is_as_new(owned: Shell) -> None:
    done = owned("reset", "--yes")
    assert (done.code, "Nothing of yours" in done.out) == (0, True)
    assert "garden" not in chats(owned)
    assert "OPENAI_API_KEY" not in owned("credential", "list").out
