"""A page that is off costs nothing, and one that cannot be had is no reason to be no device."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.cli.run_panel import panel_of
from appliance.config import load
from appliance.errors import ConfigError
from appliance.home import Home
from appliance.wiring import Sound, credentials_of, open_box
from tests.panel.rig import free_port, told
from tests.panel.served import served_box

_LOOK = """
import asyncio, sys
import appliance.cli.run
from appliance.cli.run_panel import panel_of
from appliance.config import load
async def main():
    async with panel_of(None, load(None, {}), {}):
        pass
asyncio.run(main())
heavy = [name for name in sys.modules if name.split(".")[0] in ("starlette", "uvicorn", "h11")]
ours = [name for name in sys.modules if name.startswith("appliance.panel.") and name != "appliance.panel.config"]
print(heavy + ours)
"""


def test_off_nothing_of_it_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


async def test_a_port_that_somebody_has_is_said_and_the_box_lives_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home, port = Home(tmp_path), free_port()
    config = load(None, {"APPLIANCE_PANEL_ENABLED": "true", "APPLIANCE_PANEL_PORT": str(port)})
    async with (
        open_box(home, config, credentials_of(home), Sound.NONE) as box,
        panel_of(box, config, {"tool.run": told({})}) as first,
        panel_of(box, config, {"tool.run": told({})}) as second,
    ):
        assert "#" in (await first["panel.address"]({}, None))["address"]  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=r"choose another as panel\.port"):
            await second["panel.address"]({}, None)  # type: ignore[arg-type]
    assert str(port) in caplog.text and logging.ERROR in {record.levelno for record in caplog.records}


def test_it_ends_with_the_box_even_while_somebody_looks(tmp_path: Path) -> None:
    import httpx

    with httpx.Client(trust_env=False, timeout=30) as browser:
        with served_box(tmp_path / "home") as served:
            base, _, token = served.address.partition("#")
            with browser.stream("GET", base + "events", headers={"X-Panel-Token": token}) as events:
                assert next(events.iter_lines()) == ": open"
        with pytest.raises(httpx.TransportError):
            browser.get(base)
