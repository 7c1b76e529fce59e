"""Button and lamp on pins: gpiozero's mock pins drive the real adapter, end to end into the state machine."""

from __future__ import annotations

import asyncio
import os
import sys
import types
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from appliance.adapters.button_gpio import GpioButton, GpioLamp, GpioPins, Level, Pull
from appliance.approve.button_rules import ButtonDecision, Fault, FaultCleared, FaultReason, Talk
from appliance.approve.button_watch import ButtonWatch
from appliance.approve.hand import HandEnding
from appliance.clock import FakeClock, settle
from appliance.errors import ButtonError


class FragilePin(MockPin):  # type: ignore[misc]
    """A pin whose board can go away."""

    is_gone = False

    def _get_state(self) -> bool:
        if FragilePin.is_gone:
            raise OSError(19, "No such device")
        return bool(super()._get_state())

    def _set_state(self, value: float) -> None:
        if FragilePin.is_gone:
            raise OSError(19, "No such device")
        super()._set_state(value)


@pytest.fixture
def factory() -> Iterator[MockFactory]:
    FragilePin.is_gone = False
    factory = MockFactory(pin_class=FragilePin)
    yield factory
    FragilePin.is_gone = False
    factory.close()
    factory.reset()


class Board:
    """A button to ground on GPIO17, its lamp on GPIO27, and a finger."""

    def __init__(self, factory: MockFactory, folder: Path) -> None:
        self.clock = FakeClock()
        self.pins = GpioPins(folder, factory)
        self.button = GpioButton(self.pins, "GPIO17", self.clock)
        self.lamp = GpioLamp(self.pins, "GPIO27")
        self.switch = factory.pin("GPIO17")
        self.light = factory.pin("GPIO27")
        self.decided: list[ButtonDecision] = []
        self.watch = ButtonWatch(self.button, self.clock, lamp=self.lamp)
        for kind in (Talk, Fault, FaultCleared):
            self.watch.on(kind, self.decided.append)

    async def until_open(self) -> None:
        """The pin is opened on a thread, which no clock of ours moves."""
        while not self.button.is_present:
            await settle()
        await self.clock.advance(0.5)

    async def press(self, seconds: float = 0.15) -> None:
        self.switch.drive_low()
        await self.clock.advance(seconds)
        self.switch.drive_high()
        await self.clock.advance(0.8)


@pytest.fixture
async def board(factory: MockFactory, tmp_path: Path) -> AsyncIterator[Board]:
    """Watched."""
    board = Board(factory, tmp_path)
    life = asyncio.create_task(board.watch.run())
    await board.until_open()
    yield board
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)


# -------------------------------------------------------------------------------------- the adapter alone


@pytest.mark.parametrize(
    ("pull", "pressed_is"), [("up", "low"), ("up", "high"), ("down", "high"), ("down", "low"), ("none", "low")]
)
async def test_pressed_is_pressed_however_it_is_wired(
    factory: MockFactory, tmp_path: Path, pull: Pull, pressed_is: Level
) -> None:
    edges: list[bool] = []
    button = GpioButton(GpioPins(tmp_path, factory), "GPIO17", FakeClock(), pull=pull, pressed_is=pressed_is)
    pin = factory.pin("GPIO17")
    press, release = (pin.drive_low, pin.drive_high) if pressed_is == "low" else (pin.drive_high, pin.drive_low)
    button.listen(lambda is_pressed, _at: edges.append(is_pressed))
    await button.open()
    assert pin.pull == {"up": "up", "down": "down", "none": "floating"}[pull]
    release()
    edges.clear()
    press()
    assert button.sample()
    release()
    assert not button.sample()
    press()
    assert edges == [True, False, True]
    button.close()


async def test_edges_carry_the_time_of_our_clock(factory: MockFactory, tmp_path: Path) -> None:
    clock = FakeClock()
    edges: list[tuple[bool, float]] = []
    button = GpioButton(GpioPins(tmp_path, factory), "17", clock)
    button.listen(lambda is_pressed, at: edges.append((is_pressed, at)))
    await button.open()
    pin = factory.pin(17)
    await clock.advance(1.0)
    pin.drive_low()
    await clock.advance(0.25)
    pin.drive_high()
    assert edges == [(True, 1001.0), (False, 1001.25)]
    button.close()


