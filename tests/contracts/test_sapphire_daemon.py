"""Daemons of plugins, which share their state with the plugin's tools."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.contracts.gate import until
from tests.contracts.sapphire_rig import SapphireRig, tool_file

#: In the shape of public daemons: a thread, a stop event, a list that the tool reads.
DAEMON = """
import threading

HEARD = []
RUNS = []
_stop = threading.Event()
_thread = None

def start(plugin_loader, settings):
    global _thread
    _stop.clear()
    RUNS.append(dict(settings))
    plugin_loader.register_reply_handler("p", lambda task, data, text: None)
    accounts = plugin_loader.active_daemon_accounts("p_message")
    assert accounts == set()

    def listen():
        HEARD.append("hello")
        plugin_loader.emit_daemon_event("p_message", '{"text": "hello"}')
        plugin_loader.get_plugin_state("p").save("heard", HEARD)
        _stop.wait(60)
        HEARD.append("bye")

    _thread = threading.Thread(target=listen, daemon=True)
    _thread.start()

def stop():
    _stop.set()
    _thread.join(5)
    RUNS.append("stopped")
"""
TOOL = tool_file(
    "probe",
    "from plugins.p.daemon import HEARD, RUNS\nreturn str((HEARD, RUNS)), True",
)


async def plugin(box: SapphireRig, daemon: str = DAEMON, **manifest: Any) -> None:
    """A plugin with a daemon and a tool."""
    capabilities = {
        "tools": ["tools/probe.py"],
        "daemon": {"entry": "daemon.py", "event_sources": [{"name": "p_message", "label": "A message"}]},
        "settings": [{"key": "every", "type": "number", "default": 5}],
    }
    box.plugin("p", {"daemon.py": daemon, "tools/probe.py": TOOL}, capabilities=capabilities, **manifest)
    await box.load()


@asynccontextmanager
async def living(box: SapphireRig) -> AsyncIterator[None]:
    """The box is a device inside the block."""
    life = asyncio.create_task(box.beside.live())
    await until(lambda: box.beside.daemons.running != ())
    try:
        yield
    finally:
        life.cancel()
        await asyncio.gather(life, return_exceptions=True)


async def test_a_daemon_starts_with_the_device_and_shares_its_state_with_the_tool(box: SapphireRig) -> None:
    await plugin(box)
    assert (await box.call()).text == "([], [])", "a single command is no device"
    async with living(box):
        await until(lambda: box.contract.states.of("p").get("heard") == ["hello"])
        assert (await box.call()).text == "(['hello'], [{'every': 5}])"


async def test_it_stops_with_its_plugin(box: SapphireRig) -> None:
    await plugin(box)
    async with living(box):
        await until(lambda: box.contract.states.of("p").get("heard") == ["hello"])
        heard = sys.modules["plugins.p.daemon"].HEARD
        box.switch(disabled=("p",))
        await box.load()
        assert box.beside.daemons.running == ()
        assert heard == ["hello", "bye"], "it was told, and waited for"


async def test_it_stops_with_the_box_and_has_time_to(box: SapphireRig) -> None:
    last_words = "    from core.plugin_loader import plugin_loader\n"
    last_words += "    plugin_loader.get_plugin_state('p').save('end', HEARD)\n"
    await plugin(box, DAEMON + last_words)
    async with living(box):
        await until(lambda: box.contract.states.of("p").get("heard") == ["hello"])
    await box.contract.close()
    assert box.contract.states.of("p").get("end") == ["hello", "bye"]


async def test_loading_again_stops_and_starts_it_anew(box: SapphireRig) -> None:
    await plugin(box)
    async with living(box):
        await until(lambda: box.contract.states.of("p").get("heard") == ["hello"])
        box.store_settings("p", '{"every": 9}')
        await box.load()
        assert box.beside.daemons.running == ("p",)
        assert (await box.call()).text.endswith("[{'every': 9}])")


@pytest.mark.parametrize(
    ("daemon", "words"),
    [
        (
            "def start(plugin_loader, settings): raise SystemExit('no')\ndef stop(): pass\n",
            "did not start: it called sys.exit",
        ),
        ("async def start(plugin_loader, settings): pass\ndef stop(): pass\n", "its start is an async def"),
    ],
)
async def test_one_that_does_not_start_costs_itself(
    box: SapphireRig, caplog: pytest.LogCaptureFixture, daemon: str, words: str
) -> None:
    box.plugin("q", {"d.py": DAEMON.replace('"p"', '"q"')}, capabilities={"tools": [], "daemon": {"entry": "d.py"}})
    await plugin(box, daemon + "HEARD = RUNS = []\n")
    async with living(box):
        await until(lambda: words in caplog.text and box.beside.daemons.running == ("q",))
        assert (await box.call()).text == "([], [])"


async def test_one_that_does_not_stop_holds_nobody_up(box: SapphireRig, caplog: pytest.LogCaptureFixture) -> None:
    await plugin(
        box, "HEARD = RUNS = []\ndef start(plugin_loader, settings): pass\ndef stop(): raise OSError('stuck')\n"
    )
    async with living(box):
        pass
    await box.contract.close()
    assert "the daemon of plugin p did not stop: OSError: stuck" in caplog.text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "a daemon needs start()"),
        ("def start(plugin_loader, settings): pass\n", "a daemon needs stop()"),
        ("1 / 0\n", "ZeroDivisionError"),
    ],
)
async def test_a_file_that_is_no_daemon_is_told_and_the_tools_stay(box: SapphireRig, source: str, words: str) -> None:
    await plugin(box, source)
    assert box.names == ["probe"]
    (sentence,) = box.sentences
    assert words in sentence
