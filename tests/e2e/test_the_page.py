"""Somebody speaks to the box while its owner looks at its page in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Speak
from tests.e2e.device import Device
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.e2e.test_plugin_by_voice import put_album
from tests.panel.browser import chromium, window
from tests.panel.rig import free_port
from tests.sound_server import SoundServer

pytestmark = pytest.mark.sound

_HARBOUR = """
import asyncio

SCHEMA = {
    "type": "function",
    "name": "open_lock",
    "description": "Open the lock for a ship.",
    "parameters": {"type": "object", "properties": {}, "required": []},
}
RISK = "network"
ANNOUNCE = "I am opening the lock."
HEARTBEAT = ["The water is rising."]
COMPLETE = "The lock is open."
FAIL = "The lock is stuck."


async def execute(args, ctx):
    await asyncio.sleep(4)
    return "open"
"""


def test_a_spoken_turn_is_seen_while_it_goes_on_with_its_steps_face_and_pictures(
    sound_server: SoundServer, speak: Speak, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    put_album(home, tmp_path / "photos")
    (home / "plugins" / "harbour.py").write_text(_HARBOUR)
    answers = (
        {"calls": [{"name": "open_lock"}]},
        {"calls": [{"name": "album_browse"}]},
        {"text": "[happily] The lock is open, and here are **your pictures**."},
    )
    question = speak("Okay Nabu. Open the lock.")
    page_is_on = {"APPLIANCE_PANEL_ENABLED": "true", "APPLIANCE_PANEL_PORT": str(free_port())}
    with (
        scripted_model(tmp_path, *answers) as model,
        Device(sound_server, home, {**NO_TONES, **model, **page_is_on}) as device,
    ):
        told = device.command("panel")
        address = told.stdout.split()[-1]
        with chromium() as browser, window(browser, address) as seen:
            page, start = seen.page, len(device.facts)
            sound_server.play(question)
            page.wait_for_selector(".steps li.going:has-text('open lock')", timeout=60_000)
            assert page.get_attribute(".face", "data-mood") == "thinking"
            page.wait_for_selector(".steps li.green:has-text('open lock')", timeout=60_000)
            page.wait_for_selector(".face[data-mood=happy]", timeout=60_000)
            device.wait_for("TurnEnded", behind=start)
            assert "open the lock" in page.inner_text(".talk .person").lower()
            assert "I am opening the lock." in page.inner_text(".talk")
            seen.go("chats")
            page.wait_for_selector(".gallery .tile img[src^='blob:']")
            tiles = page.locator(".gallery .tile")
            assert [tile.inner_text().strip() for tile in tiles.all()] == ["1. beach", "2. forest"]
            tiles.first.click()
            page.wait_for_selector("dialog.lightbox img[src^='blob:']")
            page.keyboard.press("Escape")
            assert page.inner_text(".turns strong") == "your pictures"
            assert not seen.complaints
            assert all(
                asked.startswith(("blob:", f"http://localhost:{page_is_on['APPLIANCE_PANEL_PORT']}/"))
                for asked in seen.asked
            )
        assert "ssh -L" in told.stdout
        token = address.partition("#")[2]
        assert token not in device.complaints and token not in json.dumps(device.facts)


def test_without_the_setting_nothing_listens_and_the_command_says_how_to_switch_it_on(
    sound_server: SoundServer, tmp_path: Path
) -> None:
    with Device(sound_server, tmp_path / "home", NO_TONES) as device:
        told = device.command("panel")
    assert told.returncode == 78
    assert "panel.enabled" in told.stderr
