"""Clock and journal."""

from __future__ import annotations

from appliance.clock import Clock
from appliance.doctor.finding import Finding, cannot_tell, fine, wrong
from appliance.ports_doctor import Machine


def clock_is_set(clock: Clock, machine: Machine) -> Finding:
    """Whether anything has set the clock since the start."""
    now = f"{clock.now():%Y-%m-%d %H:%M}"
    if not clock.is_trusted():
        return wrong(
            f"The clock is not set; it shows {now}. Alarms wait, and TLS may fail.",
            "Bring the box online; then see: timedatectl status",
        )
    try:
        told = machine.run("timedatectl", "show", "--property=NTPSynchronized", "--value")
    except OSError:
        return fine(f"The clock shows {now}; nothing here tells whether it is kept right.")
    if told.code == 0 and told.text == "no":
        return wrong(f"The clock shows {now} and is not kept right.", "Switch that on: sudo timedatectl set-ntp true")
    return fine(f"The clock shows {now}.")


def journal_lasts(machine: Machine) -> Finding:
    """Whether the log survives a restart; on a Raspberry Pi it is kept in memory on purpose."""
    if machine.find("/var/log/journal/*"):
        return fine("The journal is kept on the disk.")
    if machine.find("/run/log/journal/*"):
        return fine("The journal is in memory and ends with a restart, which spares the card; crashes are kept apart.")
    return cannot_tell("There is no systemd journal here.", "Look at what the box prints: appliance run")
