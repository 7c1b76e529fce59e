"""Switching the machine off, with other commands than the one that does: this machine stays on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from appliance.adapters.power_systemd import SystemdPower
from appliance.errors import PowerError


def python(code: str) -> tuple[str, ...]:
    """A command that does this."""
    return sys.executable, "-c", code


async def test_the_command_is_run_once_and_its_success_is_silent(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    await SystemdPower(python(f"open({str(ran)!r}, 'a').write('off')")).off()
    assert ran.read_text() == "off"


async def test_what_it_complains_about_is_told_with_what_to_do() -> None:
    refused = python("import sys; print('Interactive authentication required.', file=sys.stderr); sys.exit(1)")
    with pytest.raises(PowerError, match=r"Interactive authentication required.*polkit rule"):
        await SystemdPower(refused).off()


async def test_a_command_that_fails_in_silence_is_told_by_its_code() -> None:
    with pytest.raises(PowerError, match="it ended with 3"):
        await SystemdPower(python("raise SystemExit(3)")).off()


async def test_without_systemd_it_says_so() -> None:
    with pytest.raises(PowerError, match=r"no-such-command poweroff cannot be run: .*systemd"):
        await SystemdPower(("no-such-command", "poweroff")).off()


async def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(PowerError, match=r"did not come to an end in 0\.2 s"):
        await SystemdPower(python("import time; time.sleep(60)"), patience_seconds=0.2).off()
