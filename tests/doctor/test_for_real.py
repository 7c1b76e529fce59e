"""The doctor on a real sound server: level, frames per second and the echo of a chirp, with and without a device."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.test_record import contents
from tests.e2e.device import PATIENCE_SECONDS, Device
from tests.sound_server import SoundServer

pytestmark = pytest.mark.sound

SAID = "my aunt Wilhelmina"
SECRETS = {"OPENAI_API_KEY": "sk-canary-0123456789", "WEATHER_TOKEN": "canary-token-4711"}
CHECKS = ("sound.devices", "sound.frames", "sound.level", "sound.channels", "sound.dropouts", "sound.echo")


def appliance(server: SoundServer, home: Path, *words: str) -> str:
    """What a command prints."""
    ran = subprocess.run(
        [sys.executable, "-m", "appliance.cli.main", *words],
        env={**server.environment, **SECRETS, "APPLIANCE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.stdout, ran.stderr
    return ran.stdout


def examined(server: SoundServer, home: Path, *options: str) -> tuple[dict[str, Any], bool]:
    """What ``appliance doctor`` finds about sound, by check, and whether a running device was asked."""
    told = json.loads(appliance(server, home, "doctor", "--json", *options, *CHECKS))
    return {finding["check"]: finding for finding in told["findings"]}, told["is_running"]


def check_sound(found: dict[str, Any]) -> None:
    """A virtual microphone gives perfect silence, and hears the virtual speaker exactly as loud as it plays."""
    assert found["sound.devices"]["verdict"] == "fine"
    assert found["sound.frames"]["verdict"] == "fine", found["sound.frames"]
    assert found["sound.level"]["verdict"] == "wrong" and "hears nothing" in found["sound.level"]["sentence"]
    loss = re.search(r"echo loss (-?\d+) dB", found["sound.echo"]["sentence"])
    assert loss is not None, found["sound.echo"]
    assert abs(int(loss[1])) <= 2


def test_a_box_that_does_not_run_is_examined_from_outside(sound_server: SoundServer, tmp_path: Path) -> None:
    with sound_server.echo(late_seconds=0.1):
        found, is_running = examined(sound_server, tmp_path / "home")
    assert not is_running
    check_sound(found)


def test_a_running_box_examines_itself_and_goes_on(sound_server: SoundServer, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Device(sound_server, home, SECRETS) as device, sound_server.echo(late_seconds=0.1):
        appliance(sound_server, home, "ask", "--text", f"tell me about {SAID}")
        archive = tmp_path / "help.tar.gz"
        found, is_running = examined(sound_server, home, "--record", "--out", str(archive))
        assert is_running
        check_sound(found)
        assert not [fact for fact in device.facts if fact["event"] == "ErrorRaised"]
    told = contents(archive)
    assert json.loads(told["plugins.json"]) and json.loads(told["turns.json"])
    assert json.loads(told["status.json"])["microphone"] == "default"
    assert "fine        sound.frames" in told["findings.txt"]
    for secret in (SAID, *SECRETS.values()):
        assert secret not in "".join(told.values())
