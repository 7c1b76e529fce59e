"""The board's devices: groups of the user, pins, serial boards, the button, the sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from appliance.doctor.finding import Finding, as_sentence, fine, some_of, wrong
from appliance.ports_doctor import Machine
from appliance.ports_sandbox import WorkerLauncher

#: What a group is good for.
_GROUPS = {"audio": "sound cards", "gpio": "pins", "spi": "lights", "i2c": "servos", "dialout": "serial boards"}
#: What is there only where that group is of use.
_DEVICES = {
    "audio": "/dev/snd/pcm*",
    "gpio": "/dev/gpiochip*",
    "spi": "/dev/spidev*",
    "i2c": "/dev/i2c-*",
    "dialout": "/dev/tty[UA][SC][BM]*",
}


@dataclass(frozen=True)
class ButtonState:
    """How the button is; ``name`` is "" when there is none, ``problem`` "" when it can be used."""

    name: str = ""
    problem: str = ""


def user_groups(machine: Machine) -> Finding:
    """Whether this user may use the devices that are there."""
    if machine.is_root:
        return fine("This runs as root, who may use every device.")
    lacking = [
        group
        for group in _GROUPS
        if group not in machine.groups and any(not machine.may_use(path) for path in machine.find(_DEVICES[group]))
    ]
    if not lacking:
        has = [group for group in _GROUPS if group in machine.groups]
        return fine(f"{machine.user} may use what is there (groups: {some_of(has, 5) or 'none needed'}).")
    uses = some_of([f"{group} ({_GROUPS[group]})" for group in lacking], 5)
    known = [group for group in lacking if group in machine.known_groups]
    if not known:
        return wrong(f"The system has no group {lacking[0]}.", f"Make it: sudo groupadd --system {lacking[0]}")
    return wrong(
        f"{machine.user} is not in the groups {uses}.",
        f"Add it and log in anew: sudo usermod -aG {','.join(known)} {machine.user}",
    )


def gpio_pins(machine: Machine) -> Finding:
    """Which chip has the pins, and whether our library can drive them."""
    chips = machine.find("/dev/gpiochip*")
    try:
        board = machine.read("/proc/device-tree/model")
    except OSError:
        board = ""
    if not chips or "Raspberry Pi" not in board:
        return fine(f"There are no pins of a Raspberry Pi here ({board or 'another kind of machine'}).")
    label = next(filter(None, (_text(machine, path) for path in machine.find("/sys/class/gpio/gpiochip*/label"))), "")
    factory = machine.variable("GPIOZERO_PIN_FACTORY") or "lgpio"
    if factory in ("lgpio", "rpigpio", "pigpio") and not machine.has_module(factory):
        return wrong(f"{board} has pins, but the library {factory} is not installed.", "Install it: ./run setup")
    if not any(machine.may_use(chip) for chip in chips):
        return wrong(
            f"{machine.user} may not use {chips[0]}.", f"Add it and log in anew: sudo usermod -aG gpio {machine.user}"
        )
    return fine(f"The pins of {board} are there ({label or chips[0]}), driven by {factory}.")


def serial_boards(machine: Machine, wanted: str, *, is_used: bool) -> Finding:
    """Serial boards by the names that stay, and whether we may open them."""
    ports = machine.find("/dev/serial/by-id/*") or machine.find("/dev/serial/by-path/*")
    if is_used and wanted.startswith("/") and not machine.find(wanted):
        return wrong(f"The face's port {wanted} is not there.", "Plug the board in, or set face.serial_port anew.")
    if is_used and not wanted and len(ports) > 1:
        return wrong(
            f"There are {len(ports)} serial boards, and nobody said which one is the face.",
            f"Set face.serial_port to one of: {some_of(ports)}",
        )
    if not ports:
        if is_used and not wanted:
            return wrong("A serial face is set, but no board is plugged in.", "Plug it in; some cables only charge.")
        return fine("No serial board is plugged in.")
    closed = [port for port in ports if not machine.may_use(port)]
    if closed:
        return wrong(
            f"{machine.user} may not open {closed[0]}.",
            f"Add it and log in anew: sudo usermod -aG dialout {machine.user}",
        )
    return fine(f"Serial boards: {some_of([port.rpartition('/')[2] for port in ports])}.")


async def button_state(ask: Callable[[], Awaitable[ButtonState]]) -> Finding:
    """Whether the button is wired, and released."""
    state = await ask()
    if not state.name:
        return fine("No button is set: what is risky is refused.")
    if state.problem:
        return wrong(as_sentence(f"{state.name}: {state.problem}"), "Look at its two wires, and whether it sticks.")
    return fine(as_sentence(f"{state.name} is wired and released"))


def sandbox(launchers: Sequence[WorkerLauncher]) -> Finding:
    """Which kind of sandbox plugins get for programs."""
    shelter = next(filter(None, (launcher.examine() for launcher in launchers)), None)
    if shelter is None:
        return wrong(
            "There is no sandbox: plugins cannot run programs.",
            "Install one: sudo apt install bubblewrap; then restart.",
        )
    if not shelter.is_contained:
        return wrong(
            as_sentence(f"The sandbox is weak: {shelter.name}; not protected: {shelter.gaps}"),
            "Install a better one: sudo apt install bubblewrap; then restart.",
        )
    return fine(as_sentence(f"Programs run in {shelter.name}; not protected: {shelter.gaps}"))


def _text(machine: Machine, path: str) -> str:
    try:
        return machine.read(path)
    except OSError:
        return ""
