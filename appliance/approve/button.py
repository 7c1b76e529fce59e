"""The button as a state machine: levels, requests and the clock go in, decisions come out.

Pure: no threads, no waiting, nothing kept over a restart. The rules that keep a press from approving what it was not
meant for:

- Only a *fresh* press approves: the request was armed for a second, then the button was seen still for long enough,
  then the press began. Whatever happens meanwhile (ringing, a fault) asks for all three again.
- An open request hears one press: out of rest, of a hand's length, and nothing behind it. Whatever else the contact
  does closes the request, until it has been still for longer than before (``unrest.py``).
- A press is bound to the request that it began with, acts when it is released and at rest, and acts once.
- Behind every request the button is deaf to presses for a moment; holding it says no and stops everything at any time.
- A button that behaves as no hand could is not believed at all.
"""

from __future__ import annotations

from appliance.approve.button_rules import (
    Approve,
    ButtonDecision,
    ButtonRules,
    Deny,
    Fault,
    FaultCleared,
    FaultReason,
    Mute,
    RequestEnding,
    Shutdown,
    ShutdownCancelled,
    ShutdownCountdown,
    Silence,
    StopAll,
    Talk,
    TalkEnded,
    Unclear,
)
from appliance.approve.button_state import PendingRequest, Press
from appliance.approve.contact import Contact
from appliance.approve.lamp import LampPattern, length_seconds
from appliance.approve.unrest import Unrest

Decisions = list[ButtonDecision]

_BEGINNING_OF_TIME = float("-inf")
_LIGHT_OF_ENDING = {
    RequestEnding.DENIED: LampPattern.DENIED,
    RequestEnding.EXPIRED: LampPattern.EXPIRED,
    RequestEnding.TAKEN_BACK: LampPattern.OFF,
}


