"""Keys for plugins: what each finds in its environment, what it asks for, and how settings are typed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from appliance.clock import FakeClock
from appliance.contracts.asked_keys import AskedKey, asked_keys
from appliance.contracts.host import PluginHost
from appliance.contracts.plugin_call import Returned
from appliance.contracts.sapphire.credentials import PluginCredentials
from appliance.contracts.sapphire.manifest import parse_manifest
from appliance.contracts.setting_values import typed_values
from appliance.contracts.switch import PluginSwitch, SwitchState
from appliance.errors import StoreError, UsageError
from appliance.store.credentials import Credentials

KEYS = {"tides": {"TIDE_KEY": "sesame"}, "other": {"OTHER_KEY": "x"}}


async def asked(host: PluginHost, plugin: str, question: Any) -> Any:
    ran = await host.run_in_thread(plugin, question)
    assert isinstance(ran, Returned)
    return ran.value


@pytest.mark.contract("K-044")
async def test_a_plugin_finds_its_own_keys_and_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARED", "for all")
    before = os.environ
    host = PluginHost(keys_of=lambda plugin: KEYS.get(plugin, {}))

    def look() -> tuple[Any, ...]:
        return (
            os.getenv("TIDE_KEY"),
            os.environ.get("OTHER_KEY"),
            "TIDE_KEY" in os.environ,
            "OTHER_KEY" in os.environ,
            os.environ["SHARED"],
            dict(os.environ).get("TIDE_KEY"),
            len(os.environ) - len(before),
        )

    assert await asked(host, "tides", look) == ("sesame", None, True, False, "for all", "sesame", 1)
    assert await asked(host, "third", look) == (None, None, False, False, "for all", None, 0)
    assert os.getenv("TIDE_KEY") is None and "TIDE_KEY" not in os.environ
    await host.close()
    assert os.environ is before


async def test_a_coroutine_and_its_threads_find_the_keys_too() -> None:
    import asyncio

    host = PluginHost(keys_of=lambda plugin: KEYS.get(plugin, {}))

    async def work() -> tuple[str | None, str | None]:
        return os.getenv("TIDE_KEY"), await asyncio.to_thread(os.getenv, "TIDE_KEY")

    ran = await host.run("tides", work)
    await host.close()
    assert ran == Returned(("sesame", "sesame"))


async def test_a_child_process_gets_a_key_only_when_the_plugin_hands_it_on() -> None:
    host = PluginHost(keys_of=lambda plugin: KEYS.get(plugin, {}))
    words = [sys.executable, "-c", "import os; print(os.getenv('TIDE_KEY'))"]

    def start() -> tuple[str, str]:
        silent = subprocess.run(words, capture_output=True, text=True, check=True)
        told = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ})
        return silent.stdout.strip(), told.stdout.strip()

    assert await asked(host, "tides", start) == ("None", "sesame")
    await host.close()


async def test_what_a_plugin_sets_is_set_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FROM_PLUGIN", raising=False)
    host = PluginHost()
    await asked(host, "tides", lambda: os.environ.update(FROM_PLUGIN="1"))
    await host.close()
    assert os.environ.pop("FROM_PLUGIN") == "1"


async def test_the_getters_of_the_other_contract_give_the_plugins_own_before_what_all_have(tmp_path: Path) -> None:
    secrets = Credentials(tmp_path / "credentials.json", {}, FakeClock())
    secrets.set("HA_TOKEN", "for-all-plugins")
    secrets.set("house:HA_TOKEN", "for-the-house")
    secrets.set("house:email.work", '{"address": "me@work.lan"}')
    credentials, host = PluginCredentials(secrets), PluginHost()

    assert await asked(host, "house", credentials.get_ha_token) == "for-the-house"
    assert await asked(host, "other", credentials.get_ha_token) == "for-all-plugins"
    accounts = await asked(host, "house", credentials.list_email_accounts)
    assert accounts == [{"scope": "work", "address": "me@work.lan"}]
    assert await asked(host, "other", credentials.list_email_accounts) == []
    await host.close()


def test_a_plugins_secret_is_masked_like_any_other_and_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    here, elsewhere = (Credentials(file, {}, FakeClock()) for _ in range(2))
    elsewhere.set("tides:TIDE_KEY", "sesame-open")
    assert here.of_plugin("tides") == {}
    here.read_again()
    assert here.of_plugin("tides") == {"TIDE_KEY": "sesame-open"}
    assert here.of_plugin("tide") == {}
    assert here.redact("it is sesame-open") == "it is [secret]"
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ("os.getenv('A_KEY')", [AskedKey("A_KEY", True)]),
        ("getenv('A_KEY', '')", [AskedKey("A_KEY", False)]),
        ("os.getenv('A_KEY') or 'x'", [AskedKey("A_KEY", False)]),
        ("os.getenv('A_KEY') or os.getenv('B_KEY')", [AskedKey("A_KEY", True), AskedKey("B_KEY", True)]),
        ("os.environ['A_KEY']", [AskedKey("A_KEY", True)]),
        ("os.environ['A_KEY'] = 'x'", []),
        ("os.environ.get('A_KEY')", [AskedKey("A_KEY", True)]),
        ("environ.get('A_KEY', None)", [AskedKey("A_KEY", False)]),
        ("'A_KEY' in os.environ", [AskedKey("A_KEY", True)]),
        ("NAME = 'A_KEY'\nos.getenv(NAME)", [AskedKey("A_KEY", True)]),
        ("os.getenv(name)", []),
        ("os.getenv('HOME')", []),
        ("credentials.get_ha_token()", [AskedKey("HA_TOKEN", True)]),
        ("credentials.get_service_api_key('brave-search')", [AskedKey("BRAVE_SEARCH_API_KEY", True)]),
        ("settings.get('A_KEY')", []),
        ("this is not Python", []),
    ],
)
def test_what_a_plugin_asks_for_is_read_off_its_source(tmp_path: Path, source: str, keys: list[AskedKey]) -> None:
    file = tmp_path / "tool.py"
    file.write_text(source)
    assert list(asked_keys([file, tmp_path / "missing.py"])) == keys


FIELDS = [
    {"key": "seconds", "type": "number", "default": 5},
    {"key": "loud", "type": "boolean", "default": False},
    {"key": "rooms", "type": "list", "default": []},
    {"key": "unit", "type": "select", "options": ["c", {"value": "f", "label": "Fahrenheit"}]},
    {"key": "word", "type": "string"},
]
MANIFEST = parse_manifest({"name": "lamps", "capabilities": {"settings": FIELDS}})


def test_a_typed_value_becomes_what_its_field_wants() -> None:
    given = {
        "seconds": "7",
        "loud": "Yes",
        "rooms": "hall, bath",
        "unit": "f",
        "word": "7",
        "unknown": '{"a": 1}',
        "free": "some words",
    }
    assert typed_values(MANIFEST, given) == {
        "seconds": 7,
        "loud": True,
        "rooms": ["hall", "bath"],
        "unit": "f",
        "word": "7",
        "unknown": {"a": 1},
        "free": "some words",
    }
    assert typed_values(MANIFEST, {"seconds": "7.0", "rooms": '["a"]'}) == {"seconds": 7.0, "rooms": ["a"]}


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("seconds", "soon", "seconds is a number, not 'soon'"),
        ("seconds", "nan", "seconds is a number, not 'nan'"),
        ("loud", "perhaps", "loud is yes or no, not 'perhaps'"),
        ("rooms", "[hall", "rooms is a list, and '\\[hall' is not JSON"),
        ("unit", "k", "unit is one of c, f, not 'k'"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_would(key: str, value: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        typed_values(MANIFEST, {key: value})


def test_the_switch_remembers_on_off_and_as_the_author_wants_it(tmp_path: Path) -> None:
    switch = PluginSwitch(tmp_path / "plugins.json")
    switch.set("a", True)
    switch.set("b", False)
    assert switch.read() == SwitchState(frozenset({"a"}), frozenset({"b"}))
    switch.set("a", False)
    switch.set("b", None)
    assert switch.read() == SwitchState(frozenset(), frozenset({"a"}))


def test_a_switch_file_that_cannot_be_read_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "plugins.json"
    file.write_text("{")
    with pytest.raises(StoreError, match="repair the file or remove it"):
        PluginSwitch(file).set("a", True)
    assert file.read_text() == "{"
