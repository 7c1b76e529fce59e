"""A head with servos: how it is built, and what is needed to look at one on a microcontroller and to adjust it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Protocol

from appliance.events import Activity
from appliance.ports import Json

#: In the order of the protocol.
JOINTS = ("brow_left", "brow_right", "lid", "mouth", "neck")
#: The protocol's numbers of what the box is doing, in this order.
STATES = (
    Activity.IDLE,
    Activity.LISTENING,
    Activity.WORKING,
    Activity.SPEAKING,
    Activity.MUTED,
    Activity.ASKING,
    Activity.ERROR,
    Activity.OFFLINE,
)
#: No servo is told less or more, whatever is configured; most are made for 500 to 2500.
SHORTEST_PULSE_US, LONGEST_PULSE_US = 500, 2500
#: A board stores hundredths of a microsecond.
_LEAST_US_PER_DEGREE, _MOST_US_PER_DEGREE = 0.01, 50.0


@dataclass(frozen=True)
class JointSettings:
    """One servo: pulse at zero degrees, microseconds for a degree, limits, direction, whether it bears a weight.

    Raises ``ValueError``, which says what is wrong.
    """

    neutral_us: int = 1500
    us_per_degree: float = 10.0
    min_us: int = 1000
    max_us: int = 2000
    is_reversed: bool = False
    holds: bool = False

    def __post_init__(self) -> None:
        for name in ("neutral_us", "min_us", "max_us"):
            value = getattr(self, name)
            if not _is_whole(value) or not SHORTEST_PULSE_US <= value <= LONGEST_PULSE_US:
                raise ValueError(f"{name} must be {SHORTEST_PULSE_US} to {LONGEST_PULSE_US} microseconds, not {value}")
        if not self.min_us <= self.neutral_us <= self.max_us:
            limits = f"{self.min_us} to {self.max_us}"
            raise ValueError(f"neutral_us must lie between min_us and max_us: {self.neutral_us} is not in {limits}")
        if not _is_number(self.us_per_degree) or not _LEAST_US_PER_DEGREE <= self.us_per_degree <= _MOST_US_PER_DEGREE:
            raise ValueError(f"us_per_degree must be above 0 and at most {_MOST_US_PER_DEGREE:g}")
        for name in ("is_reversed", "holds"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false")

    def pulse_us(self, degrees: float) -> float:
        """Pulse length for an angle, inside the limits."""
        shift = degrees * self.us_per_degree
        pulse = self.neutral_us + (-shift if self.is_reversed else shift)
        return min(self.max_us, max(self.min_us, pulse))


@dataclass(frozen=True)
class BoardSettings:
    """A whole head; ``brightness_cap`` is 0 to 255, for the current that the lights may draw."""

    brightness_cap: int = 64
    brow_left: JointSettings = field(default_factory=JointSettings)
    brow_right: JointSettings = field(default_factory=JointSettings)
    lid: JointSettings = field(default_factory=JointSettings)
    mouth: JointSettings = field(default_factory=JointSettings)
    neck: JointSettings = field(default_factory=JointSettings)

    def __post_init__(self) -> None:
        if not _is_whole(self.brightness_cap) or not 0 <= self.brightness_cap <= 255:
            raise ValueError(f"brightness_cap must be 0 to 255, not {self.brightness_cap}")

    @property
    def joints(self) -> tuple[JointSettings, ...]:
        """In the order of ``JOINTS``."""
        return tuple(getattr(self, name) for name in JOINTS)

    def with_joint(self, name: str, joint: JointSettings) -> BoardSettings:
        """The same head with another joint of that name."""
        changed: dict[str, Any] = {name: joint}
        return replace(self, **changed)

    @property
    def data(self) -> dict[str, Json]:
        """As JSON; ``read`` takes it back."""
        return asdict(self)

    @classmethod
    def read(cls, data: Json) -> BoardSettings:
        """From JSON; whatever is missing is as usual. Raises ``ValueError``, which says what is wrong."""
        entries = _known(cls, data)
        joints: dict[str, Any] = {}
        for name in JOINTS:
            try:
                joints[name] = JointSettings(**_known(JointSettings, entries.get(name, {})))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        return cls(**{**entries, **joints})


@dataclass(frozen=True)
class BoardInfo:
    """What a board says about itself; ``last_start`` is why it started, in words."""

    port: str
    firmware: str
    protocol: int
    servos: int
    pixels: int
    moods: int
    has_button: bool
    last_start: str
    boot_id: int


@dataclass(frozen=True)
class BoardHealth:
    """How a board is; ``doing`` in words, ``supply_volts`` 0 when it cannot measure it.

    ``damaged_frames`` and ``dropped_bytes`` are what went wrong on the wire to it since it started.
    """

    uptime_seconds: float
    doing: str
    supply_volts: float
    damaged_frames: int
    dropped_bytes: int


class FaceBoard(Protocol):
    """A board with a face that was greeted; for one caller on one thread. Every method raises ``OSError``.

    It takes care of itself when it hears nothing for two seconds: call ``health`` or another method more often.
    """

    @property
    def info(self) -> BoardInfo:
        """What it said when it was greeted."""
        ...

    def health(self) -> BoardHealth:
        """Ask how it is."""
        ...

    def news(self) -> tuple[str, ...]:
        """What it said unasked since the last call, in words: button, faults."""
        ...

    def settings(self) -> BoardSettings:
        """What it goes by."""
        ...

    def move(self, joint: str, settings: JointSettings, pulse_us: int) -> int:
        """Have a joint of ``JOINTS`` jump to a pulse; the pulse that it got, inside the limits of ``settings``.

        The other joints stay as they are, until ``park``.
        """
        ...

    def store(self, settings: BoardSettings) -> None:
        """Have it go by these, now and after the next start."""
        ...

    def park(self) -> None:
        """Ease to rest, dark and without pulses; returns when it is there."""
        ...

    def close(self) -> None:
        """Give the port back; safe to call twice."""
        ...


def _known(kind: type[JointSettings] | type[BoardSettings], data: Json) -> Mapping[str, Any]:
    known = {entry.name for entry in fields(kind)}
    if not isinstance(data, dict):
        raise ValueError(f"must hold settings by name: {', '.join(sorted(known))}")
    if unknown := sorted(set(data) - known):
        raise ValueError(f"unknown: {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    return data


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
