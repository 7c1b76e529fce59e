"""Counts the calls that a tool itself has spoilt, and lets a tool that does it again and again rest for a while."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

from appliance.clock import Clock
from appliance.contracts.plugin_call import LoopLostError
from appliance.errors import NetworkError

_LOG = logging.getLogger(__name__)

#: So many failures within this time, and the tool rests for that time.
FAILURES, WITHIN_SECONDS, REST_SECONDS = 3, 600.0, 900.0

#: The network is away, or the other side does not answer: no fault of a tool.
_NETWORK_ERRORS = (NetworkError, ConnectionError, socket.gaierror, ssl.SSLError, TimeoutError)
#: Packages whose exceptions say the same in their own words.
_NETWORK_PACKAGES = frozenset({"aiohttp", "httpcore", "httpx", "requests", "urllib", "urllib3", "websockets"})


@dataclass
class _Record:
    failed_at: list[float] = field(default_factory=list)
    rests_until: float = 0.0


class ToolFailures:
    """The failures of every tool. On our loop; ``on_paused`` is told (plugin, tool) each time one is paused."""

    def __init__(self, clock: Clock, on_paused: Callable[[str, str], None] = lambda _plugin, _tool: None) -> None:
        self._clock = clock
        self._on_paused = on_paused
        self._records: dict[tuple[str, str], _Record] = {}

    def add(self, plugin: str, tool: str) -> None:
        """A call of the tool has failed by its own fault."""
        record, now = self._records.setdefault((plugin, tool), _Record()), self._clock.monotonic_seconds()
        record.failed_at = [*(when for when in record.failed_at if when > now - WITHIN_SECONDS), now]
        if len(record.failed_at) >= FAILURES and now >= record.rests_until:
            record.failed_at.clear()
            record.rests_until = now + REST_SECONDS
            _LOG.error("the tool %s of plugin %s has failed %d times; it is paused", tool, plugin, FAILURES)
            self._on_paused(plugin, tool)

    def why_paused(self, plugin: str, tool: str) -> str | None:
        """Why the tool rests, in words; None when it does not. Any thread."""
        record = self._records.get((plugin, tool))
        left = record.rests_until - self._clock.monotonic_seconds() if record is not None else 0.0
        if left <= 0:
            return None
        return (
            f"it has failed {FAILURES} times within {WITHIN_SECONDS / 60:.0f} minutes, so it is paused "
            f"for {max(1.0, left / 60):.0f} more minutes; appliance plugin on {plugin} lets it run at once"
        )

    def remarks(self, plugin: str) -> list[str]:
        """Which tools of the plugin rest, in sentences for its owner. Any thread."""
        tools = [tool for owner, tool in list(self._records) if owner == plugin]
        return [f"{tool}: {why}" for tool in tools if (why := self.why_paused(plugin, tool))]

    def forgive(self, plugin: str) -> None:
        """All its tools may run again, and begin anew."""
        self._records = {key: record for key, record in self._records.items() if key[0] != plugin}


def is_own_fault(error: BaseException) -> bool:
    """Whether a tool that raised this is to blame: not when the network is away, or the plugin loop was lost."""
    if isinstance(error, (*_NETWORK_ERRORS, LoopLostError)):
        return False
    return not any(str(kind.__module__).partition(".")[0] in _NETWORK_PACKAGES for kind in type(error).__mro__)
