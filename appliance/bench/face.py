"""What the face costs: every kind of device at once, on buses that only remember what is written to them.

Poses come as in the box, 25 a second with a mood that changes and a mouth that moves, but as fast as they can be made;
the share is processor time over the time that the poses are worth. Waiting for real buses costs time, but hardly any
processor.
"""

from __future__ import annotations

import contextlib
import math
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from appliance.clock import SystemClock
from appliance.events import Emotion, EmotionChanged
from appliance.face.animator import Animator
from appliance.home import Home
from appliance.ports import FaceBackend
from appliance.wiring_faces import recorded_faces

POSES_PER_SECOND = 25.0
_MOOD_SECONDS = 3.0
ENGINE, ALL = "engine", "all together"


@dataclass
class Row:
    """One part of the face: what a pose takes, and its share of one processor core."""

    part: str
    poses: int = 0
    cpu_seconds: float = 0.0
    share_percent: float = 0.0

    @property
    def milliseconds(self) -> float:
        """Of processor time for a pose."""
        return 1000 * self.cpu_seconds / max(1, self.poses)

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        """One pose more."""
        began = time.process_time()
        yield
        self.cpu_seconds += time.process_time() - began
        self.poses += 1


@dataclass
class _Device:
    backend: FaceBackend
    row: Row
    due_seconds: float = field(default=-math.inf)


class _StepClock(SystemClock):
    """Time that passes only between poses."""

    seconds = 0.0

    def monotonic_seconds(self) -> float:
        return self.seconds


def measure(seconds: float = 60.0) -> list[Row]:
    """The engine, every device, and all together, for so many seconds of face; the first second only warms up."""
    with tempfile.TemporaryDirectory() as folder:
        clock = _StepClock()
        devices = [_Device(backend, Row(name)) for name, backend in recorded_faces(Home(Path(folder)), clock).items()]
        animator = Animator(mouth=_mouth, random=random.Random(1))
        _play(animator, devices, clock, 1.0)
        for device in devices:
            device.row = Row(device.row.part)
        engine = _play(animator, devices, clock, seconds)
        for device in devices:
            device.backend.close()
    rows = [engine, *(device.row for device in devices)]
    rows.append(Row(ALL, engine.poses, sum(row.cpu_seconds for row in rows)))
    for row in rows:
        row.share_percent = 100 * row.cpu_seconds / seconds
    return rows


def _play(animator: Animator, devices: list[_Device], clock: _StepClock, seconds: float) -> Row:
    engine, moods = Row(ENGINE), list(Emotion)
    for _ in range(round(seconds * POSES_PER_SECOND)):
        clock.seconds += 1 / POSES_PER_SECOND
        mood = moods[int(clock.seconds / _MOOD_SECONDS) % len(moods)]
        with engine.measured():
            if animator.emotion(clock.seconds) is not mood:
                animator.tell(EmotionChanged("", clock.seconds, mood, "tag"))
            state = animator.pose(clock.seconds)
        for device in devices:
            # As the box's threads do it: no device gets more poses than it can show.
            if clock.seconds >= device.due_seconds - 1e-6:
                device.due_seconds = clock.seconds + 1 / device.backend.poses_per_second
                with device.row.measured():
                    device.backend.apply(state)
    return engine


def _mouth(seconds: float) -> float:
    """Speech for two seconds out of three."""
    return abs(math.sin(seconds * 12)) if seconds % 3 < 2 else 0.0
