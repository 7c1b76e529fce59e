"""A home that somebody has lived in, with words and secrets that must be found, or must not be."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from appliance.adapters.fakes.chat_cipher import FakeChatCipher
from appliance.clock import FakeClock
from appliance.config_file import set_values
from appliance.contracts.sapphire.state import PluginStates
from appliance.contracts.switch import PluginSwitch
from appliance.home import Home
from appliance.ports_privacy import ChatCipher
from appliance.records import Records, open_records
from appliance.store.audit_log import AuditEntry, AuditKind
from appliance.store.credentials import Credentials
from appliance.store.plugin_pins import PluginPin, PluginPins
from appliance.store.shapes import TurnRecord

SAID = "said-to-the-box-only"
HIDDEN = "said-in-the-private-chat"
SECRET = "sk-canary-5550123"
STATE = "kept-by-the-plugin"
CONFIGURED = "place-of-the-owner"
#: Every word of the owner that stands somewhere in the home in clear text.
MARKS = (SAID, SECRET, STATE, CONFIGURED, "plugin-of-the-owner", "soul-of-the-owner")
CHAT_PASSPHRASE = "correct horse battery"
CIPHER: ChatCipher = FakeChatCipher()


async def live_in(home: Home) -> None:
    """Leave something of everything in this home."""
    home.make()
    credentials = Credentials(home.folder / "credentials.json", {}, FakeClock())
    credentials.set("OPENAI_API_KEY", SECRET)
    async with open_records(home, FakeClock(), credentials, CIPHER) as records:
        await talk(records, "open", SAID)
        await records.vault.set_passphrase(CHAT_PASSPHRASE)
        private = await records.vault.begin("hidden")
        await records.chats.append(private.chat, turn("hidden-1", HIDDEN))
        await records.audit.begin()
        await records.audit.write(AuditEntry(AuditKind.INTENT, tool="door"))
    set_values(home.config_file, "box", {"place": CONFIGURED})
    PluginSwitch(home.switch_file).set("lamp", True)
    states = PluginStates(home.plugin_state_folder, FakeClock().now, lambda _sentence: None)
    states.of("lamp").save("level", STATE)
    states.close()
    _write(home.plugins_folder / "lamp" / "plugin.json", json.dumps({"name": "plugin-of-the-owner"}))
    _write(home.plugins_folder / "lamp" / "__pycache__" / "lamp.pyc", "made again")
    PluginPins(home.pins_file).put(PluginPin("lamp", "sapphire", "1", "lamp", "here", "f" * 64, python="2.7"))
    _write(home.soul_file, "soul-of-the-owner")
    _write(home.models_folder / "voice.onnx", "weights")
    _write(home.cache_folder / "lines" / "hello.wav", "cached")


async def talk(records: Records, chat: str, words: str) -> None:
    """One turn in a public chat."""
    info = await records.chats.create(chat)
    await records.chats.append(info.chat, turn(f"{chat}-1", words))


def turn(turn_id: str, words: str) -> TurnRecord:
    """Something that was said and answered."""
    return TurnRecord(turn_id, words, "yes", "yes", ())


def bytes_of(folder: Path) -> bytes:
    """Everything that stands in any file below, as it is on the disk; the lock only says who is at work."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != "lock")
    return b"\n".join(file.read_bytes() for file in files)


def wrapped_key(home: Home) -> bytes:
    """The key of the private chat, as it is stored."""
    with closing(sqlite3.connect(home.database_file)) as store:
        return bytes(store.execute("SELECT wrapped_key FROM chats WHERE is_private").fetchone()[0])


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
