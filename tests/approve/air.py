"""Pins that hang in the air, wires that lie beside others: what such a contact does, change by change."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator

from appliance.approve.button import ButtonMachine
from appliance.approve.button_rules import Approve, ButtonDecision, Deny

#: Times at which the level changes, from released on; the first is behind 0.
Changes = Iterator[float]
Air = Callable[[random.Random], Changes]


def poisson(per_second: float) -> Air:
    """Changes at random, so many a second."""

    def changes(dice: random.Random) -> Changes:
        at = 0.0
        while True:
            at += dice.expovariate(per_second)
            yield at

    return changes


def telegraph(pulses_per_second: float, closed_share: float) -> Air:
    """Random too, but mostly open or mostly closed."""

    def changes(dice: random.Random) -> Changes:
        at = 0.0
        while True:
            at += dice.expovariate(pulses_per_second / (1.0 - closed_share))
            yield at
            at += dice.expovariate(pulses_per_second / closed_share)
            yield at

    return changes


def hum(fades_per_second: float) -> Air:
    """The mains, 50 times a second, while a threshold is crossed; it fades in and out."""

    def changes(dice: random.Random) -> Changes:
        at, until = 0.0, 0.0
        while True:
            if at >= until:
                at += dice.expovariate(fades_per_second)
                until = at + dice.expovariate(fades_per_second)
            share = dice.uniform(0.2, 0.8)
            yield at + 0.0001
            yield at + 0.02 * share
            at += 0.02

    return changes


def bursts(changes_each: int, gap_seconds: float, pause_seconds: float) -> Air:
    """Some changes with random gaps, then nothing for a while."""

    def changes(dice: random.Random) -> Changes:
        at = 0.0
        while True:
            at += dice.uniform(0.5, 1.5) * pause_seconds
            for _ in range(changes_each):
                yield at
                at += dice.expovariate(1.0 / gap_seconds)

    return changes


def pulses(per_second: float, shortest_seconds: float, longest_seconds: float) -> Air:
    """Single touches of a random length, as a wire beside this one gives them."""

    def changes(dice: random.Random) -> Changes:
        at = 0.0
        while True:
            at += dice.expovariate(per_second)
            yield at
            at += dice.uniform(shortest_seconds, longest_seconds)
            yield at

    return changes


#: What moves about once a second or more, and noise that nobody could take for a finger from the first moment on.
ALL: dict[str, Air] = {
    **{f"poisson {rate:g}/s": poisson(rate) for rate in (1, 2, 3, 5, 8, 10, 15, 20, 30, 60, 100, 300, 2000)},
    **{
        f"telegraph {rate:g}/s, closed {share:g}": telegraph(rate, share)
        for rate in (1, 3, 10)
        for share in (0.1, 0.3, 0.7)
    },
    **{f"hum, {rate:g} fades/s": hum(rate) for rate in (0.2, 1, 3, 10)},
    **{
        f"{count} changes {gap:g} s apart, every {pause:g} s": bursts(count, gap, pause)
        for count in (2, 3, 4, 7, 20)
        for gap in (0.01, 0.1, 0.3)
        for pause in (1.0, 2.0)
    },
    **{f"crosstalk {rate:g}/s": pulses(rate, 0.02, 1.2) for rate in (1, 3)},
}
#: Slow single pulses, which are a finger's as far as anybody can tell.
SLOW: dict[str, Air] = {
    **{f"poisson {rate:g}/s": poisson(rate) for rate in (0.2, 0.5)},
    **{f"crosstalk {rate:g}/s": pulses(rate, 0.02, 1.2) for rate in (0.1, 0.2, 0.5)},
    **{f"like presses {rate:g}/s": pulses(rate, 0.06, 0.7) for rate in (0.02, 0.05, 0.1, 0.2)},
}

#: How long the question takes to name its tool, and how long a spoken request waits.
QUESTION_SECONDS, WINDOW_SECONDS = 4.0, 60.0


def outcome(air: Air, seed: int, begins_seconds: float, questions: int = 1) -> str:
    """What is asked so many times on such a contact, which begins to move so long after the first question does.

    Samples come 50 times a second around changes, else ten times: in a calm contact there is nothing to see.
    """
    machine, changes = ButtonMachine(), air(random.Random(seed))
    asked_at = 1001.0 + max(0.0, -begins_seconds)
    moves_at = asked_at + begins_seconds
    now, level, changed_at, number = 1000.0, False, 1000.0, 0
    next_change = moves_at + next(changes)
    while now < asked_at + WINDOW_SECONDS:
        now += 0.02 if now - changed_at < 0.16 else 0.1
        decided: list[ButtonDecision] = []
        while next_change <= now:
            level, changed_at = not level, next_change
            decided += machine.edge(level, next_change)
            next_change = moves_at + next(changes)
        if number == 0 and now >= asked_at:
            number, decided = 1, machine.begin_request("r1", now)
        if number and now >= asked_at + QUESTION_SECONDS:
            decided += machine.arm(f"r{number}", now)
        decided += machine.sample(level, now)
        end = _end(machine, decided) if number else ""
        if end == "approved" and number < questions:
            number, asked_at = number + 1, now
            machine.begin_request(f"r{number}", now)
        elif end:
            return end
    return "expired"


def count(air: Air, runs: int, begins_seconds: float, questions: int = 1) -> Counter[str]:
    """What so many requests come to."""
    return Counter(outcome(air, seed, begins_seconds, questions) for seed in range(runs))


def _end(machine: ButtonMachine, decided: list[ButtonDecision]) -> str:
    for kind, name in ((Approve, "approved"), (Deny, "denied")):
        if any(isinstance(decision, kind) for decision in decided):
            return name
    return "fault" if machine.fault is not None else ""


def main() -> None:
    """Print the whole table: python -m tests.approve.air [RUNS]."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    moments = {"before": -30.0, "with it": 0.0, "while said": 4.2, "while open": 6.0}
    print(f"approvals of {runs} by the moment at which the contact begins to move, seen from the question")
    print(f"{'':32}", *(f"{name:>11}" for name in (*moments, "two-step")))
    for name, air in {**ALL, **SLOW}.items():
        found = [count(air, runs, begins)["approved"] for begins in moments.values()]
        found.append(count(air, runs, moments["while open"], questions=2)["approved"])
        print(f"{name:32}", *(f"{approved:11d}" for approved in found), flush=True)


if __name__ == "__main__":
    main()
