"""Generated lives of a button: whatever finger, wire, bell and questions do, no press approves what it was not for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import event, given, settings
from hypothesis import strategies as st

from appliance.approve.button_rules import (
    Approve,
    ButtonDecision,
    ButtonRules,
    Fault,
    FaultCleared,
    RequestEnding,
)
from tests.approve.finger import BOUNCES, SAMPLE_SECONDS, Finger, noise

_RULES = ButtonRules()
#: Touches that follow each other more closely are one press with bouncing contacts.
_ONE_PRESS_GAP_SECONDS = _RULES.at_rest_seconds


@dataclass
class Asked:
    """The truth about one request."""

    began_at: float
    armed_at: float = float("inf")
    ended_at: float = float("inf")


@dataclass
class Span:
    """Something that lasted."""

    began_at: float
    ended_at: float = float("inf")

    def touches(self, began_at: float, ended_at: float) -> bool:
        return self.began_at <= ended_at and began_at <= self.ended_at


@dataclass
class Witness(Finger):
    """Writes down what really happened, beside what the machine made of it."""

    touches: list[Span] = field(default_factory=list)
    seen_released_at: list[float] = field(default_factory=list)
    rings: list[Span] = field(default_factory=list)
    faults: list[Span] = field(default_factory=list)
    asked: dict[str, Asked] = field(default_factory=dict)
    approvals: list[tuple[float, Approve]] = field(default_factory=list)
    was_careless: bool = False

    def __init__(self, rules: ButtonRules | None = None) -> None:
        self.touches, self.seen_released_at, self.rings, self.faults = [], [], [], []
        self.asked, self.approvals, self.was_careless = {}, [], False
        super().__init__(rules)

    @property
    def presses(self) -> list[Span]:
        """The touches, those of one press together."""
        found: list[Span] = []
        for touch in self.touches:
            if found and touch.began_at - found[-1].ended_at <= _ONE_PRESS_GAP_SECONDS:
                found[-1] = Span(found[-1].began_at, touch.ended_at)
            else:
                found.append(touch)
        return found

    def set(self, level: bool) -> None:
        if level and not self.level:
            self.touches.append(Span(self.now))
        elif self.level and not level:
            self.touches[-1].ended_at = self.now
        super().set(level)

    def sampled(self) -> None:
        if not self.level:
            self.seen_released_at.append(self.now)

    def begin(self) -> None:
        if not self.machine.pending:
            request_id = f"r{len(self.asked)}"
            self.asked[request_id] = Asked(self.now)
            self._take(self.machine.begin_request(request_id, self.now))

    def arm(self) -> None:
        if self.machine.pending:
            asked = self.asked[self.machine.pending]
            asked.armed_at = min(asked.armed_at, self.now)
            self._take(self.machine.arm(self.machine.pending, self.now))

    def end(self, ending: RequestEnding) -> None:
        if request_id := self.machine.pending:
            self._take(self.machine.end_request(request_id, self.now, ending))
            self.asked[request_id].ended_at = min(self.asked[request_id].ended_at, self.now)

    def ring(self, is_ringing: bool) -> None:
        if is_ringing and not (self.rings and self.rings[-1].ended_at == float("inf")):
            self.rings.append(Span(self.now))
        elif not is_ringing and self.rings:
            self.rings[-1].ended_at = min(self.rings[-1].ended_at, self.now)
        super().ring(is_ringing)

    def _take(self, decisions: list[ButtonDecision]) -> None:
        for decision in decisions:
            match decision:
                case Approve(request_id):
                    self.approvals.append((self.now, decision))
                    self.asked[request_id].ended_at = self.now
                case Fault():
                    self.faults.append(Span(self.now))
                case FaultCleared():
                    self.faults[-1].ended_at = self.now
        for request_id, asked in self.asked.items():
            if self.machine.pending != request_id:
                asked.ended_at = min(asked.ended_at, self.now)
        super()._take(decisions)


Deed = Callable[[Witness], None]


def _deed(do: Callable[[Witness], None], name: str) -> Deed:
    """With a name that a failing example is read by."""
    do.__name__ = do.__qualname__ = name
    return do


def _waits(seconds: float) -> Deed:
    return _deed(lambda finger: finger.wait(seconds), f"wait {seconds:g}")


def _presses(seconds: float, bounce: str) -> Deed:
    return _deed(lambda finger: finger.press(seconds, bounce), f"press {seconds:g} {bounce}")


def _noise(seconds: float, changes_per_second: float, seed: int) -> Deed:
    def do(finger: Witness) -> None:
        # Sampled 50 times a second without its edges, noise can look like anything at all.
        finger.was_careless, finger.loses_edges = True, False
        noise(finger, seconds, changes_per_second, seed)

    return _deed(do, f"noise {seconds:g} s, {changes_per_second:g}/s, {seed}")


def _careless(name: str, is_on: bool) -> Deed:
    def do(finger: Witness) -> None:
        finger.was_careless = True
        setattr(finger, name, is_on)

    return _deed(do, f"{name} = {is_on}")


def _ends(ending: RequestEnding) -> Deed:
    return _deed(lambda finger: finger.end(ending), f"end {ending}")


def _asks(rest: float, arms_after: float, waits: float, presses: float, bounce: str, looks_on: float) -> Deed:
    def do(finger: Witness) -> None:
        if finger.machine.pending and arms_after:
            finger.end(RequestEnding.TAKEN_BACK)
        if rest:
            finger.up()
            finger.ring(False)
            finger.wait(rest)
        finger.begin()
        finger.wait(arms_after)
        finger.arm()
        finger.wait(waits)
        finger.press(presses, bounce)
        finger.wait(looks_on)

    return _deed(
        do, f"rest {rest:g} s, ask, {arms_after:g} s, arm, {waits:g} s, press {presses:g} s {bounce}, {looks_on:g} s"
    )


def _rings(seconds: float) -> Deed:
    def do(finger: Witness) -> None:
        finger.ring(True)
        finger.wait(seconds)
        finger.ring(False)

    return _deed(do, f"ring for {seconds:g} s")


_WAITS = st.one_of(
    st.sampled_from([0.02, 0.06, 0.1, 0.3, 0.98, 1.0, 1.02, 1.5, 2.0]), st.floats(0.001, 3.0, allow_nan=False)
).map(_waits)
_PRESSES = st.builds(
    _presses,
    st.one_of(st.sampled_from([0.05, 0.1, 0.2, 0.69, 0.71, 1.19, 1.21]), st.floats(0.001, 1.5)),
    st.sampled_from(list(BOUNCES)),
)
_ASKING = st.sampled_from(
    [
        _deed(lambda finger: finger.begin(), "begin"),
        _deed(lambda finger: finger.arm(), "arm"),
        *map(_ends, RequestEnding),
    ]
)
_CONTACT = st.sampled_from(
    [
        _deed(lambda finger: finger.down(), "down"),
        _deed(lambda finger: finger.up(), "up"),
        _deed(lambda finger: finger.down("bad"), "down, bouncing"),
        _deed(lambda finger: finger.up("bad"), "up, bouncing"),
    ]
)
_BELL = st.one_of(
    st.floats(0.02, 1.5).map(_rings), st.booleans().map(lambda on: _deed(lambda finger: finger.ring(on), f"ring {on}"))
)
_TROUBLE = st.one_of(
    st.builds(_careless, st.sampled_from(["loses_edges", "is_blind"]), st.booleans()),
    st.builds(_noise, st.floats(0.05, 1.0), st.sampled_from([30.0, 100.0, 300.0]), st.integers(0, 99)),
)
#: A question, and a press so soon behind it that much of what is generated is about an open request, or nearly.
_QUESTION = st.builds(
    _asks,
    st.sampled_from([0.0, 0.05, 1.0, 2.0, 2.0]),
    st.sampled_from([0.0, 0.0, 0.4]),
    st.one_of(st.sampled_from([0.85, 0.98, 1.0, 1.02, 1.1, 1.5]), st.floats(0.5, 2.5)),
    st.sampled_from([0.03, 0.07, 0.15, 0.15, 0.3, 0.69, 0.75]),
    st.sampled_from(list(BOUNCES)),
    st.sampled_from([0.0, 0.05, 0.2, 0.75, 0.75]),
)
_CALM_DEEDS = st.lists(
    st.one_of(_WAITS, _PRESSES, _ASKING, _CONTACT, _BELL, _QUESTION, _QUESTION), min_size=4, max_size=25
)
_ALL_DEEDS = st.lists(
    st.one_of(_WAITS, _PRESSES, _ASKING, _CONTACT, _BELL, _TROUBLE, _QUESTION), min_size=4, max_size=25
)


def _live(deeds: list[Deed]) -> Witness:
    finger = Witness()
    for deed in deeds:
        deed(finger)
        finger.wait(0.001)
    finger.rest()
    return finger


def _check(finger: Witness) -> None:
    event(f"{min(len(finger.approvals), 4)} approvals")
    used: list[float] = []
    for decided_at, approval in finger.approvals:
        asked = finger.asked[approval.request_id]
        # Where edges are lost a press is seen by the next sample only.
        slack = SAMPLE_SECONDS + _RULES.at_rest_seconds if finger.was_careless else 1e-6
        press = max(
            (press for press in finger.presses if press.began_at <= approval.pressed_at_seconds + 1e-6),
            key=lambda press: press.began_at,
        )
        began_at = press.began_at + slack
        assert press.began_at not in used, "one press approved twice"
        used.append(press.began_at)
        assert began_at > asked.armed_at + _RULES.arming_seconds, "the press began before the arming was over"
        assert any(asked.armed_at + _RULES.arming_seconds <= seen <= began_at for seen in finger.seen_released_at), (
            "the button was not seen released after the arming"
        )
        assert decided_at <= asked.ended_at, "the request was over"
        assert not any(ring.touches(began_at, decided_at - 1e-9) for ring in finger.rings), "something rang"
        assert not any(fault.touches(began_at, decided_at - 1e-9) for fault in finger.faults), "the button was at fault"
        assert not any(
            other.ended_at <= began_at < other.ended_at + _RULES.dark_seconds - 1e-9
            for other in finger.asked.values()
            if other is not asked
        ), "it was dark"
        if not finger.was_careless:
            assert press.ended_at - press.began_at >= _RULES.shortest_press_seconds - 1e-9
            assert approval.released_at_seconds - press.began_at <= _RULES.longest_press_seconds + 1e-9
            _check_calm(finger, press, decided_at)
    approved = [approval.request_id for _, approval in finger.approvals]
    assert len(approved) == len(set(approved)), "one request approved twice"


def _check_calm(finger: Witness, press: Span, decided_at: float) -> None:
    """Nothing before it for a while, nothing behind it until it counted."""
    before = [touch.ended_at for touch in finger.touches if touch.began_at < press.began_at]
    assert press.began_at - max(before, default=float("-inf")) >= _RULES.calm_seconds - 1e-6, "it was not calm before"
    assert decided_at - press.ended_at >= _RULES.rest_seconds - 1e-6, "it was not calm behind it"
    assert not any(press.ended_at < touch.began_at < decided_at for touch in finger.touches), "it was pressed twice"


@settings(max_examples=400, deadline=None)
@given(_CALM_DEEDS)
def test_every_approval_has_one_fresh_press_of_its_own(deeds: list[Deed]) -> None:
    _check(_live(deeds))


@settings(max_examples=400, deadline=None)
@given(_ALL_DEEDS)
def test_the_same_with_lost_edges_blind_moments_and_a_loose_wire(deeds: list[Deed]) -> None:
    _check(_live(deeds))


@settings(max_examples=100, deadline=None)
@given(_ALL_DEEDS)
def test_after_whatever_happened_the_next_clean_press_works(deeds: list[Deed]) -> None:
    finger = _live(deeds)
    finger.loses_edges = finger.is_blind = False
    finger.ring(False)
    finger.up()
    finger.end(RequestEnding.TAKEN_BACK)
    finger.wait(12.0)
    before = len(finger.approvals)
    assert finger.machine.is_usable
    finger.begin()
    finger.arm()
    finger.wait(1.2)
    finger.press(0.15)
    finger.rest()
    assert len(finger.approvals) == before + 1
