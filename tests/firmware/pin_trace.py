"""What the simulated chip did, as values: pulses, pixels, resets, and frames on the wire, each with the chip's time."""

from __future__ import annotations

from dataclasses import dataclass, field

from appliance.adapters.face_frames import Frame, FrameReader

Colours = tuple[tuple[int, int, int], ...]

JOINTS = 5


@dataclass(frozen=True)
class Pulse:
    """A servo's pulse that has ended at ``at_ms``."""

    at_ms: float
    joint: int
    us: float


@dataclass(frozen=True)
class Pixels:
    """Colours (red, green, blue) that the pixels took over, and how many bits were not as a WS2812 wants them."""

    at_ms: float
    colours: Colours
    bad_bits: int


@dataclass(frozen=True)
class Reset:
    """The chip has started anew; the bits of ``cause`` are 1 power, 2 external, 4 supply too low, 8 watchdog."""

    at_ms: float
    cause: int


@dataclass(frozen=True)
class WireFrame:
    """A frame as the chip got it or sent it, ``at_ms`` of its last byte; None for one that is damaged."""

    at_ms: float
    frame: Frame | None


@dataclass
class Trace:
    """In the order of time."""

    pulses: list[Pulse] = field(default_factory=list)
    pixels: list[Pixels] = field(default_factory=list)
    resets: list[Reset] = field(default_factory=list)
    got: list[WireFrame] = field(default_factory=list)
    sent: list[WireFrame] = field(default_factory=list)
    #: When the chip did not take bytes in time, and one was lost.
    overruns_ms: list[float] = field(default_factory=list)
    #: The end of the trace; the joints whose pin is high then, and the lowest address that the stack has reached.
    now_ms: float = 0.0
    high_joints: frozenset[int] = frozenset()
    lowest_stack: int = 0

    def pulses_of(self, joint: int, *, since_ms: float = 0.0) -> list[Pulse]:
        """One servo's pulses."""
        return [pulse for pulse in self.pulses if pulse.joint == joint and pulse.at_ms >= since_ms]

    def sent_of(self, kind: int) -> list[WireFrame]:
        """Frames of one type that the chip sent."""
        return [wire for wire in self.sent if wire.frame is not None and wire.frame.type == kind]


def parsed(text: str) -> Trace:
    """The trace of firmware/sim/rig.c; times there are in nanoseconds."""
    trace = Trace()
    for line in text.splitlines():
        kind, nanoseconds, *rest = line.split()
        at_ms = int(nanoseconds) / 1e6
        match kind:
            case "S":
                trace.pulses.append(Pulse(at_ms, int(rest[0]), int(rest[1]) / 1e3))
            case "P":
                trace.pixels.append(Pixels(at_ms, _colours(bytes.fromhex(rest[0])), int(rest[1])))
            case "R":
                trace.resets.append(Reset(at_ms, int(rest[0])))
            case ">":
                trace.got.append(WireFrame(at_ms, _frame(rest[0])))
            case "<":
                trace.sent.append(WireFrame(at_ms, _frame(rest[0])))
            case "O":
                trace.overruns_ms.append(at_ms)
            case "T":
                trace.now_ms, trace.lowest_stack = at_ms, int(rest[1])
                trace.high_joints = frozenset(joint for joint in range(JOINTS) if int(rest[0]) >> joint & 1)
            case _:
                raise ValueError(f"not a line of a trace: {line}")
    return trace


def _colours(data: bytes) -> Colours:
    return tuple((data[at + 1], data[at], data[at + 2]) for at in range(0, len(data) - 2, 3))


def _frame(packed: str) -> Frame | None:
    frames = FrameReader().feed(b"\0" + bytes.fromhex(packed) + b"\0")
    return frames[0] if frames else None
