"""How cost grows: ten and a hundred times the tools, the messages of a chat, the hosts of a network.

Each job is done several times and its best processor time counts: what else the machine does is not ours. A ratio of
10 for ten times as much is linear; what is done in each turn must hardly grow at all.
"""

from __future__ import annotations

import asyncio
import importlib
import ipaddress
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from appliance.clock import SystemClock
from appliance.home import shipped
from appliance.ports_think import SentenceFile
from appliance.store.chat_log import StoredChatLog
from appliance.store.database import Connection, Database
from appliance.store.recovery import open_database
from appliance.think.conversation import Conversation
from appliance.think.sentences import Sentences
from appliance.tools.registry import Registry
from appliance.tools.tool import Tool
from appliance.wiring_growth import many_tools, sentence_matcher

TOOLS, MESSAGES, HOSTS = (10, 100, 1_000), (100, 10_000, 100_000), (30, 300, 1_000)

_TIMES = 5
_TOOLS_OF_A_PLUGIN = 10
#: As many as a model gets, and as the command line shows.
_HISTORY_TURNS, _SHOWN_TURNS = 20, 1_000
_QUESTION = "tell me something nice about the weather in lisbon"
_INSERT = """
INSERT INTO turns (turn_id, chat, topic, user_text, reply_text, heard_text, did, items, at)
VALUES (?, ?, 0, ?, ?, ?, '[]', '[]', '2026-01-01T00:00:00+00:00')"""
_REPLY = "It is about eighteen degrees outside, and it will stay dry until the evening."


@dataclass(frozen=True)
class GrowthRow:
    """A job for each of ``counts``. ``is_in_turn``: a person waits for it each time."""

    job: str
    counts: tuple[int, ...]
    milliseconds: tuple[float, ...]
    is_in_turn: bool

    @property
    def ratios(self) -> tuple[float, ...]:
        """Cost of each step against the one before."""
        return tuple(
            more / max(less, 1e-3) for less, more in zip(self.milliseconds, self.milliseconds[1:], strict=False)
        )


@dataclass(frozen=True)
class _Cost:
    job: str
    milliseconds: float
    is_in_turn: bool = True


def measure(
    tools: Sequence[int] = TOOLS, messages: Sequence[int] = MESSAGES, hosts: Sequence[int] = HOSTS
) -> list[GrowthRow]:
    """Every job for every count; takes about a minute."""
    return [*_rows(tools, _with_tools), *_rows(messages, _with_messages), *_rows(hosts, _with_hosts)]


def _rows(counts: Sequence[int], work: Callable[[int], list[_Cost]]) -> list[GrowthRow]:
    """One row for each job that ``work`` does with each count."""
    steps = zip(*(work(count) for count in counts), strict=True)
    return [
        GrowthRow(costs[0].job, tuple(counts), tuple(cost.milliseconds for cost in costs), costs[0].is_in_turn)
        for costs in steps
    ]


def _best_ms(work: Callable[[], object]) -> float:
    """Processor time of all threads."""
    best = float("inf")
    for _ in range(_TIMES):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return 1e3 * best


# ---------------------------------------------------------------------------------------- tools


def _with_tools(count: int) -> list[_Cost]:
    tools = many_tools(count)
    registry = _registry(tools)
    selection = registry.select()
    with tempfile.TemporaryDirectory() as folder:
        files = _sentence_files(count, Path(folder))
        matcher = sentence_matcher()
        matcher.load()
        reading = _best_ms(lambda: matcher.use(files))
        sentences = Sentences(matcher)
        sentences.match(_QUESTION)
        matching = _best_ms(lambda: sentences.match(_QUESTION))
    return [
        _Cost("tools: all added at the start", _best_ms(lambda: _registry(tools)), is_in_turn=False),
        _Cost("tools: their sentences read at the start", reading, is_in_turn=False),
        _Cost("tools: selected for a turn", _best_ms(registry.select)),
        _Cost("tools: written into a request", _best_ms(lambda: json.dumps(selection.schemas))),
        _Cost("tools: one found by its name", _best_ms(lambda: selection.find(tools[-1].name))),
        _Cost("tools: a sentence matched without a model", matching),
    ]


def _registry(tools: Sequence[Tool]) -> Registry:
    registry = Registry()
    for tool in tools:
        registry.add(tool)
    return registry


