"""How much a contact moves, and how long it must have been still before a press is believed.

Each of a loose wire's pulses may look like a finger; a hundred of them do not. So whatever the contact does while a
request is pending counts against the next press: for every tenth of a second in which it moved, it must be still for
longer (``ButtonRules``). A person who pressed too early waits for three seconds; a pin that moves once a second is
hardly ever still for long enough.

Pure: it is told changes and times.
"""

from __future__ import annotations

from collections import deque

from appliance.approve.button_rules import ButtonRules


class Unrest:
    """What one contact did lately. Times are monotonic seconds."""

    def __init__(self, rules: ButtonRules) -> None:
        self._rules = rules
        self._changes: deque[float] = deque(maxlen=rules.most_changes + 1)
        #: The first change in each tenth of a second that had one, by number of the tenth.
        self._tenths: dict[int, float] = {}

    def note(self, at: float) -> None:
        """The raw level changed."""
        self._changes.append(at)
        self._tenths.setdefault(int(at * 10.0), at)

    def is_floating(self, now: float, asked_since: float | None) -> bool:
        """Whether it moves as no hand would, at any time or since a request is pending."""
        self._forget(now)
        rules = self._rules
        if len(self._changes) > rules.most_changes or self._moved(now - rules.noise_window_seconds) > (
            rules.most_busy_tenths
        ):
            return True
        return asked_since is not None and self._moved(asked_since) > rules.most_busy_tenths_while_asked

    def calm_seconds(self, now: float, asked_since: float) -> float:
        """How long it must have been still for its next move to be believed, while a request is pending."""
        self._forget(now)
        rules = self._rules
        while_asked = self._moved(asked_since)
        before = len(self._tenths) - while_asked
        seconds = rules.calm_per_busy_tenth_seconds * (while_asked + max(0, before - rules.usual_busy_tenths))
        return min(rules.most_calm_seconds, max(rules.calm_seconds, seconds))

    def _moved(self, since: float) -> int:
        return sum(at >= since for at in self._tenths.values())

    def _forget(self, now: float) -> None:
        while self._changes and now - self._changes[0] > self._rules.noise_window_seconds:
            self._changes.popleft()
        for tenth in [tenth for tenth, at in self._tenths.items() if now - at > self._rules.memory_seconds]:
            del self._tenths[tenth]
