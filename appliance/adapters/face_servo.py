"""The face as servos: which pulse each joint gets from a pose, whatever makes the pulses."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from appliance.ports import FacePart, FaceState
from appliance.ports_face import JOINTS, BoardSettings

#: A servo that has arrived gets no more pulses after this: it would only hum and get warm.
_RELEASE_SECONDS = 0.7
#: At the start one servo after the other: all at once would pull the supply down.
_ATTACH_GAP_SECONDS = 0.15
#: Degrees at rest: eyes half closed, head a little down, where it falls by itself. As in firmware/core/show.c.
_REST: Mapping[str, float] = {"brow_left": 0.0, "brow_right": 0.0, "lid": 20.0, "mouth": 0.0, "neck": -8.0}
_REST_SECONDS, _STEP_SECONDS = 0.7, 0.02
#: How far an open mouth lets the corners hang; as in firmware/core/show.c.
_OPEN_MOUTH_DEGREES = 10.0
_PARTS: Mapping[str, FacePart] = {
    "brow_left": FacePart.BROWS,
    "brow_right": FacePart.BROWS,
    "lid": FacePart.LIDS,
    "mouth": FacePart.MOUTH,
    "neck": FacePart.NECK,
}


class Pulses(Protocol):
    """What makes the pulses of some joints. Every method raises ``OSError`` that says what to do."""

    @property
    def joints(self) -> Sequence[str]:
        """Which joints it has, of ``JOINTS``."""
        ...

    def open(self) -> None:
        """Take the device; no servo gets a pulse yet."""
        ...

    def send(self, pulses_us: Mapping[str, float | None]) -> None:
        """From now on these pulses, 50 each second; None: no pulse. Always names every joint."""
        ...

    def close(self) -> None:
        """Give the device back; safe to call twice, also when it is gone."""
        ...


class ServoFace:
    """``FaceBackend``. Servos move as fast as the poses do, which the engine limits.

    ``pause`` waits while the head goes to rest.
    """

    def __init__(
        self,
        name: str,
        pulses: Pulses,
        settings: BoardSettings,
        *,
        now_seconds: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name = name
        self._pulses = pulses
        self._settings = {joint: settings.joints[index] for index, joint in enumerate(JOINTS) if joint in pulses.joints}
        self._now_seconds = now_seconds
        self._pause = pause
        self._is_open = False
        self._degrees: dict[str, float] = {}
        self._pulse_us: dict[str, int] = {}
        self._attach_at: dict[str, float] = {}
        self._moved_at: dict[str, float] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def parts(self) -> frozenset[FacePart]:
        return frozenset(_PARTS[joint] for joint in self._settings)

    @property
    def poses_per_second(self) -> float:
        return 50.0  # As often as pulses.

    def apply(self, state: FaceState) -> None:
        try:
            if not self._is_open:
                self._open()
            self._move(joint_degrees(state))
        except OSError:
            self.close()
            raise

    def park(self) -> None:
        if not self._is_open:
            return
        start = dict(self._degrees)
        steps = round(_REST_SECONDS / _STEP_SECONDS)
        for step in range(1, steps + 1):
            share = step / steps
            self._move({joint: at + (_REST[joint] - at) * share for joint, at in start.items()})
            self._pause(_STEP_SECONDS)
        for _ in range(2):  # The second time nothing is on its way any more.
            self._pulses.send(dict.fromkeys(self._settings))
            self._pause(2 * _STEP_SECONDS)

    def close(self) -> None:
        self._is_open = False
        self._pulses.close()

    def _open(self) -> None:
        self._pulses.open()
        now = self._now_seconds()
        self._is_open = True
        self._pulse_us.clear()
        self._attach_at = {joint: now + index * _ATTACH_GAP_SECONDS for index, joint in enumerate(self._settings)}

    def _move(self, degrees: Mapping[str, float]) -> None:
        now = self._now_seconds()
        pulses: dict[str, float | None] = {}
        for joint, settings in self._settings.items():
            self._degrees[joint] = degrees[joint]
            pulse_us = round(settings.pulse_us(degrees[joint]))
            if self._pulse_us.get(joint) != pulse_us:
                self._pulse_us[joint] = pulse_us
                self._moved_at[joint] = max(now, self._attach_at[joint])
            is_at_rest = now - self._moved_at[joint] >= _RELEASE_SECONDS and not settings.holds
            is_waiting = now < self._attach_at[joint]
            pulses[joint] = None if is_at_rest or is_waiting else float(pulse_us)
        self._pulses.send(pulses)


def joint_degrees(state: FaceState) -> dict[str, float]:
    """The angle of each joint in a pose."""
    return {
        "brow_left": state.brow_left_degrees,
        "brow_right": state.brow_right_degrees,
        "lid": state.lid_degrees,
        "mouth": state.mouth_degrees - _OPEN_MOUTH_DEGREES * state.mouth_open,
        "neck": state.neck_degrees,
    }