def _sentence_files(count: int, folder: Path) -> list[SentenceFile]:
    """Two sentences for each tool, in a file for each plugin."""
    files = []
    for plugin in range(-(-count // _TOOLS_OF_A_PLUGIN)):
        names = [f"p{plugin}_tool{number}" for number in range(_TOOLS_OF_A_PLUGIN)]
        text = "language: en\nintents:\n" + "".join(
            f"  {name}:\n    data:\n      - sentences:\n"
            f'          - "(turn|switch) on gadget{plugin} part{number} [please]"\n'
            f'          - "what does gadget{plugin} say about part{number}"\n'
            for number, name in enumerate(names)
        )
        file = folder / f"p{plugin}.yaml"
        file.write_text(text, encoding="utf-8")
        files.append(SentenceFile(f"p{plugin}", file, frozenset(names)))
    return files


# ----------------------------------------------------------------------------------------- chat


def _with_messages(count: int) -> list[_Cost]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chat.db"
        costs = asyncio.run(_chat_costs(file, count))
        return [*costs, _Cost("chat: the store opened at the start", _best_ms(lambda: _open(file).close()), False)]


async def _chat_costs(file: Path, count: int) -> list[_Cost]:
    database = _open(file)
    chats = StoredChatLog(database, SystemClock())
    chat = await chats.current()
    await database.arun(partial(_fill, chat=chat, count=count))
    conversation = Conversation(history_turns=_HISTORY_TURNS)

    async def history() -> None:
        conversation.items(await chats.turns(chat, _HISTORY_TURNS))

    async def shown() -> None:
        await chats.everything(chat, _SHOWN_TURNS)

    costs = [
        _Cost("chat: what a model gets of it", await _best_ms_of(history)),
        _Cost("chat: all chats listed", await _best_ms_of(chats.chats), False),
        _Cost("chat: the last thousand turns shown", await _best_ms_of(shown), False),
    ]
    await chats.new_topic(chat)
    costs.append(_Cost("chat: the same behind a new topic", await _best_ms_of(history)))
    database.close()
    return costs


def _open(file: Path) -> Database:
    return open_database(file, SystemClock())


def _fill(connection: Connection, *, chat: str, count: int) -> None:
    for number in range(count):
        connection.execute(_INSERT, (f"turn-{number}", chat, f"What is it like outside, {number}?", _REPLY, _REPLY))


async def _best_ms_of(work: Callable[[], Awaitable[object]]) -> float:
    best = float("inf")
    for _ in range(_TIMES):
        began = time.process_time()
        await work()
        best = min(best, time.process_time() - began)
    return 1e3 * best


# -------------------------------------------------------------------------------------- network


def _with_hosts(count: int) -> list[_Cost]:
    gear = _Gear()
    sightings, house = gear.town(count), gear.house()
    rules = gear.rules.shipped_rules()
    work = partial(gear.merge.things_of, sightings, house, lambda _address: "lan", rules)
    return [_Cost("network: hosts made of what was seen of them", _best_ms(work), is_in_turn=False)]


class _Gear:
    """The shipped plugin that knows the house's network; plugins are not part of the package."""

    def __init__(self) -> None:
        above = str(shipped("plugins").parent)
        if above not in sys.path:
            sys.path.append(above)
        self.merge, self.rules, self._house, self._thing = (
            importlib.import_module(f"plugins.lan_gear.gear.{name}") for name in ("merge", "rules", "house", "thing")
        )

    def house(self) -> Any:
        """One whose network holds all of the town."""
        return self._house.House(own=frozenset({"192.168.0.2"}), networks=(ipaddress.ip_network("192.168.0.0/20"),))

    def town(self, hosts: int) -> list[Any]:
        """So many hosts, each with an announcement, a neighbour entry, a page and a second service of its name."""
        found: list[Any] = []
        see = self._thing.Sighting
        for number in range(hosts):
            address = str(ipaddress.ip_address("192.168.0.10") + number)
            name = f"device-{number}.local"
            mac = f"00:00:5e:{number >> 8:02x}:53:{number & 255:02x}"
            page = {"title": ("Some page of a thing",), "port": ("80",)}
            found += [
                see("mdns", (address,), host_name=name, name=f"Printer {number}", announced=("_ipp._tcp",)),
                see("neighbour", (address,), mac=mac),
                see("page", (address,), facts=page),
                see("mdns", (address,), host_name=name, name="Web server", announced=("_http._tcp",)),
            ]
        return found
