"""Who has the sound cards: a sound server and whose it is, or programs that took a card for themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from appliance.doctor.finding import Finding, cannot_tell, fine, some_of, wrong
from appliance.ports_doctor import Machine, Program

#: Names of the processes, the one that plays for others first.
_SERVERS = {"pipewire-pulse": "PipeWire", "pipewire": "PipeWire", "pulseaudio": "PulseAudio"}
_OWNER = re.compile(r"owner_pid\s*:\s*(\d+)")


def sound_server(machine: Machine) -> Finding:
    """Which sound server runs and whether it is this user's."""
    servers = [program for program in machine.programs() if program.name in _SERVERS]
    if not servers:
        return fine("There is no sound server: the box uses ALSA directly.")
    own = [server for server in servers if server.user == machine.user]
    if own or _is_reachable(machine):
        named = _SERVERS[(own or servers)[0].name]
        return fine(f"{named} has the sound, and this user ({machine.user}) can use it.")
    server = servers[0]
    return wrong(
        f"{_SERVERS[server.name]} has the sound and belongs to the user {server.user}; the box runs as {machine.user}.",
        f"Run the box as {server.user} (the user unit), or end the server there: "
        "systemctl --user disable --now pipewire.socket pulseaudio.socket",
    )


def sound_owner(machine: Machine) -> Finding:
    """Which program holds a card that is not shared."""
    cards = _cards(machine)
    if not cards:
        return cannot_tell("The system lists no sound card of its own.", "Plug one in, or see appliance devices.")
    programs = {program.pid: program for program in machine.programs()}
    in_use = list(_in_use(machine))
    holders = {programs[use.pid] for use in in_use if use.pid in programs}
    holders |= {program for program, _ in machine.holders("/dev/snd/pcm")}
    strangers = [program for program in sorted(holders, key=lambda one: one.pid) if not _is_welcome(program, machine)]
    if strangers:
        names = some_of([f"{one.name} (process {one.pid} of {one.user})" for one in strangers])
        return wrong(f"A sound card is held by {names}.", f"End it: sudo kill {strangers[0].pid}")
    return fine(f"No other program holds a sound card ({some_of(cards)}).")


@dataclass(frozen=True)
class _Use:
    device: str
    pid: int


def _cards(machine: Machine) -> list[str]:
    try:
        lines = machine.read("/proc/asound/cards").splitlines()
    except OSError:
        return []
    return [line.rpartition("]:")[2].strip() for line in lines if "]:" in line]


def _in_use(machine: Machine) -> Iterator[_Use]:
    for path in machine.find("/proc/asound/card*/pcm*/sub*/status"):
        try:
            owner = _OWNER.search(machine.read(path))
        except OSError:
            continue
        if owner:
            yield _Use(path, int(owner[1]))


def _is_welcome(program: Program, machine: Machine) -> bool:
    """A sound server shares; and the box itself is no stranger."""
    return program.name in _SERVERS or program.name == "wireplumber" or _is_ours(program, machine)


def _is_ours(program: Program, machine: Machine) -> bool:
    try:
        return "appliance" in machine.read(f"/proc/{program.pid}/cmdline")
    except OSError:
        return False


def _is_reachable(machine: Machine) -> bool:
    """Whether a server's door is open to this user."""
    if server := machine.variable("PULSE_SERVER"):
        return not server.startswith("unix:") or machine.may_use(server.removeprefix("unix:"))
    folder = machine.variable("XDG_RUNTIME_DIR")
    doors = [f"{folder}/pulse/native", f"{folder}/pipewire-0"] if folder else []
    doors += ["/run/pulse/native", "/var/run/pulse/native"]
    return any(machine.find(door) and machine.may_use(door) for door in doors)