async def test_gpiozero_swallows_no_bounce(factory: MockFactory, tmp_path: Path) -> None:
    edges: list[bool] = []
    button = GpioButton(GpioPins(tmp_path, factory), "GPIO17", FakeClock())
    button.listen(lambda is_pressed, _at: edges.append(is_pressed))
    await button.open()
    pin = factory.pin("GPIO17")
    for _ in range(20):
        pin.drive_low()
        pin.drive_high()
    assert len(edges) == 40
    assert pin.bounce is None
    button.close()


async def test_closed_it_tells_nothing_and_the_pin_is_free_again(factory: MockFactory, tmp_path: Path) -> None:
    edges: list[bool] = []
    button = GpioButton(GpioPins(tmp_path, factory), "GPIO17", FakeClock())
    button.listen(lambda is_pressed, _at: edges.append(is_pressed))
    await button.open()
    button.close()
    button.close()
    assert not button.is_present
    factory.pin("GPIO17").drive_low()
    assert edges == []
    with pytest.raises(ButtonError, match="not open"):
        button.sample()
    await button.open()
    assert button.is_present
    button.close()


@pytest.mark.parametrize("pin", ["GPIO99", "the red one", "GPIO2"])
async def test_a_pin_that_cannot_be_a_button_is_named_with_its_setting(
    factory: MockFactory, tmp_path: Path, pin: str
) -> None:
    """GPIO2 has a resistor of its own, which pulls up."""
    button = GpioButton(GpioPins(tmp_path, factory), pin, FakeClock(), pull="down")
    with pytest.raises(ButtonError, match=rf"pin {pin} cannot be used: .*\[button\]"):
        await button.open()
    assert not button.is_present


async def test_one_pin_cannot_be_button_and_lamp(factory: MockFactory, tmp_path: Path) -> None:
    pins = GpioPins(tmp_path, factory)
    button, lamp = GpioButton(pins, "GPIO17", FakeClock()), GpioLamp(pins, "GPIO17")
    await button.open()
    with pytest.raises(ButtonError, match="pin GPIO17 cannot be used"):
        lamp.show(True)
    button.close()


# --------------------------------------------------------------------------------- which backend: by name, or lgpio


@pytest.fixture
def named_backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """gpiozero chooses once in a process; afterwards it is as if it never had."""
    from gpiozero import Device

    monkeypatch.setattr(Device, "pin_factory", None)
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    yield
    if Device.pin_factory is not None:
        Device.pin_factory.close()
        Device.pin_factory.reset()


@pytest.mark.usefixtures("named_backend")
async def test_a_backend_that_is_named_to_gpiozero_is_taken_and_stays_open(tmp_path: Path) -> None:
    from gpiozero import Device

    button = GpioButton(GpioPins(tmp_path), "GPIO17", FakeClock())
    for _ in range(2):
        await button.open()
        assert isinstance(Device.pin_factory, MockFactory)
        Device.pin_factory.pin("GPIO17").drive_low()
        assert button.sample()
        button.close()


@pytest.mark.usefixtures("named_backend")
async def test_a_backend_that_does_not_exist_is_told_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "steam")
    with pytest.raises(ButtonError, match="GPIOZERO_PIN_FACTORY=steam cannot be used"):
        await GpioButton(GpioPins(tmp_path), "GPIO17", FakeClock()).open()


async def test_without_lgpio_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LG_WD", "set by somebody else")
    monkeypatch.setitem(sys.modules, "lgpio", None)
    monkeypatch.delitem(sys.modules, "gpiozero.pins.lgpio", raising=False)
    button = GpioButton(GpioPins(tmp_path), "GPIO17", FakeClock())
    with pytest.raises(ButtonError, match="needs the library lgpio, which is not installed"):
        await button.open()
    assert os.environ["LG_WD"] == "set by somebody else"


