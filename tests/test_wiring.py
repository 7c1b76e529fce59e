"""What the wiring decides: which machine a hand on the button may switch off."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.config import load
from appliance.home import Home
from appliance.wiring import _power


@pytest.mark.parametrize(
    ("shuts_down", "is_service", "may"),
    [
        ("", True, True),
        ("", False, False),
        ("always", False, True),
        ("never", True, False),
    ],
)
def test_only_an_installed_box_switches_its_machine_off_unless_the_owner_says_otherwise(
    tmp_path: Path, shuts_down: str, is_service: bool, may: bool
) -> None:
    config = load(None, {}, {"button.shuts_down": shuts_down} if shuts_down else {})
    assert (_power(config, Home(tmp_path, is_service=is_service)) is not None) is may
