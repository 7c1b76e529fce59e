"""A change beside a device that misbehaves in the middle of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.control import FakeControl
from appliance.control import Caller, Control
from appliance.errors import ApplianceError
from appliance.service_installs import Done, Installs, Live
from tests.install.rig import Manager, tides


class Device:
    """Loads what the test says."""

    def __init__(self, manager: Manager, **says: Any) -> None:
        self._manager = manager
        #: What the live plugin says -> its row, or the error of the device.
        self._says = says
        self.control = FakeControl({"plugin.reload": self._reload})

    async def _reload(self, params: Mapping[str, Any], _caller: Caller) -> Any:
        found = self._says.get(self._manager.said_by(params["name"]))
        if isinstance(found, ApplianceError):
            raise found
        return found

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Control]:
        """As the running one."""
        yield self.control


def row(*, is_on: bool = True, is_loaded: bool = True, problems: tuple[str, ...] = (), withheld: str = "") -> Any:
    return {
        "is_on": is_on,
        "is_loaded": is_loaded,
        "problems": problems,
        "tools": ["tides"] if is_loaded else [],
        "withheld": withheld,
    }


@pytest.fixture
def manager(tmp_path: Path) -> Manager:
    """With the plugin as it was."""
    made = Manager(tmp_path / "home")
    made.install(tides(tmp_path, "one"), enable=True)
    return made


def update(manager: Manager, tmp_path: Path, device: Device) -> Done:
    """To the second version."""

    async def carry_out() -> Done:
        with manager.at_work():
            change = manager.prepare(manager.look_at(str(tides(tmp_path, "two"))))
            return await Installs(manager, device.opened).carry_out(change)

    return asyncio.run(carry_out())


def test_what_loads_stays(manager: Manager, tmp_path: Path) -> None:
    done = update(manager, tmp_path, Device(manager, two=row()))
    assert (done.live, done.tools, done.why) == (Live.LOADED, ("tides",), "")
    assert manager.said_by("tides") == "two"


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (row(is_loaded=False, problems=("tides.py: it is not loaded: no",)), "tides.py: it is not loaded: no"),
        (row(problems=("more.py: it is not loaded: no", "a remark")), "more.py: it is not loaded: no"),
        (None, "nothing in it offers a tool"),
        (ApplianceError("the device stopped before it had answered"), "the device stopped before it had answered"),
    ],
)
def test_what_does_not_load_is_put_back_with_the_reason(
    manager: Manager, tmp_path: Path, broken: Any, why: str
) -> None:
    device = Device(manager, one=row(), two=broken)
    done = update(manager, tmp_path, device)
    assert (done.live, done.why, done.is_installed) == (Live.PUT_BACK, why, True)
    assert manager.said_by("tides") == "one" and manager.verify()[0].state == "pinned"
    assert [method for method, _ in device.control.calls] == ["plugin.reload"] * 2
    with manager.at_work():
        assert manager.look_at(str(tmp_path / "two" / "tides")).was_rolled_back
    assert not list((manager.places.previous / "tides").glob("*")), "the one that does not work is not kept"


def test_a_device_that_loads_neither_is_told_with_both_reasons(manager: Manager, tmp_path: Path) -> None:
    done = update(manager, tmp_path, Device(manager, two=None))
    assert done.why == (
        "nothing in it offers a tool; loading it as it was did not work either: nothing in it offers a tool"
    )
    assert manager.said_by("tides") == "one"


def test_a_remark_is_no_failure(manager: Manager, tmp_path: Path) -> None:
    done = update(manager, tmp_path, Device(manager, two=row(problems=("its tool x is long",))))
    assert done.live is Live.LOADED


def test_safe_mode_is_no_failure(manager: Manager, tmp_path: Path) -> None:
    out = row(is_loaded=False, problems=("it is not loaded in safe mode",), withheld="safe mode")
    assert update(manager, tmp_path, Device(manager, two=out)).live is Live.SAFE_MODE
    assert manager.said_by("tides") == "two"
