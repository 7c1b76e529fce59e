"""Why the last answer took so long: told from the times of that turn, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from appliance.catalogue import Catalogue
from appliance.device.box_tool import Arguments, BoxTool
from appliance.device.controls import BoxHealth
from appliance.store.turn_log import TurnTimes
from appliance.tools.tool import CallContext

#: Turns that are looked at for one in which somebody was answered.
_TURNS = 20
#: Nobody calls this slow.
_QUICK_SECONDS = 1.5
#: Shares of a wait that are not worth a word.
_SMALL_SECONDS = 0.3
#: Turns that nobody waited for.
_NOBODY_WAITED = ("nothing_heard", "stopped", "barged_in")


class Times(Protocol):
    """The times of turns (``TurnLog``)."""

    async def last(self, count: int) -> list[TurnTimes]:
        """The last ``count`` ended turns, newest first. Raises ``StoreError``."""
        ...


@dataclass(frozen=True)
class Wait:
    """Where the time of a turn went, in seconds, from the last word of the question to the first of the answer."""

    hearing: float = 0.0
    thinking: float = 0.0
    asking: float = 0.0
    working: float = 0.0

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.hearing + self.thinking + self.asking + self.working

    @classmethod
    def of(cls, turn: TurnTimes) -> Wait | None:
        """None for a turn without an answer."""
        stages = turn.stages
        begin = stages.get("speech_ended", 0.0)
        heard = stages.get("transcribed", begin)
        answered = stages.get("first_reply_sound", stages.get("ended"))
        if answered is None or answered < begin:
            return None
        asking = _between(stages.get("asked"), stages.get("decided"))
        working = _between(stages.get("first_tool"), stages.get("first_tool_done"))
        hearing = _between(begin, heard)
        return cls(hearing, max(0.0, answered - begin - hearing - asking - working), asking, working)


def slow_tools(times: Times, health: BoxHealth, catalogue: Catalogue) -> list[BoxTool]:
    """``box_slow``."""
    return [
        BoxTool(
            name="box_slow",
            description="Why this box's last answer took as long as it did, from its own record of times.",
            work=_SlowTeller(times, health, catalogue).tell,
            catalogue=catalogue,
        )
    ]


class _SlowTeller:
    def __init__(self, times: Times, health: BoxHealth, catalogue: Catalogue) -> None:
        self._times = times
        self._health = health
        self._catalogue = catalogue

    async def tell(self, arguments: Arguments, context: CallContext) -> str:
        """How long it was, and what took the most of it. The turn that asks is not over, so it is not the last."""
        turn = _answered(await self._times.last(_TURNS))
        wait = Wait.of(turn) if turn is not None else None
        if turn is None or wait is None:
            return self._catalogue.say("slow.nothing")
        if turn.end_reason in ("failed", "timed_out"):
            return self._catalogue.say(f"slow.{turn.end_reason}", wait=self._long(wait.seconds))
        if wait.seconds < _QUICK_SECONDS:
            return self._catalogue.say("slow.quick", wait=self._long(wait.seconds))
        took = self._catalogue.say("slow.took", wait=self._long(wait.seconds))
        parts = [(wait.hearing, "hearing"), (wait.thinking, self._thinking()), *self._beyond(wait)]
        parts = sorted((part for part in parts if part[0] >= _SMALL_SECONDS), reverse=True)
        sentences = [self._catalogue.say(f"slow.{name}", wait=self._long(seconds)) for seconds, name in parts]
        return " ".join([took, *sentences[:2]])

    def _thinking(self) -> str:
        if not self._health.model:
            return "own"
        return "model_away" if self._health.is_model_away else "model"

    @staticmethod
    def _beyond(wait: Wait) -> list[tuple[float, str]]:
        return [(wait.asking, "asking"), (wait.working, "working")]

    def _long(self, seconds: float) -> str:
        if seconds < 0.75:
            return self._catalogue.say("slow.half")
        count = round(seconds)
        return self._catalogue.say("slow.one" if count == 1 else "slow.many", count=count)


def _answered(turns: Sequence[TurnTimes]) -> TurnTimes | None:
    """The last one that somebody waited for."""
    return next(
        (turn for turn in turns if turn.origin != "alert" and turn.end_reason not in _NOBODY_WAITED),
        None,
    )


def _between(start: float | None, end: float | None) -> float:
    return max(0.0, end - start) if start is not None and end is not None else 0.0
