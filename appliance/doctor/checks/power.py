"""Power and heat of the board: too little voltage, slowed down, too hot."""

from __future__ import annotations

from appliance.doctor.finding import Finding, cannot_tell, fine, wrong
from appliance.ports_doctor import Machine

#: Bits of ``vcgencmd get_throttled``: now, and since the start.
_UNDERVOLTAGE_NOW, _UNDERVOLTAGE_SINCE = 1 << 0, 1 << 16
_THROTTLED_NOW, _THROTTLED_SINCE = (1 << 1) | (1 << 2), (1 << 17) | (1 << 18)
_TAKE_A_SUPPLY = "Use the power supply that is made for this board, and a short cable."
#: Boards slow themselves down from 80 degrees on.
_HOT_CELSIUS = 78.0


def power_supply(machine: Machine) -> Finding:
    """Whether the board gets enough power: asked of the firmware, else of the kernel's alarm."""
    try:
        told = machine.run("vcgencmd", "get_throttled")
    except OSError:
        return _from_alarms(machine)
    word = told.text.rpartition("=")[2]
    if told.code != 0 or not word.startswith("0x"):
        return _from_alarms(machine)
    bits = int(word, 16)
    if bits & (_UNDERVOLTAGE_NOW | _UNDERVOLTAGE_SINCE):
        when = "now" if bits & _UNDERVOLTAGE_NOW else "at times since the start"
        return wrong(f"The board gets too little voltage {when}.", _TAKE_A_SUPPLY)
    if bits & (_THROTTLED_NOW | _THROTTLED_SINCE):
        when = "now" if bits & _THROTTLED_NOW else "at times since the start"
        return wrong(f"The board runs slower than it could {when}.", "Give it a heat sink or a fan.")
    return fine("The board has enough power, and ran at full speed.")


def temperature(machine: Machine) -> Finding:
    """How hot the processor is."""
    readings = []
    for path in machine.find("/sys/class/thermal/thermal_zone*/temp"):
        try:
            readings.append(int(machine.read(path)) / 1000.0)
        except (OSError, ValueError):
            continue
    if not readings:
        return cannot_tell("This machine tells no temperature.")
    if max(readings) > _HOT_CELSIUS:
        return wrong(f"The processor has {max(readings):.0f} °C.", "Give the board air, a heat sink or a fan.")
    return fine(f"The processor has {max(readings):.0f} °C.")


def _from_alarms(machine: Machine) -> Finding:
    """The Raspberry Pi's kernel has a sensor of that name; other machines have none."""
    for path in machine.find("/sys/class/hwmon/hwmon*/in0_lcrit_alarm"):
        try:
            is_low = machine.read(path) == "1"
        except OSError:
            continue
        return (
            wrong("The board gets too little voltage now.", _TAKE_A_SUPPLY) if is_low else fine("The voltage is right.")
        )
    return cannot_tell("This machine does not tell whether it has enough power.")
