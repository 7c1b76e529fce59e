"""Fixtures for the tests of a plugin: ``plugin``, ``model``, ``network``, ``clock``, ``ctx``.

The plugin is the one given with ``--plugin``, else the folder around the ``tests`` folder of the test.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from appliance.clock import FakeClock
from appliance.contracts.kotoba.context import Approval, ToolContext, make_context
from appliance.testing.scripts import ScriptedModel, ScriptedNetwork
from appliance.testing.under_test import PluginUnderTest
from appliance.tools.tool import CallContext, Verdict
from appliance.turn import Turn


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--plugin``."""
    parser.addoption("--plugin", default="", help="the plugin under test: a folder, or one .py file")


@pytest.fixture
def plugin_path(request: pytest.FixtureRequest) -> Path:
    """Where the plugin under test is."""
    given = str(request.config.getoption("--plugin"))
    if given:
        return Path(given)
    return next((folder.parent for folder in request.path.parents if folder.name == "tests"), request.path.parent)


@pytest.fixture
def clock() -> FakeClock:
    """The time of the box; it stands still but for the turns and calls of the test."""
    return FakeClock()


@pytest.fixture
def model() -> ScriptedModel:
    """The model behind the box: ``model.calls("tool", x=1)``, then ``model.says("Done.")``."""
    return ScriptedModel()


@pytest.fixture
def network() -> ScriptedNetwork:
    """What plugins find behind ``core.net``: ``network.answers("http://lamp.lan/", json={"on": True})``."""
    return ScriptedNetwork()


@pytest.fixture
def plugin(
    plugin_path: Path,
    tmp_path: Path,
    clock: FakeClock,
    model: ScriptedModel,
    network: ScriptedNetwork,
    no_network: None,
) -> Iterator[PluginUnderTest]:
    """The plugin in a box of its own."""
    made = PluginUnderTest(plugin_path, tmp_path, clock, model, network)
    yield made
    made.close()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    """A ``ctx`` for calling ``execute`` by hand; whoever it asks says yes."""

    async def says_yes(_action: str, _risk_kind: str, _family: str | None, _force_ask: bool) -> Verdict:
        return Verdict.APPROVED

    turn = Turn("typed")
    turn.commit()
    call = CallContext("call-1", turn.turn_id, "chat-1", "voice", turn, user_text="the question")
    return make_context(call, tmp_path / "workdir", Approval("call-1", says_yes), {})


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection leaves this machine: a test that needs one fails at once, wherever it runs."""
    really_connect = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and str(address[0]) not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            _refuse(address)
        really_connect(self, address)

    def look_up(host: Any, *others: Any, **options: Any) -> Any:
        return _refuse(host) if host not in ("127.0.0.1", "::1", "localhost", None) else found(host, *others, **options)

    found = socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def _refuse(address: object) -> NoReturn:
    raise OSError(f"a test of a plugin wanted to reach {address}: give it an answer with network.answers(…)")
