"""What real lights are told for a colour: light is linear, eyes are not.

A pose's colours are as a screen takes them; a lamp needs them straightened with gamma 2.2. The cap comes after that, as
on the microcontroller: it is a share of the current, and it leaves as many steps between dark and bright as there can
be.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from appliance.ports import FaceState, Rgb

_GAMMA = 2.2

Linear = npt.NDArray[np.float64]


def lamp(rgb: Rgb, brightness: float, cap: float) -> Linear:
    """Shares of full current for red, green and blue, 0 to 1; ``cap`` is the most that any may have."""
    shares = np.asarray(rgb, dtype=np.float64) / 255.0 * min(1.0, max(0.0, brightness))
    return np.asarray(np.clip(shares, 0.0, 1.0) ** _GAMMA * cap)


def lamps(state: FaceState, count: int, cap: float) -> Linear:
    """``count`` lamps, shape (count, 3): the pose's ring stretched over them, no light lost or made on the way."""
    if not state.ring:
        return np.tile(lamp(state.rgb, state.brightness, cap), (count, 1))
    ring = np.asarray(state.ring, dtype=np.float64) / 255.0
    light = np.clip(ring, 0.0, 1.0) ** _GAMMA * cap
    places = len(light)
    total = np.vstack((np.zeros(3), np.cumsum(light, axis=0)))
    edges = np.linspace(0.0, places, count + 1)
    up_to = np.column_stack([np.interp(edges, np.arange(places + 1), total[:, part]) for part in range(3)])
    return np.asarray(np.diff(up_to, axis=0) * (count / places))
