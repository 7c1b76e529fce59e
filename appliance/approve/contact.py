"""A switch contact: from raw levels that bounce and get lost to "pressed" and "released".

Pure: it is told levels and times. Levels come from edges and from samples, so that a lost edge heals with the next
sample. A change is believed when the new level has added up to long enough; the old level in between takes away.
"""

from __future__ import annotations

from appliance.approve.button_rules import ButtonRules


class Contact:
    """One contact. Times are monotonic seconds; ``at`` may be a little late, ``now`` never goes back."""

    def __init__(self, rules: ButtonRules) -> None:
        self._rules = rules
        self._level: bool | None = None
        self._level_since = 0.0
        self._now = 0.0
        self._added_up_seconds = 0.0
        #: When the change under way began; None while there is none.
        self._change_began: float | None = None
        #: The first change since the contact was last at rest.
        self._stirred_at = 0.0
        self._longest_touch_seconds = 0.0
        self._has_gap = False
        self._has_clean_start = False
        #: How often it was touched out of rest, ever.
        self.stirs = 0
        self.is_pressed = False
        #: When what ``is_pressed`` says began, a press with its first touch.
        self.began = 0.0

    def see(self, level: bool, at: float) -> bool:
        """Note the level that was there at ``at``; True when it is another than before, or the first one."""
        if self._level is None:
            self._level = self.is_pressed = level
            self._level_since = self.began = at
            self._now = max(self._now, at)
            return True
        if level != self._level:
            self._change(level, at)
            return True
        if level:
            # An edge that comes later than the sample which already saw it: the press is older than it looked.
            self._level_since = min(self._level_since, at)
            self._stirred_at = min(self._stirred_at, at)
            if self.is_pressed:
                self.began = min(self.began, at)
            elif self._change_began is not None:
                self._change_began = min(self._change_began, at)
        return False

    def advance(self, now: float) -> bool:
        """Time has come to ``now`` with the level as last seen; True when pressed became released or the reverse."""
        passed_seconds, self._now = now - self._now, now
        if self._level is None or self._level == self.is_pressed:
            self._added_up_seconds = max(0.0, self._added_up_seconds - passed_seconds)
            if self._added_up_seconds == 0.0:
                self._change_began = None
            return False
        self._added_up_seconds += passed_seconds
        rules = self._rules
        if self._added_up_seconds < (rules.release_settles_seconds if self.is_pressed else rules.press_settles_seconds):
            return False
        self.is_pressed = self._level
        self.began = self._change_began if self._change_began is not None else self._level_since
        self._change_began, self._added_up_seconds = None, 0.0
        if self.is_pressed:
            self._has_clean_start = self.began - self._stirred_at <= self._rules.at_rest_seconds
            if self._has_clean_start:
                self.began = self._stirred_at
        return True

    def pressed_seconds(self, now: float) -> float:
        """How long it has been pressed, without a release that may be under way."""
        if not self.is_pressed:
            return 0.0
        return (now if self._change_began is None else self._change_began) - self.began

    @property
    def is_like_a_hand(self) -> bool:
        """Whether the press that just ended was one: out of rest with no more than a bounce, then closed for a while.

        Noise from a radio or a loose wire adds up to a press now and then, but looks like neither: its gaps are longer.
        """
        is_whole = self._has_clean_start and not self._has_gap
        return is_whole and self._longest_touch_seconds >= self._rules.shortest_press_seconds

    @property
    def level_since(self) -> float:
        """When the raw level changed last."""
        return self._level_since

    def still_seconds(self, at: float) -> float:
        """For how long it has been released without a single change; 0 while it is pressed or touched."""
        return at - self._level_since if self._level is False and not self.is_pressed else 0.0

    def is_at_rest(self, at: float) -> bool:
        """Whether it is released and has not stirred for long enough that nothing can be the tail of a press."""
        return self.still_seconds(at) >= self._rules.at_rest_seconds

    @property
    def is_changing(self) -> bool:
        """Whether a change has begun and is not believed yet."""
        return self._change_began is not None

    def _change(self, level: bool, at: float) -> None:
        if level and self.is_at_rest(at):
            self._stirred_at, self._longest_touch_seconds, self._has_gap = at, 0.0, False
            self.stirs += 1
        elif level and at - self._level_since >= self._rules.release_settles_seconds:
            self._has_gap = True
        if not level:
            self._longest_touch_seconds = max(self._longest_touch_seconds, at - self._level_since)
        self._level, self._level_since = level, at
        if level != self.is_pressed and self._change_began is None:
            self._change_began = at
