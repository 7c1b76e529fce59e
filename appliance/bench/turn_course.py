"""The course of the benchmark of turns: who takes which turn when.

For every clip all systems take a turn, one behind the other in shuffled order, so that a busy machine slows all.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from appliance.bench.stub_model import AT_ONCE, QUICK, REPLIES, SLOW, Pace, StubModel
from appliance.bench.turn_clips import CLEAN, TurnClip
from appliance.bench.turn_system import System, Turn
from appliance.bench.turn_worker import BOX, SEQUENTIAL, Floor
from appliance.errors import ApplianceError

AGAIN = "box, again"
#: Between two turns, so that the one system is quiet before the other begins.
_REST_SECONDS = 0.3
_WARM_UP_TURNS = 2


@dataclass(frozen=True)
class Plan:
    """``passes`` over all clips with the quick model; with the two other ones, one over the clean clips each."""

    clips: Sequence[TurnClip]
    passes: int
    has_other_paces: bool = True


@dataclass
class Course:
    """Everything that was measured."""

    turns: list[Turn] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)

    def of(self, system: str, pace: str = QUICK.name, noise: str = CLEAN) -> list[Turn]:
        """The turns of one system under one condition."""
        wanted = (system, pace, noise)
        return [turn for turn in self.turns if (turn.system, turn.pace, turn.clip.noise) == wanted]


class Conductor:
    """Has ``systems`` take their turns; ``tell`` hears of each."""

    def __init__(
        self,
        systems: Mapping[str, System],
        model: StubModel,
        tell: Callable[[Turn], None] = lambda _turn: None,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        self.course = Course()
        self._systems = systems
        self._model = model
        self._tell = tell
        self._rest = rest
        self._order = random.Random(1)

    def conduct(self, plan: Plan) -> Course:
        """The whole plan. Raises ``ApplianceError`` when a system breaks down."""
        self._model.pace = QUICK
        for name in self._systems:
            for clip in plan.clips[:_WARM_UP_TURNS]:
                self._take(name, clip, 0)
            self._check(self.course.turns[-_WARM_UP_TURNS:])
        self.course.turns.clear()
        for number in range(1, plan.passes + 1):
            names = [*self._systems, *([AGAIN] if number == 1 else [])]
            self._pass(number, plan.clips, names)
        clean = [clip for clip in plan.clips if clip.noise == CLEAN]
        if plan.has_other_paces:
            self._other_pace(AT_ONCE, clean)
            self._other_pace(SLOW, clean)
        return self.course

    def _check(self, turns: Sequence[Turn]) -> None:
        """A system that answers nobody is not slow but broken."""
        if all(turn.taken.first_milliseconds is None for turn in turns):
            why = "; ".join(dict.fromkeys(turn.taken.problem or f"heard {turn.taken.heard!r}" for turn in turns))
            raise ApplianceError(f"the system {turns[0].system!r} of the benchmark answers nobody: {why}")

    def _other_pace(self, pace: Pace, clips: Sequence[TurnClip]) -> None:
        self._model.pace = pace
        self._pass(1, clips, [name for name in (BOX, SEQUENTIAL) if name in self._systems])

    def _pass(self, number: int, clips: Sequence[TurnClip], names: Sequence[str]) -> None:
        for clip in self._order.sample(clips, len(clips)):
            self._model.reply = self._order.choice(REPLIES)
            for name in self._order.sample(names, len(names)):
                self._take(name, clip, number)
            if self._model.pace == AT_ONCE:
                self.course.floors.append(self._systems[BOX].take_floor())

    def _take(self, name: str, clip: TurnClip, number: int) -> None:
        system = self._systems[BOX if name == AGAIN else name]
        self._rest(_REST_SECONDS)
        before, self._model.requests = system.cost(), 0
        taken = system.take_turn(clip)
        self._rest(_REST_SECONDS)
        after = system.cost()
        turn = Turn(
            name,
            clip,
            self._model.pace.name,
            number,
            taken,
            after.cpu_seconds - before.cpu_seconds,
            after.rss_megabytes,
            self._model.requests,
        )
        self.course.turns.append(turn)
        self._tell(turn)
