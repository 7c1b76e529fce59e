"""A finger on a switch with real contacts: what the button machine sees of it, edge by edge and sample by sample."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

from appliance.approve.button import ButtonMachine
from appliance.approve.button_rules import ButtonDecision, ButtonRules

D = TypeVar("D", bound=object)

SAMPLE_SECONDS = 0.02

#: How contacts bounced when they closed, in milliseconds of closed and open by turns; the last one stays.
#: A good key, a worn one, and one that needs 81 ms to come to rest.
BOUNCES: dict[str, Sequence[float]] = {
    "none": (),
    "good": (0.4, 0.3, 0.2, 0.5),
    "worn": (1.1, 2.3, 0.3, 4.0, 2.2, 1.6, 6.5, 0.8, 0.2, 3.3),
    "bad": (3.0, 7.0, 5.0, 11.0, 2.0, 9.0, 8.0, 6.0, 4.0, 12.0, 9.0, 5.0),
}


class Finger:
    """Moves a machine through time. ``decided`` is everything that it decided."""

    def __init__(self, rules: ButtonRules | None = None, *, at: float = 100.0) -> None:
        self.machine = ButtonMachine(rules)
        self.now = at
        self.level = False
        self.decided: list[ButtonDecision] = []
        #: Edges are lost, or nothing can be read at all.
        self.loses_edges = False
        self.is_blind = False
        self._next_sample = at
        self.wait(0.5)

    # ------------------------------------------------------------------------------------------------- time

    def wait(self, seconds: float) -> None:
        """Let time pass: a sample and a tick every 20 ms."""
        end = self.now + seconds
        while self._next_sample <= end + 1e-9:
            self.now = max(self.now, self._next_sample)
            self._next_sample += SAMPLE_SECONDS
            if not self.is_blind:
                self.sampled()
                self._take(self.machine.sample(self.level, self.now))
            self._take(self.machine.tick(self.now))
        self.now = max(self.now, end)

    def wait_until(self, at: float) -> None:
        """The same, to a moment."""
        self.wait(max(0.0, at - self.now))

    # ---------------------------------------------------------------------------------------------- contact

    def down(self, bounce: str = "none") -> None:
        """The contact closes."""
        self._move(True, BOUNCES[bounce])

    def up(self, bounce: str = "none") -> None:
        """The contact opens."""
        self._move(False, BOUNCES[bounce])

    def press(self, seconds: float = 0.15, bounce: str = "none") -> None:
        """Down, and up ``seconds`` later; then long enough for the release to be believed."""
        began = self.now
        self.down(bounce)
        self.wait_until(began + seconds)
        self.up(bounce)
        self.wait(0.06)

    def rest(self) -> None:
        """Long enough behind a press for it to approve."""
        self.wait(0.75)

    def set(self, level: bool) -> None:
        """One raw change."""
        if level != self.level:
            self.level = level
            if not (self.loses_edges or self.is_blind):
                self._take(self.machine.edge(level, self.now))

    # --------------------------------------------------------------------------------------------- requests

    def ask(self, request_id: str = "r1") -> None:
        """A question begins and names its tool at once."""
        self._take(self.machine.begin_request(request_id, self.now))
        self._take(self.machine.arm(request_id, self.now))

    def ask_and_open(self, request_id: str = "r1") -> None:
        """The same, and a little more than a second passes."""
        self.ask(request_id)
        self.wait(1.1)
        assert self.machine.is_open

    def ring(self, is_ringing: bool) -> None:
        """Something begins or ceases to ring."""
        self._take(self.machine.set_ringing(is_ringing, self.now))

    # ---------------------------------------------------------------------------------------------- answers

    def take(self) -> list[ButtonDecision]:
        """What was decided since the last time."""
        taken, self.decided = self.decided, []
        return taken

    def of(self, kind: type[D]) -> list[D]:
        """The decisions of one kind until now."""
        return [decision for decision in self.decided if isinstance(decision, kind)]

    def sampled(self) -> None:
        """The level is about to be read; for those who keep a record."""

    def _move(self, level: bool, bounce_milliseconds: Iterable[float]) -> None:
        """As it was closed and opened by turns, the other way round for a release."""
        raw = level
        for milliseconds in bounce_milliseconds:
            self.set(raw)
            self.wait(milliseconds / 1000.0)
            raw = not raw
        self.set(level)

    def _take(self, decisions: list[ButtonDecision]) -> None:
        self.decided += decisions


def noise(finger: Finger, seconds: float, changes_per_second: float, seed: int) -> None:
    """A wire that hangs in the air."""
    dice = random.Random(seed)
    end = finger.now + seconds
    while finger.now < end:
        finger.wait(dice.expovariate(changes_per_second))
        finger.set(not finger.level)
    finger.set(False)
