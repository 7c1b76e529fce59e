"""Fixtures that several adapter tests share."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.adapters.control_socket import ControlSocket
from appliance.clock import FakeClock
from appliance.network.classifier import Classifier
from appliance.network.door import Door
from appliance.network.lane_client import LaneClient
from tests.adapters.control_rig import Device


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run" / "control.sock"


@pytest.fixture
async def device(file: Path) -> AsyncIterator[Device]:
    device = Device()
    async with ControlSocket(file, device.handlers):
        yield device
    gc.collect()  # A connection that was left open would warn here, and warnings are errors.


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    made = Door(LaneClient(Classifier()))
    yield made
    await made.close()
