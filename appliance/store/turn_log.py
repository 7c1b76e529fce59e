"""How each turn went: its latencies, and exactly what a model got and answered.

Gathered in memory while the turn is on and written once at its end: this is for looking back, not worth a sync on
the path of a turn, and a power cut may cost the turn that was on.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.ports import Json
from appliance.store.canonical_json import json_text
from appliance.store.database import Connection, Database

#: Rounds are large: those of older turns go.
_TURNS_WITH_ROUNDS = 500
_TURNS_KEPT = 5000

_FORGET_ROUNDS = """
DELETE FROM rounds WHERE turn_id IN (
    SELECT turn_id FROM turn_log WHERE position >= (SELECT position FROM turn_log WHERE turn_id = ?))"""

_ROW = "turn_id, chat, origin, started_at, stages, end_reason"


@dataclass(frozen=True)
class TurnTimes:
    """One turn's latencies; ``stages`` maps a stage's name to seconds, ``started_at`` is ISO wall time."""

    turn_id: str
    chat: str
    origin: str
    started_at: str
    stages: Mapping[str, float]
    end_reason: str


@dataclass(frozen=True)
class ModelRound:
    """One request to a model and its answer, secrets masked."""

    number: int
    request: Json
    answer: Json


@dataclass(frozen=True)
class TurnStep:
    """What a watching person saw of one call: seconds since the turn began, the tool, its kind (its risk).

    A call that only read has the mark "" and no note. ``ended_seconds`` is None when the turn ended first.
    """

    started_seconds: float
    tool: str
    kind: str
    call_id: str = ""
    ended_seconds: float | None = None
    mark: str = ""
    note: str = ""


@dataclass(frozen=True)
class TurnStory:
    """Everything the store knows about how a turn went; old turns have no rounds any more."""

    times: TurnTimes
    rounds: tuple[ModelRound, ...] = ()
    steps: tuple[TurnStep, ...] = ()


class TurnLog:
    """Latency rows and model rounds. ``redact`` masks the secrets in a text before it is written.

    Of a turn in a private chat only the latencies are kept.
    ``begin``, ``stage`` and ``add_round`` return at once and never raise for a turn that was not begun.
    """

    def __init__(self, database: Database, clock: Clock, redact: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._redact = redact
        self._open: dict[str, _OpenTurn] = {}

    def begin(self, turn_id: str, chat: str, origin: str) -> None:
        """A turn began in ``chat`` ("" for none)."""
        self._open[turn_id] = _OpenTurn(chat, origin, self._clock.now().isoformat(timespec="milliseconds"))

    def stage(self, turn_id: str, name: str, seconds: float) -> None:
        """A stage of the turn took ``seconds``; the last value for a name stays."""
        if turn_id in self._open:
            self._open[turn_id].stages[name] = round(seconds, 4)

    def add_round(self, turn_id: str, request: Json, answer: Json) -> None:
        """A model was asked and answered; both are JSON values that nobody changes any more."""
        if turn_id in self._open and self._open[turn_id].keeps_rounds:
            self._open[turn_id].rounds.append((request, answer))

    def add_steps(self, turn_id: str, steps: Sequence[TurnStep]) -> None:
        """These are the steps of the turn, in the order in which they began; the last call counts."""
        if turn_id in self._open:
            self._open[turn_id].steps = tuple(steps)

    async def forget(self, turn_id: str) -> None:
        """Delete the rounds of that turn and all later ones, which repeat them; those of open turns are not kept.

        Raises ``StoreError``.
        """
        for turn in self._open.values():
            turn.rounds.clear()
            turn.keeps_rounds = False
        await self._database.arun(lambda connection: connection.execute(_FORGET_ROUNDS, (turn_id,)))
        await self._database.purge()

    async def end(self, turn_id: str, reason: str, *, chat: str = "") -> None:
        """The turn ended: write it. Raises ``StoreError``; the turn is then not logged.

        ``chat`` is the one that it turned out to belong to, when that was not known, or another, at its begin.
        """
        turn = self._open.pop(turn_id, None)
        if turn is None:
            return
        turn.chat = chat or turn.chat
        try:
            await self._database.arun(lambda connection: self._write(connection, turn_id, turn, reason))
        except ValueError as error:
            raise StoreError(f"the rounds of {turn_id} cannot be stored: {error}") from error

    async def last(self, count: int) -> list[TurnTimes]:
        """The last ``count`` ended turns, newest first. Raises ``StoreError``."""
        query = f"SELECT {_ROW} FROM turn_log ORDER BY position DESC LIMIT ?"
        rows = await self._database.arun(lambda connection: connection.execute(query, (count,)).fetchall())
        return [_times(row) for row in rows]

    async def show(self, turn_id: str) -> TurnStory | None:
        """How that turn went; None when it is not known. Raises ``StoreError``."""

        def work(connection: Connection) -> tuple[Any, list[Any]]:
            row = connection.execute(f"SELECT {_ROW}, steps FROM turn_log WHERE turn_id = ?", (turn_id,)).fetchone()
            query = "SELECT number, request, answer FROM rounds WHERE turn_id = ? ORDER BY number"
            return row, connection.execute(query, (turn_id,)).fetchall()

        row, rounds = await self._database.arun(work)
        if row is None:
            return None
        steps = tuple(TurnStep(**step) for step in json.loads(row[-1]))
        return TurnStory(
            _times(row[:-1]), tuple(ModelRound(n, json.loads(q), json.loads(a)) for n, q, a in rounds), steps
        )

    def _write(self, connection: Connection, turn_id: str, turn: _OpenTurn, reason: str) -> None:
        chat = connection.execute("SELECT is_private FROM chats WHERE id = ?", (turn.chat,)).fetchone()
        if turn.chat and chat is None:
            return  # The chat was deleted while the turn was on: it leaves nothing.
        is_private = chat is not None and chat[0]
        steps = [dataclasses.asdict(step) for step in (() if is_private else turn.steps)]
        statement = f"INSERT INTO turn_log ({_ROW}, steps) VALUES (?, ?, ?, ?, ?, ?, ?)"
        values = (turn_id, turn.chat or None, turn.origin, turn.started_at, json_text(turn.stages), reason)
        connection.execute(statement, (*values, self._redact(json_text(steps))))
        for number, (request, answer) in enumerate(() if is_private else turn.rounds, start=1):
            texts = (self._redact(json_text(request)), self._redact(json_text(answer)))
            connection.execute("INSERT INTO rounds VALUES (?, ?, ?, ?)", (turn_id, number, *texts))
        _prune(connection)


@dataclass
class _OpenTurn:
    """A turn that is on."""

    chat: str
    origin: str
    started_at: str
    stages: dict[str, float] = field(default_factory=dict)
    rounds: list[tuple[Json, Json]] = field(default_factory=list)
    steps: tuple[TurnStep, ...] = ()
    keeps_rounds: bool = True


def _times(row: Any) -> TurnTimes:
    turn_id, chat, origin, started_at, stages, end_reason = row
    return TurnTimes(turn_id, chat or "", origin, started_at, json.loads(stages), end_reason)


def _prune(connection: Connection) -> None:
    newest = "SELECT turn_id FROM turn_log ORDER BY position DESC LIMIT ?"
    connection.execute(f"DELETE FROM rounds WHERE turn_id NOT IN ({newest})", (_TURNS_WITH_ROUNDS,))
    connection.execute(f"DELETE FROM turn_log WHERE turn_id NOT IN ({newest})", (_TURNS_KEPT,))
