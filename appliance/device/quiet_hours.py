"""When the box keeps its notices to itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time

from appliance.errors import ConfigError

_SPAN = re.compile(r"(\d{1,2}):(\d\d)\s*[-–]\s*(\d{1,2}):(\d\d)")


@dataclass(frozen=True)
class QuietHours:
    """A span of the day, which may pass midnight; ``start`` equal to ``end`` is never quiet."""

    start: time = time(0)
    end: time = time(0)

    @classmethod
    def parse(cls, text: str) -> QuietHours:
        """``22:00-07:00``; "" is never. Raises ``ConfigError``."""
        if not text.strip():
            return cls()
        found = _SPAN.fullmatch(text.strip())
        try:
            if found is None:
                raise ValueError("no span")
            return cls(time(int(found[1]), int(found[2])), time(int(found[3]), int(found[4])))
        except ValueError as error:
            raise ConfigError(f'device.quiet_hours = {text!r}: must be a span such as "22:00-07:00", or ""') from error

    def is_quiet(self, now: datetime) -> bool:
        """Whether notices wait at ``now`` (in the house's time zone)."""
        clock = now.time()
        if self.start <= self.end:
            return self.start <= clock < self.end
        return clock >= self.start or clock < self.end
