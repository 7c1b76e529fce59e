"""A hand at the button that a test moves."""

from __future__ import annotations

import asyncio

from appliance.approve.button_rules import RequestEnding
from appliance.approve.hand import HandEnding, HandPress
from appliance.clock import Clock


class FakeHand:
    """A ``Hand``. ``told`` is what it was told, in order; ``request_id`` is the request that is asked about now.

    A press counts only after arming, as the real one's does; ``presses`` counts those that approved.
    """

    def __init__(self, clock: Clock, *, is_usable: bool = True) -> None:
        self._clock = clock
        self.is_usable = is_usable
        self.told: list[str] = []
        self.request_id = ""
        self.is_armed = False
        self.presses = 0
        self._answers: dict[str, asyncio.Future[HandPress]] = {}

    def press(self) -> None:
        """A short press, down and up just now."""
        if self.is_armed:
            now = self._clock.monotonic_seconds()
            self.presses += 1
            self._answer(HandPress(HandEnding.APPROVED, now + 0.001, now + 0.2))

    def press_as(self, press: HandPress) -> None:
        """Whatever a broken machine might say."""
        self._answer(press)

    def hold(self) -> None:
        """Press and hold: no."""
        self._answer(HandPress(HandEnding.DENIED))

    def lose(self) -> None:
        """The wire falls off."""
        self.is_usable = False
        self._answer(HandPress(HandEnding.LOST))

    def begin(self, request_id: str) -> None:
        self.told.append(f"begin {request_id}")
        self.request_id, self.is_armed = request_id, False
        self._answers[request_id] = asyncio.get_running_loop().create_future()

    def arm(self, request_id: str) -> None:
        self.told.append(f"arm {request_id}")
        self.is_armed = request_id == self.request_id

    def end(self, request_id: str, ending: RequestEnding = RequestEnding.TAKEN_BACK) -> None:
        self.told.append(f"end {request_id}: {ending}")
        self._answers.pop(request_id, None)
        if self.request_id == request_id:
            self.request_id, self.is_armed = "", False

    async def answer(self, request_id: str) -> HandPress:
        # As the real one's: it takes some rounds of the loop to arrive.
        return await asyncio.shield(self._answers[request_id])

    def _answer(self, press: HandPress) -> None:
        answer = self._answers.get(self.request_id)
        if answer is not None and not answer.done():
            self.is_armed = False
            answer.set_result(press)
