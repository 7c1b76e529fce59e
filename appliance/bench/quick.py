"""The quick gate: the cheap figures in two minutes, and whether one is worse than it may be.

A figure may be up to 15 % over its goal, for machines differ; one that is more than that is measured again, twice at
most, and its best value counts, for machines are busy at times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from appliance.bench.figures import Figure
from appliance.config import Config
from appliance.errors import ApplianceError
from appliance.home import Home

#: How far over its goal a figure may be.
ALLOWANCE = 1.15

#: Goals that this program does not reach yet: they are measured and shown, and fail nobody until they have been.
OWED = frozenset({"P12", "P14a", "P14b", "P16"})
#: How often a check is made until nothing in it is too bad.
_TRIES = 3

_CLIPS, _IDLE_SECONDS, _STARTS, _BEATING_SECONDS = 10, 8.0, 2, 20.0


@dataclass(frozen=True)
class Check:
    """Some figures that are measured together."""

    name: str
    measure: Callable[[], Sequence[Figure]]


@dataclass(frozen=True)
class Gate:
    """``figures`` as they count in the end; ``problems`` are checks that could not be measured, with the reason."""

    figures: list[Figure]
    problems: list[str]

    @property
    def failed(self) -> list[Figure]:
        """Those that are too far over their goals."""
        return list(filter(_fails, self.figures))

    @property
    def is_passed(self) -> bool:
        """Whether everything could be measured, and nothing is too bad."""
        return not self.failed and not self.problems


def is_too_bad(figure: Figure) -> bool:
    """Whether it is further over its goal than it may be; what is not a number is."""
    return not figure.ratio <= figure.goal * ALLOWANCE


def run_gate(checks: Sequence[Check], tell: Callable[[str], None] = lambda _line: None) -> Gate:
    """Measure all; ``tell`` hears which is on."""
    figures, problems = dict[str, Figure](), list[str]()
    for check in checks:
        tell(check.name)
        try:
            found = {figure.id: figure for figure in check.measure()}
            for _ in range(_TRIES - 1):
                if not any(map(_fails, found.values())):
                    break
                tell(f"{check.name}, once more")
                again = {figure.id: figure for figure in check.measure()}
                found = {name: _better(figure, again.get(name, figure)) for name, figure in found.items()}
        except ApplianceError as error:
            problems.append(f"{check.name}: {error}")
        else:
            figures |= found
    return Gate(list(figures.values()), problems)


def quick_checks(config: Config, home: Home) -> list[Check]:
    """What is cheap enough for every change of the program."""

    def hearing() -> Sequence[Figure]:
        from appliance.bench.hearing import figures, measure
        from appliance.listen.config import ListenConfig
        from appliance.wiring_hearing import hearing_parts

        with hearing_parts(config, home) as parts:
            found = figures(measure(parts, config.of(ListenConfig), _CLIPS))
        # So few clips say nothing about errors and pauses.
        return [figure for figure in found if figure.id in ("P6", "P7")]

    def speaking() -> Sequence[Figure]:
        from appliance.bench.speaking import figures, measure

        return figures(measure(1, home))

    def idle() -> Sequence[Figure]:
        from appliance.bench.idle import figures, measure

        return figures(measure(_IDLE_SECONDS))

    def start() -> Sequence[Figure]:
        from appliance.bench.start import figures, measure

        return figures(measure(_STARTS))

    def jitter() -> Sequence[Figure]:
        from appliance.bench.jitter import figures, measure
        from appliance.bench.jitter_worker import ALL

        return figures(measure(_BEATING_SECONDS, [ALL]))

    # Each imports its own libraries, late: together they would take seconds, also of those who only look at help.
    measured = {"hearing": hearing, "speaking": speaking, "idle": idle, "start": start, "heartbeat": jitter}
    return [Check(name, measure) for name, measure in measured.items()]


def _fails(figure: Figure) -> bool:
    return is_too_bad(figure) and figure.id not in OWED


def _better(first: Figure, second: Figure) -> Figure:
    return second if second.ratio < first.ratio else first
