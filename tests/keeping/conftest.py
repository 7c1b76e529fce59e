"""A home that somebody has lived in."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from appliance.home import Home
from tests.keeping.home_of_an_owner import live_in


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Chats, secrets, plugins, settings."""
    made = Home(tmp_path / "box" / "home")
    asyncio.run(live_in(made))
    return made
