"""The service: installed, running, how it last crashed, safe mode."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from appliance.clock import Clock
from appliance.crash_file import crash_files
from appliance.doctor.finding import Finding, cannot_tell, fine, wrong
from appliance.ports_doctor import Machine

_UNIT = "appliance.service"
#: An older crash is history.
_RECENT = timedelta(days=1)
#: A line of a stack, as Python and its faulthandler write it.
FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+),? in (?P<function>\S+)')
_PLUGIN = re.compile(r"/plugins/([^/]+)/")
_LONGEST_BYTES = 200_000


@dataclass(frozen=True)
class Crash:
    """The last one: when, in whose code; ``plugin`` is "" when it was ours."""

    at: datetime
    frame: str
    plugin: str = ""


def service_installed(machine: Machine, *, is_service: bool) -> Finding:
    """Whether the box starts by itself."""
    if not is_service:
        return fine("The box is not installed as a service; ./run starts it.")
    try:
        state = machine.run("systemctl", "is-enabled", _UNIT).text
    except OSError:
        return cannot_tell("There is no systemd here to ask about the service.")
    if state == "enabled":
        return fine("The service is installed, and starts with the machine.")
    return wrong(f"The service does not start with the machine ({state}).", f"sudo systemctl enable --now {_UNIT}")


def service_running(machine: Machine, *, is_service: bool, is_running: bool) -> Finding:
    """Whether it runs, where it should."""
    if is_running:
        return fine("The box runs.")
    if not is_service:
        return fine("The box does not run; appliance run starts it.")
    try:
        state = machine.run("systemctl", "is-active", _UNIT).text
    except OSError:
        state = "unknown"
    return wrong(f"The service does not run ({state}).", f"sudo systemctl restart {_UNIT}; then: appliance logs")


def last_crash(folder: Path, clock: Clock) -> Finding:
    """When the box last crashed, and in whose code."""
    crash = find_crash(folder)
    if crash is None:
        return fine("No crash is on record.")
    whose = f"in the plugin {crash.plugin}" if crash.plugin else "in the box itself"
    said = f"The last crash was on {crash.at:%Y-%m-%d at %H:%M}, {whose} ({crash.frame})."
    if clock.now() - crash.at > _RECENT:
        return fine(said)
    if crash.plugin:
        return wrong(said, f"Switch it off, or take another version: appliance plugin disable {crash.plugin}")
    return wrong(said, "Report it with: appliance doctor --record")


def safe_mode(why: str) -> Finding:
    """Whether the owner's plugins are left out."""
    if why:
        return wrong(
            f"Safe mode is on, so your plugins are not loaded: {why}.",
            "Switch off the plugin that you added last, then: appliance plugin safe-mode off",
        )
    return fine("Safe mode is off.")


def find_crash(folder: Path) -> Crash | None:
    """The newest stack in a folder; None when there is none."""
    files = [path for path in crash_files(folder) if path.stat().st_size]
    if not files:
        return None
    newest = files[-1]
    with newest.open(encoding="utf-8", errors="replace") as file:
        text = file.read(_LONGEST_BYTES)
    frames = list(FRAME.finditer(text))
    if "most recent call last" in text:
        frames.reverse()
    plugin = next((found[1] for frame in frames if (found := _PLUGIN.search(frame["file"]))), "")
    top = frames[0] if frames else None
    words = f"{Path(top['file']).name} line {top['line']} in {top['function']}" if top else newest.name
    return Crash(datetime.fromtimestamp(newest.stat().st_mtime, UTC).astimezone(), words, plugin)
