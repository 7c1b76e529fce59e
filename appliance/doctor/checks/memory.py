"""Memory: how much is free, where swap goes, whether limits hold, and 64 bits."""

from __future__ import annotations

import re

from appliance.doctor.finding import Finding, cannot_tell, fine, wrong
from appliance.ports_doctor import Machine

_LEAST_AVAILABLE_KILOBYTES = 150_000


def memory_room(machine: Machine) -> Finding:
    """Whether enough memory is left."""
    told = dict(re.findall(r"^(\w+):\s+(\d+)", machine.read("/proc/meminfo"), re.MULTILINE))
    available, total = int(told.get("MemAvailable", 0)), int(told.get("MemTotal", 0))
    said = f"{available / 1000:.0f} of {total / 1000:.0f} MB of memory are free"
    if available < _LEAST_AVAILABLE_KILOBYTES:
        return wrong(f"Only {said}.", "See what takes it, and end that: top -o %MEM")
    return fine(f"{said}.")


def swap_on_card(machine: Machine) -> Finding:
    """Swapping to an SD card wears it out and makes the box stutter."""
    lines = machine.read("/proc/swaps").splitlines()[1:]
    on_card = [line.split()[0] for line in lines if line and not line.startswith("/dev/zram")]
    if any(path.startswith("/dev/mmcblk") for path in on_card) or (on_card and _is_root_on_card(machine)):
        return wrong(
            f"Swap is on the card ({on_card[0]}), which wears it out.", "Switch it off: sudo dphys-swapfile uninstall"
        )
    return fine("There is no swap on a card.")


def memory_controller(machine: Machine) -> Finding:
    """Whether the kernel holds programs to their memory limits; Raspberry Pi kernels start without that."""
    try:
        controllers = machine.read("/sys/fs/cgroup/cgroup.controllers").split()
    except OSError:
        return cannot_tell("This system has no unified control groups.")
    if "memory" in controllers:
        return fine("The kernel can limit the memory of programs.")
    return wrong(
        "The kernel does not limit the memory of programs, so MemoryMax of the service does nothing.",
        "Add cgroup_enable=memory to the line in /boot/firmware/cmdline.txt, and restart.",
    )


def pointer_bits(machine: Machine) -> Finding:
    """Speech runs on 64 bits only in good time."""
    if machine.pointer_bits == 64:
        return fine("The system has 64 bits.")
    return wrong(
        "The system has 32 bits: speech is slow, or does not run.", "Write a 64-bit Raspberry Pi OS to the card."
    )


def _is_root_on_card(machine: Machine) -> bool:
    mounts = machine.read("/proc/mounts").splitlines()
    return any(line.startswith("/dev/mmcblk") and line.split()[1] == "/" for line in mounts)
