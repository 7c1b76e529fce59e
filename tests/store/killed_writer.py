"""Writes plugin state and a journal in a child that is killed in the middle, again and again; one JSON report.

Run as a program, so that its children are forked from a small process with no other thread. A child tells each write
that it was told is done, through a pipe; then comes SIGKILL, at a moment nobody chose. What was told must be there.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from appliance.clock import SystemClock
from appliance.contracts.sapphire.state import PluginStates
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_rows import ChatRows
from appliance.store.recovery import memory_database, open_database

CHAT = "campaign"


def main(home: Path, rounds: int) -> dict[str, Any]:
    """Kill that many writers; what was found."""
    _prepare(home)
    dice = random.Random(11)
    told_in_all, faults = 0, list[str]()
    for number in range(rounds):
        told = _killed_child(home, number, wanted=dice.randrange(1, 6), more_seconds=dice.random() * 0.003)
        told_in_all += len(told)
        faults += [f"round {number}: {fault}" for fault in _faults(home, number, told)]
    return {"told": told_in_all, "faults": faults}


def _prepare(home: Path) -> None:
    database = open_database(home / "appliance.db", SystemClock())
    chats = StoredChatLog(database, SystemClock())
    database.run(lambda connection: chats.created(connection, CHAT))
    database.close()
    # What is imported late is imported once, here, and not in every child.
    memory_database().close()


def _killed_child(home: Path, number: int, *, wanted: int, more_seconds: float) -> list[int]:
    """The numbers of the writes that a child told of before it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _write_for_ever(home, number, writing)
    os.close(writing)
    told = b""
    while len(told) < 4 * wanted:
        told += os.read(reading, 4)
    time.sleep(more_seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reading, 4096):
        told += piece
    os.close(reading)
    return [int.from_bytes(told[place : place + 4], "big") for place in range(0, len(told) - 3, 4)]


def _write_for_ever(home: Path, number: int, pipe: int) -> None:
    database = open_database(home / "appliance.db", SystemClock())
    rows = ChatRows(database, ChatKeys(), SystemClock())
    state = PluginStates(home / "plugin_state", SystemClock().now, lambda _sentence: None).of("game")
    write = 0
    while True:
        write += 1
        rows.append("game", CHAT, f"journal-{number}", [[write, "x" * 300], [write, "second"]])
        state.save("last", [number, write])
        os.write(pipe, write.to_bytes(4, "big"))


def _faults(home: Path, number: int, told: list[int]) -> list[str]:
    """What is not as it was told; reads as a fresh start does."""
    problems: list[str] = []
    database = open_database(home / "appliance.db", SystemClock())
    journal = ChatRows(database, ChatKeys(), SystemClock()).read_all("game", CHAT, f"journal-{number}")
    problems += [note.text for note in database.notes]
    database.close()
    last = PluginStates(home / "plugin_state", SystemClock().now, problems.append).of("game").get("last")
    written = [write for write, _ in journal[::2]]
    if [write for write, _ in journal] != [write for write in written for _ in range(2)]:
        problems.append(f"rows of one transaction are not together: {[write for write, _ in journal]}")
    if written[: len(told)] != told or written != list(range(1, len(written) + 1)):
        problems.append(f"told {told}, but the journal has {written}")
    if last is None or last[0] != number or last[1] < told[-1]:
        problems.append(f"told {told[-1]}, but the state has {last}")
    return problems


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