class ButtonMachine:
    """One button. Every method takes the monotonic time and returns what was decided by it, in order."""

    def __init__(self, rules: ButtonRules | None = None) -> None:
        self._rules = rules or ButtonRules()
        self._contact = Contact(self._rules)
        self._unrest = Unrest(self._rules)
        self._now = _BEGINNING_OF_TIME
        self._is_seen = False
        self._sampled_at: float | None = None
        #: Since when every sample said released and no edge came; None when one did not.
        self._quiet_since: float | None = None
        self._fault: FaultReason | None = None
        self._fault_at = 0.0
        self._request: PendingRequest | None = None
        self._press: Press | None = None
        #: A press that approves as soon as the contact has come to rest behind it.
        self._approval: Press | None = None
        self._is_ringing = False
        self._rang_at = _BEGINNING_OF_TIME
        #: A press that began until then means nothing, unless it is held.
        self._deaf_until = _BEGINNING_OF_TIME
        self._dark_until = _BEGINNING_OF_TIME
        #: No request is open before that.
        self._rearmed_at = _BEGINNING_OF_TIME
        self._last_press_ended_at: float | None = None
        self._light = (LampPattern.OFF, 0.0)

    # --------------------------------------------------------------------------------- what the button does

    def edge(self, level: bool, at: float) -> Decisions:
        """The level changed to ``level`` (True = pressed) at ``at``; edges may be lost, doubled or a little late."""
        decided = self._advance(at)
        return decided + self._see(level, at)

    def sample(self, level: bool, at: float) -> Decisions:
        """The level is ``level``, read at ``at`` or just behind it."""
        if self._sampled_at is not None and at - self._sampled_at > self._rules.dead_seconds:
            self._quiet_since = None
        self._sampled_at = at
        decided = self._advance(at)
        decided += self._see(level, at)
        if level:
            return decided
        if self._quiet_since is None:
            self._quiet_since = at
        self._open_request(at)
        return decided + self._heal(at)

    def tick(self, at: float) -> Decisions:
        """Time passes, with or without samples; without them for long enough the button is dead."""
        decided = self._advance(at)
        if self._sampled_at is None:
            self._sampled_at = self._now
        if self._now - self._sampled_at > self._rules.dead_seconds:
            decided += self._break(FaultReason.DEAD, self._now)
        return decided

    def lose(self, at: float) -> Decisions:
        """The button cannot be read any more, known at once."""
        decided = self._break(FaultReason.DEAD, at)
        self._contact, self._quiet_since = Contact(self._rules), None
        return decided

    # --------------------------------------------------------------------------------------- what is asked

    def begin_request(self, request_id: str, at: float) -> Decisions:
        """The question begins. Holding denies from here on; nothing approves before ``arm``.

        Raises ``ValueError`` while another request is pending: they queue elsewhere.
        """
        decided = self._advance(at)
        if self._request is not None:
            raise ValueError(f"request {self._request.request_id} is still pending")
        self._request = PendingRequest(request_id, at)
        self._ignore_presses_until(at)
        return decided

    def arm(self, request_id: str, at: float) -> Decisions:
        """The question has named the tool; ignored when it was said before, or is not about the pending request."""
        decided = self._advance(at)
        if self._request is not None and self._request.request_id == request_id and self._request.armed_at is None:
            self._request.armed_at = at
        return decided

    def end_request(self, request_id: str, at: float, ending: RequestEnding = RequestEnding.TAKEN_BACK) -> Decisions:
        """The request ended elsewhere; of an end and a press at the same time, the end comes first."""
        if self._request is not None and self._request.request_id == request_id:
            self._end(_LIGHT_OF_ENDING[ending], at)
        return self._advance(at)

    def set_ringing(self, is_ringing: bool, at: float) -> Decisions:
        """While something rings a press only silences it, and approval is disarmed."""
        if is_ringing != self._is_ringing:
            self._is_ringing = is_ringing
            self._ignore_presses_until(at)
            self._disarm(at + self._rules.arming_seconds)
            if is_ringing:
                self._rang_at = at
        return self._advance(at)

    # ------------------------------------------------------------------------------------------ what it is

    @property
    def is_usable(self) -> bool:
        """Whether a press could approve; without that nothing risky may be asked."""
        return self._is_seen and self._fault is None

    @property
    def fault(self) -> FaultReason | None:
        """Why it is not trusted."""
        return self._fault

    @property
    def pending(self) -> str:
        """The request that is being asked, "" for none."""
        return self._request.request_id if self._request is not None else ""

    @property
    def is_open(self) -> bool:
        """Whether a press that begins now approves the pending request."""
        request = self._request
        return request is not None and request.open_since is not None and not request.is_touched

    @property
    def is_watchful(self) -> bool:
        """Whether it must be sampled and ticked 50 times a second; else 5 times do, and at once on every edge."""
        return (
            self._request is not None
            or self._press is not None
            or self._fault is not None
            or self._contact.is_changing
            or self._now < self._dark_until
        )

    def lamp(self, at: float) -> tuple[LampPattern, float]:
        """What the lamp shows, and for how many seconds it has."""
        pattern, since = self._light
        if self._fault is not None:
            pattern, since = LampPattern.FAULT, self._fault_at
        elif at - since < length_seconds(pattern):
            pass
        elif self._request is None or at < self._dark_until:
            pattern = LampPattern.OFF
        elif self._request.open_since is not None:
            pattern = LampPattern.TOUCHED if self._request.is_touched else LampPattern.ARMED
            since = self._request.open_since
        else:
            pattern, since = LampPattern.ASKING, max(self._request.began_at, self._dark_until)
        return pattern, at - since

    # ------------------------------------------------------------------------------------------ time passes

    def _advance(self, at: float) -> Decisions:
        now = max(self._now, at)
        self._now = now
        decided: Decisions = []
        if self._contact.advance(now):
            decided += self._press_begins() if self._contact.is_pressed else self._press_ends()
        if self._press is not None:
            decided += self._press_goes_on(self._press, self._contact.pressed_seconds(now))
        if self._approval is not None:
            decided += self._approve(self._approval)
        return decided

    def _see(self, level: bool, at: float) -> Decisions:
        is_first, self._is_seen = not self._is_seen, True
        stirs = self._contact.stirs
        has_changed = self._contact.see(level, at)
        if has_changed or level:
            self._quiet_since = None
        if is_first and level:
            # Held at power-on, or a wire across the contact: the release to come is no press.
            return self._break(FaultReason.STUCK, at)
        if not has_changed:
            return []
        self._unrest.note(at)
        decided = self._touch_request() if self._contact.stirs != stirs else []
        if self._unrest.is_floating(at, self._request.began_at if self._request is not None else None):
            decided += self._break(FaultReason.FLOATING, self._now)
        return decided

    # ---------------------------------------------------------------------------------------------- a press

    def _press_begins(self) -> Decisions:
        if self._fault is not None:
            return []
        self._press = Press(self._contact.began, approves=self.pending)
        return []

    def _press_goes_on(self, press: Press, seconds: float) -> Decisions:
        """What a press does while it lasts."""
        rules = self._rules
        # An edge that came late may have made it older than it looked.
        press.began_at = min(press.began_at, self._contact.began)
        decided: Decisions = []
        if seconds >= rules.shortest_press_seconds and not press.is_confirmed:
            decided += self._confirm(press)
        if seconds >= rules.hold_seconds and not press.is_held:
            decided += self._hold(press)
        if not press.is_spent and press.is_held and not press.is_talking and not rules.hold_to_talk:
            decided += self._shutdown(press, seconds)
        if seconds > rules.stuck_seconds:
            decided += self._break(FaultReason.STUCK, self._now)
        return decided

    def _confirm(self, press: Press) -> Decisions:
        """It is no noise: the finger is down."""
        press.is_confirmed = True
        if self._is_ringing:
            if press.began_at <= self._rang_at:
                return []
            press.is_spent = True
            return [Silence()]
        if self._rules.hold_to_talk and self._request is None and not self._is_deaf(press):
            press.is_talking = True
            return [Talk()]
        return []

    def _hold(self, press: Press) -> Decisions:
        press.is_held = True
        if press.is_talking:
            return []
        if self._request is None:
            return [StopAll()]
        press.is_spent = True
        denied = Deny(self._request.request_id)
        self._end(LampPattern.DENIED, self._now)
        return [denied, StopAll()]

    def _shutdown(self, press: Press, seconds: float) -> Decisions:
        rules = self._rules
        if press.counting_from_seconds is None:
            if seconds < rules.shutdown_hold_seconds or self._request is not None:
                return []
            press.counting_from_seconds = seconds
            return [ShutdownCountdown(rules.shutdown_countdown_seconds)]
        if seconds - press.counting_from_seconds < rules.shutdown_countdown_seconds:
            return []
        press.is_spent, press.counting_from_seconds = True, None
        return [Shutdown()]

    def _press_ends(self) -> Decisions:
        press, self._press = self._press, None
        if press is None:
            return []
        press.released_at = self._contact.began
        decided = self._press_goes_on(press, press.released_at - press.began_at)
        decided += self._let_go(press)
        if press.is_spent or press.is_held or not press.is_confirmed or self._is_deaf(press):
            return decided
        return decided + (self._plain_press(press) if self._request is None else self._answer(self._request, press))

    def _let_go(self, press: Press) -> Decisions:
        """What ends with the finger's way up, whatever the press was."""
        if press.is_talking:
            return [TalkEnded()]
        return [] if press.counting_from_seconds is None else [ShutdownCancelled()]

    def _answer(self, request: PendingRequest, press: Press) -> Decisions:
        """A press while a request is pending."""
        if not self._contact.is_like_a_hand:
            return self._noise(request)
        if not self._is_short(press):
            return self._unclear(request)
        if self._may_approve(press):
            self._approval = press
            return []
        return self._unclear(request) if request.was_open else []

    def _approve(self, press: Press) -> Decisions:
        """Not before the contact is at rest: what goes on stirring was noise."""
        request = self._request
        if request is None or not self._may_approve(press):
            self._approval = None
            return []
        bounced_until = press.released_at + self._rules.at_rest_seconds
        if self._contact.level_since > bounced_until or not self._contact.is_like_a_hand:
            return self._noise(request)
        if self._contact.still_seconds(self._now) < self._rules.rest_seconds:
            return []
        self._end(LampPattern.ACCEPTED, self._now)
        return [Approve(request.request_id, press.began_at, press.released_at)]

    def _noise(self, request: PendingRequest) -> Decisions:
        """No hand does that, or it pressed twice."""
        self._disarm(self._now)
        return self._unclear(request)

    def _unclear(self, request: PendingRequest) -> Decisions:
        """Neither yes nor no."""
        self._light = (LampPattern.UNCLEAR, self._now)
        return [Unclear(request.request_id)]

    def _may_approve(self, press: Press) -> bool:
        request = self._request
        return (
            request is not None
            and request.request_id == press.approves
            and request.open_since is not None
            and press.began_at > request.open_since
        )

    def _plain_press(self, press: Press) -> Decisions:
        """Nothing is asked and nothing rings. The first press acts at once: waiting for a second would be felt."""
        before, self._last_press_ended_at = self._last_press_ended_at, None
        is_short = self._is_short(press)
        if is_short and before is not None and press.began_at - before <= self._rules.double_press_gap_seconds:
            return [StopAll() if self._rules.hold_to_talk else Mute()]
        if is_short:
            self._last_press_ended_at = press.released_at
        return [] if self._rules.hold_to_talk else [Talk()]

    def _is_short(self, press: Press) -> bool:
        return press.released_at - press.began_at <= self._rules.longest_press_seconds

    # ------------------------------------------------------------------------------------------- the guards

    def _is_deaf(self, press: Press) -> bool:
        return press.began_at <= self._deaf_until

    def _ignore_presses_until(self, at: float) -> None:
        self._deaf_until = max(self._deaf_until, at)

    def _disarm(self, until: float) -> None:
        self._rearmed_at = max(self._rearmed_at, until)
        self._approval = None
        if self._request is not None:
            self._request.close()

    def _touch_request(self) -> Decisions:
        """The contact stirred: the one press that an open request hears, or something too much behind it."""
        request = self._request
        if request is None or request.open_since is None:
            return []
        if not request.is_touched:
            request.is_touched = True
            return []
        was_yes = self._approval is not None
        self._disarm(self._now)
        return self._unclear(request) if was_yes else []

    def _open_request(self, at: float) -> None:
        """The button was seen released at ``at``: the moment from which a press is fresh, or one came to nothing."""
        request = self._request
        if request is None or request.armed_at is None or not self._contact.is_at_rest(at):
            return
        if request.is_touched and self._approval is None:
            self._disarm(at)
        if request.open_since is not None or self._is_ringing or self._fault is not None or self._quiet_since is None:
            return
        if at < max(request.armed_at + self._rules.arming_seconds, self._dark_until, self._rearmed_at):
            return
        if at - self._quiet_since >= self._unrest.calm_seconds(at, request.began_at):
            request.open(at)

    def _end(self, light: LampPattern, at: float) -> None:
        self._request = self._approval = None
        self._light = (light, at)
        self._dark_until = at + self._rules.dark_seconds
        self._ignore_presses_until(self._dark_until)

    def _break(self, reason: FaultReason, at: float) -> Decisions:
        """Trust nothing from here on."""
        if self._fault is not None:
            # Told already; but what flickers has to be calm for longer than what was only stuck.
            self._fault = reason if reason is FaultReason.FLOATING else self._fault
            return []
        press, self._press, self._quiet_since = self._press, None, None
        self._fault, self._fault_at = reason, at
        self._disarm(at)
        return [*(self._let_go(press) if press is not None else []), Fault(reason)]

    def _heal(self, at: float) -> Decisions:
        if self._fault is None or self._quiet_since is None or self._contact.is_pressed:
            return []
        rules = self._rules
        is_floating = self._fault is FaultReason.FLOATING
        if at - self._quiet_since < (rules.most_calm_seconds if is_floating else rules.healed_seconds):
            return []
        self._fault = None
        self._ignore_presses_until(at)
        self._disarm(at + rules.arming_seconds)
        return [FaultCleared()]
