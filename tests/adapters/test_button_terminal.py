"""Enter as the button: the same state machine, and no key that is held or text that is typed is taken for a yes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from appliance.adapters.button_terminal import TerminalButton
from appliance.approve.button_rules import Approve, ButtonDecision, Deny, Fault, FaultReason, Mute, StopAll, Talk
from appliance.approve.button_watch import ButtonWatch
from appliance.approve.hand import HandEnding
from appliance.clock import FakeClock


class Terminal:
    """Somebody at the keyboard of a terminal that gives whole lines, as terminals do."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.reading, self._writing = os.pipe()
        self.button = TerminalButton(self.reading, self.clock)
        self.watch = ButtonWatch(self.button, self.clock)
        self.decided: list[ButtonDecision] = []
        for kind in (Approve, Deny, Fault, Mute, StopAll, Talk):
            self.watch.on(kind, self.decided.append)

    async def types(self, line: str, then_seconds: float = 1.1) -> None:
        """A line, with Enter."""
        os.write(self._writing, f"{line}\n".encode())
        await asyncio.sleep(0)
        await self.clock.advance(then_seconds)

    async def holds_enter(self, seconds: float) -> None:
        """The keyboard repeats it, slowly at first; 92 ms is the Linux console."""
        await self.types("", 0.25)
        for _ in range(round((seconds - 0.25) / 0.092)):
            await self.types("", 0.092)
        await self.clock.advance(0.5)

    def hangs_up(self) -> None:
        """The terminal is gone."""
        os.close(self._writing)

    def take(self) -> list[type[ButtonDecision]]:
        """Kinds of what was decided since the last time."""
        taken, self.decided[:] = [type(decision) for decision in self.decided], []
        return taken

    async def ask(self, request_id: str) -> None:
        """A question until a press approves."""
        self.watch.begin(request_id)
        self.watch.arm(request_id)
        await self.clock.advance(1.2)


@pytest.fixture
async def terminal() -> AsyncIterator[Terminal]:
    terminal = Terminal()
    life = asyncio.create_task(terminal.watch.run())
    await terminal.clock.advance(0.5)
    yield terminal
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)
    os.close(terminal.reading)


async def test_enter_talks(terminal: Terminal) -> None:
    await terminal.types("")
    assert terminal.take() == [Talk]


async def test_two_quick_enters_mute(terminal: Terminal) -> None:
    await terminal.types("", 0.3)
    await terminal.types("")
    assert terminal.take() == [Talk, Mute]


async def test_enter_approves_what_is_asked(terminal: Terminal) -> None:
    await terminal.ask("r1")
    await terminal.types("")
    assert (await terminal.watch.answer("r1")).ending is HandEnding.APPROVED


async def test_enter_before_the_question_approves_nothing(terminal: Terminal) -> None:
    terminal.watch.begin("r1")
    terminal.watch.arm("r1")
    await terminal.clock.advance(0.5)
    await terminal.types("", 3.0)
    assert terminal.take() == []


@pytest.mark.parametrize("line", ["no", "n", "stop", "yes"])
async def test_a_line_with_anything_in_it_refuses_and_stops_everything(terminal: Terminal, line: str) -> None:
    await terminal.ask("r1")
    await terminal.types(line, 2.0)
    assert (await terminal.watch.answer("r1")).ending is HandEnding.DENIED
    assert terminal.take() == [Deny, StopAll]


async def test_a_key_that_something_lies_on_since_before_the_question_approves_nothing(terminal: Terminal) -> None:
    holding = asyncio.create_task(terminal.holds_enter(9.0))
    await asyncio.sleep(0)
    terminal.watch.begin("r1")
    terminal.watch.arm("r1")
    await holding
    assert Approve not in terminal.take()


async def test_many_lines_at_once_are_one_press(terminal: Terminal) -> None:
    await terminal.types("\n\n\n\n")
    assert terminal.take() == [Talk]


async def test_a_terminal_that_is_gone_is_a_lost_button(terminal: Terminal) -> None:
    await terminal.ask("r1")
    terminal.hangs_up()
    await asyncio.sleep(0)
    await terminal.clock.advance(0.5)
    assert (await terminal.watch.answer("r1")).ending is HandEnding.LOST
    assert terminal.decided == [Fault(FaultReason.DEAD)]
    assert not terminal.watch.is_usable
    assert "the terminal was closed" in terminal.watch.health