@pytest.fixture
def broken_lgpio(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A backend that loads, and finds no board; ``folders`` is where it would have put its pipe."""
    found: dict[str, Any] = {"folders": []}

    class LGPIOFactory:
        def __init__(self) -> None:
            found["folders"].append(os.environ["LG_WD"])
            raise RuntimeError("unable to locate Pi revision")

    module = types.ModuleType("gpiozero.pins.lgpio")
    module.LGPIOFactory = LGPIOFactory  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", module)
    monkeypatch.delenv("LG_WD", raising=False)
    return found


async def test_on_a_machine_that_is_no_board_it_says_so(tmp_path: Path, broken_lgpio: dict[str, Any]) -> None:
    button = GpioButton(GpioPins(tmp_path), "GPIO17", FakeClock())
    with pytest.raises(ButtonError, match=r"unable to locate Pi revision\. It must be a Raspberry Pi"):
        await button.open()
    assert broken_lgpio["folders"] == [str(tmp_path)], "lgpio's pipe must not land in the current folder"
    os.environ.pop("LG_WD")


async def test_without_pins_nothing_can_be_approved_and_it_is_told_once(
    tmp_path: Path, broken_lgpio: dict[str, Any]
) -> None:
    clock = FakeClock()
    pins = GpioPins(tmp_path)
    watch = ButtonWatch(GpioButton(pins, "GPIO17", clock), clock, lamp=GpioLamp(pins, "GPIO27"))
    told: list[Fault] = []
    watch.on(Fault, told.append)
    life = asyncio.create_task(watch.run())
    while len(broken_lgpio["folders"]) < 4:  # Opening is tried on a thread.
        await clock.advance(0.1)
    assert told == [Fault(FaultReason.DEAD)]
    assert not watch.is_usable
    assert "the pins of this board cannot be opened" in watch.health
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)
    os.environ.pop("LG_WD", None)


# ---------------------------------------------------------------------------------- into the state machine


async def test_a_press_on_the_pin_talks(board: Board) -> None:
    await board.press()
    assert board.decided == [Talk()]


async def test_a_press_on_the_pin_approves(board: Board) -> None:
    board.watch.begin("r1")
    board.watch.arm("r1")
    await board.clock.advance(1.1)
    await board.press()
    assert (await board.watch.answer("r1")).ending is HandEnding.APPROVED


async def test_bouncing_contacts_on_the_pin_approve_once(board: Board) -> None:
    for request_id in ("r1", "r2"):
        board.watch.begin(request_id)
        board.watch.arm(request_id)
        await board.clock.advance(1.7)
        for milliseconds in (2.0, 5.0, 11.0, 8.0, 3.0):
            board.switch.drive_low()
            await board.clock.advance(milliseconds / 1000.0)
            board.switch.drive_high()
            await board.clock.advance(0.006)
        await board.press(0.2)
        assert (await board.watch.answer(request_id)).ending is HandEnding.APPROVED


async def test_held_while_it_was_opened_its_release_is_no_press(factory: MockFactory, tmp_path: Path) -> None:
    board = Board(factory, tmp_path)
    button, clock = board.button, board.clock
    life = asyncio.create_task(board.watch.run())
    # Pressed before anybody looked: opening pulls the pin up, so the finger comes back at once.
    while not button.is_present:
        await asyncio.sleep(0)
        if board.switch.state and board.switch.function == "input":
            board.switch.drive_low()
    await clock.advance(0.3)
    assert board.decided == [Fault(FaultReason.STUCK)]
    board.watch.begin("r1")
    assert (await board.watch.answer("r1")).ending is HandEnding.LOST
    board.switch.drive_high()
    await clock.advance(1.5)
    assert board.decided == [Fault(FaultReason.STUCK), FaultCleared()]
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)


async def test_the_board_goes_away_while_a_request_is_pending_and_comes_back(board: Board) -> None:
    board.watch.begin("r1")
    board.watch.arm("r1")
    await board.clock.advance(1.1)
    FragilePin.is_gone = True
    await board.clock.advance(0.1)
    assert (await board.watch.answer("r1")).ending is HandEnding.LOST
    assert board.decided == [Fault(FaultReason.DEAD)]
    assert "cannot be read any more" in board.watch.health
    board.watch.end("r1")

    FragilePin.is_gone = False
    await board.clock.advance(1.0)
    await board.until_open()
    await board.clock.advance(1.5)
    assert board.watch.is_usable
    await board.press()
    assert board.decided == [Fault(FaultReason.DEAD), FaultCleared(), Talk()]


async def test_the_lamp_blinks_on_its_pin_and_is_dark_at_the_end(board: Board) -> None:
    board.light.clear_states()
    board.watch.begin("r1")
    board.watch.arm("r1")
    await board.clock.advance(1.2)
    before = len(board.light.states)
    await board.clock.advance(2.0)
    assert len(board.light.states) - before == 8, "two blinks a second"
    await board.press()
    await board.clock.advance(2.0)
    assert board.light.state == 0


async def test_the_lamp_comes_back_with_the_board(board: Board) -> None:
    FragilePin.is_gone = True
    await board.clock.advance(0.3)
    FragilePin.is_gone = False
    await board.clock.advance(1.0)
    await board.until_open()
    await board.clock.advance(2.0)
    board.light.clear_states()
    board.watch.begin("r1")
    await board.clock.advance(0.5)
    assert board.light.state == 1
