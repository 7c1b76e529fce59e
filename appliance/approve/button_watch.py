"""Watches the button: brings its levels to the state machine, and what that decides to whoever wants to know.

It is the ``Hand`` of the asking side. Everything here runs on our loop; edges come from other threads and are moved.
A button that is lost is opened again, with growing patience; until then nothing can be approved.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from appliance.approve.button import ButtonMachine
from appliance.approve.button_rules import Approve, ButtonDecision, ButtonRules, Deny, Fault, RequestEnding
from appliance.approve.hand import HandEnding, HandPress
from appliance.approve.lamp import is_on
from appliance.clock import Clock
from appliance.errors import ButtonError
from appliance.ports import Button, ButtonLamp

_LOG = logging.getLogger(__name__)

#: Between two samples: while a press or a request is going on, and while nothing is (an edge ends that wait).
_WATCHFUL_SECONDS = 0.02
_IDLE_SECONDS = 0.2
#: Wait before the button is opened again, by number of failures; the last one repeats.
_PATIENCE_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
#: A pin in the air can bring edges faster than they can be looked at; so many are enough to see that it does.
_MOST_EDGES = 512

D = TypeVar("D", bound=ButtonDecision)


class ButtonWatch:
    """One button with its lamp; a ``Hand``. ``run`` must be running for anything to be noticed."""

    def __init__(
        self,
        button: Button,
        clock: Clock,
        *,
        lamp: ButtonLamp | None = None,
        rules: ButtonRules | None = None,
        is_ringing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._button = button
        self._clock = clock
        self._lamp = lamp
        self._is_ringing = is_ringing
        self._machine = ButtonMachine(rules)
        self._handlers: list[tuple[type[Any], Callable[[Any], None]]] = []
        self._answers: dict[str, asyncio.Future[HandPress]] = {}
        self._edges: deque[tuple[bool, float]] = deque(maxlen=_MOST_EDGES)
        self._is_drain_due = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._failures = 0
        self._problem = ""
        self._is_lit: bool | None = None
        self._is_lamp_broken = False

    def on(self, kind: type[D], do: Callable[[D], None]) -> None:
        """Call ``do`` with every decision of this kind, on the loop; several may ask for the same."""
        self._handlers.append((kind, do))

    @property
    def name(self) -> str:
        """What a person would call the button."""
        return self._button.name

    @property
    def health(self) -> str:
        """Which button it is and how it is."""
        fault = self._machine.fault
        state = "ready" if self.is_usable else fault.value if fault is not None else "not looked at yet"
        return f"{self.name}: {self._problem or state}"

    # ------------------------------------------------------------------------------------------- the hand

    @property
    def is_usable(self) -> bool:
        """Whether a press could reach us now."""
        return self._button.is_present and self._machine.is_usable

    def begin(self, request_id: str) -> None:
        """A request is being asked about. Raises ``ValueError`` while another one is."""
        self._take(self._machine.begin_request(request_id, self._now()))
        self._answers[request_id] = asyncio.get_running_loop().create_future()
        if not self.is_usable:
            self._answer(request_id, HandPress(HandEnding.LOST))
        self._wake.set()

    def arm(self, request_id: str) -> None:
        """The person knows by now what is asked."""
        self._take(self._machine.arm(request_id, self._now()))

    def end(self, request_id: str, ending: RequestEnding = RequestEnding.TAKEN_BACK) -> None:
        """It is over; ``ending`` is for the lamp, and counts only when the button did not end it itself."""
        self._answers.pop(request_id, None)
        self._take(self._machine.end_request(request_id, self._now(), ending))

    async def answer(self, request_id: str) -> HandPress:
        """Wait for what the hand does about this request. Raises ``KeyError`` for one that is not being asked."""
        # Whoever stops waiting for it does not end the question; ``end`` does.
        return await asyncio.shield(self._answers[request_id])

    def _answer(self, request_id: str, press: HandPress) -> None:
        answer = self._answers.get(request_id)
        if answer is not None and not answer.done():
            answer.set_result(press)

    # -------------------------------------------------------------------------------------------- watching

    async def run(self) -> None:
        """Watch until cancelled; the button is taken when it begins and given back when it ends."""
        self._loop = asyncio.get_running_loop()
        self._button.listen(self._on_edge)
        try:
            while True:
                try:
                    await self._button.open()
                    self._is_lit, self._is_lamp_broken = None, False
                    await self._watch()
                except ButtonError as error:
                    self._lose(error)
                await self._be_patient(_PATIENCE_SECONDS[min(self._failures, len(_PATIENCE_SECONDS)) - 1])
        finally:
            self._close()

    async def _watch(self) -> None:
        """Raises ``ButtonError`` when the button is lost."""
        while True:
            self._drain()
            now = self._now()
            level = self._button.sample()
            self._hear_ringing()
            self._take(self._machine.sample(level, now))
            if self._failures and self._machine.is_usable:
                self._find()
            self._show()
            await self._pause()

    async def _pause(self) -> None:
        if self._machine.is_watchful:
            await self._clock.sleep(_WATCHFUL_SECONDS)
            return
        self._wake.clear()
        sleep = asyncio.ensure_future(self._clock.sleep(_IDLE_SECONDS))
        wake = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleep, wake}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            wake.cancel()

    async def _be_patient(self, seconds: float) -> None:
        """The lamp goes on telling that something is wrong."""
        end = self._now() + seconds
        while self._now() < end:
            self._take(self._machine.tick(self._now()))
            self._show()
            await self._clock.sleep(_IDLE_SECONDS if self._is_lamp_broken or self._lamp is None else _WATCHFUL_SECONDS)

    def _on_edge(self, level: bool, at_seconds: float) -> None:
        """On any thread."""
        self._edges.append((level, at_seconds))
        if self._is_drain_due or self._loop is None:
            return
        self._is_drain_due = True
        # The loop may be closing down while the backend still brings edges.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        self._is_drain_due = False
        if not self._edges:
            return
        self._hear_ringing()
        while self._edges:
            self._take(self._machine.edge(*self._edges.popleft()))
        self._wake.set()

    def _hear_ringing(self) -> None:
        self._take(self._machine.set_ringing(self._is_ringing(), self._now()))

    def _lose(self, error: ButtonError) -> None:
        if not self._failures:
            _LOG.warning("the button cannot be used: %s", str(error))
        self._failures += 1
        self._problem = str(error)
        self._button.close()
        self._edges.clear()
        self._take(self._machine.lose(self._now()))

    def _find(self) -> None:
        _LOG.info("the button can be used again")
        self._failures, self._problem = 0, ""

    # ----------------------------------------------------------------------------------------------- telling

    def _take(self, decisions: list[ButtonDecision]) -> None:
        for decision in decisions:
            match decision:
                case Approve(request_id, pressed_at, released_at):
                    self._answer(request_id, HandPress(HandEnding.APPROVED, pressed_at, released_at))
                case Deny(request_id):
                    self._answer(request_id, HandPress(HandEnding.DENIED))
                case Fault():
                    self._answer(self._machine.pending, HandPress(HandEnding.LOST))
            for kind, do in self._handlers:
                if isinstance(decision, kind):
                    self._tell(do, decision)

    def _tell(self, do: Callable[[Any], None], decision: ButtonDecision) -> None:
        """One that breaks must not keep the others from being told: the next decision may be to stop everything."""
        try:
            do(decision)
        except Exception:
            _LOG.exception("what follows %s failed", decision)

    def _show(self) -> None:
        if self._lamp is None or self._is_lamp_broken:
            return
        is_lit = is_on(*self._machine.lamp(self._now()))
        if is_lit == self._is_lit:
            return
        try:
            self._lamp.show(is_lit)
            self._is_lit = is_lit
        except ButtonError as error:
            # As text: a log that kept the error itself would keep half a device alive, and its pin taken.
            _LOG.warning("the lamp of the button does not work: %s", str(error))
            self._is_lamp_broken = True

    def _close(self) -> None:
        """Nothing can be approved from here on; that is no fault to be told."""
        self._machine.lose(self._now())
        self._answer(self._machine.pending, HandPress(HandEnding.LOST))
        if self._lamp is not None:
            self._lamp.close()
        self._button.close()

    def _now(self) -> float:
        return self._clock.monotonic_seconds()
