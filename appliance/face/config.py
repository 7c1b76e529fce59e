"""Settings of the face."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class FaceConfig:
    """What shows the face, and how lively."""

    backends: tuple[str, ...] = setting(
        ("terminal",), "what shows the face: terminal (only when the output is one), picture; [] shows none"
    )
    picture_file: str = setting("", 'PNG that the picture backend keeps up to date; "" is face.png in the home')
    poses_per_second: float = setting(10.0, "how often a pose is drawn", at_least=1.0, at_most=50.0)
