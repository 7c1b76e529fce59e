"""Settings of the box's own tools."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class DeviceConfig:
    """[device]: ringing, quiet hours."""

    quiet_hours: str = setting(
        "", 'when notices wait, as "22:00-07:00"; alarms and approvals still come; "" is never', is_live=True
    )
    snooze_minutes: float = setting(9.0, "how long a snooze lasts when nobody says how long", at_least=1, at_most=60)
    ring_minutes: float = setting(10.0, "how long something rings before it gives up", at_least=0.5, at_most=60)
