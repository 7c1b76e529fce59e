"""``net test`` and ``net seen``: does each lane work, and what went."""

from __future__ import annotations

import pytest

from tests.cli.scripted_model import ScriptedModel
from tests.cli.shell import Shell
from tests.responses_server import Answer

_PROXIES = [f"{name}_PROXY" for name in ("ALL", "HTTP", "HTTPS")]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_PROXIES, *map(str.lower, _PROXIES)):
        monkeypatch.delenv(name, raising=False)


def test_what_answers_works_and_what_does_not_is_told(shell: Shell) -> None:
    with ScriptedModel(Answer(text="Hello.")) as model:
        ran = shell("net", "test", model.url)
    assert ran.code == 0
    assert "LAN  works" in ran.out and "127.0.0.1 answers" in ran.out
    assert "WAN was not tried" in ran.out


def test_a_dead_proxy_is_named_without_its_password(shell: Shell) -> None:
    proxy = "network.proxy=socks5h://me:hunter2@127.0.0.1:1"
    ran = shell("net", "test", "https://example.com/x?key=hunter2", "--set", proxy)
    assert ran.code == 1
    assert "WAN  does not work" in ran.out and "socks5h://127.0.0.1:1" in ran.out
    assert "PROXY_PASSWORD" in ran.out
    assert "hunter2" not in ran.out + ran.err


def test_a_proxy_that_is_none_is_told_and_nothing_is_tried_past_it(shell: Shell) -> None:
    ran = shell("net", "test", "https://example.com/", "--json", "--set", "network.proxy=socks4://a:hunter2@b:1")
    assert ran.code == 1
    assert ran.json["tries"][0]["works"] is False and "nothing goes outside" in ran.json["tries"][0]["sentence"]
    assert "network.proxy" in ran.err and "hunter2" not in ran.out + ran.err


def test_what_was_asked_is_seen_with_host_and_amount(shell: Shell) -> None:
    assert shell("net", "seen").out == "nothing was asked over the network\n"
    with ScriptedModel(Answer(text="Hello.")) as model:
        shell("ask", "--text", "tell me something", "--set", f"think.url={model.url}")
    (row,) = shell("net", "seen", "--json").json
    assert (row["lane"], row["host"], row["who"], row["requests"]) == ("lan", "127.0.0.1", "model", 1)
    assert row["bytes_out"] > 100 and row["bytes_in"] > 100
    title, line = shell("net", "seen", "--days", "90").out.splitlines()
    assert title.split()[:3] == ["DAY", "LANE", "HOST"] and line.split()[1:5] == ["lan", "127.0.0.1", "model", "1"]


def test_days_are_a_number_that_makes_sense(shell: Shell) -> None:
    ran = shell("net", "seen", "--days", "0")
    assert ran.code == 2 and "--days" in ran.err


def test_the_password_of_a_proxy_is_not_shown_among_the_settings(shell: Shell) -> None:
    ran = shell("config", "network", "--set", "network.proxy=socks5h://me:hunter2@nas:1080")
    assert "hunter2" not in ran.out and "socks5h://" in ran.out and "nas:1080" in ran.out
    assert "hunter2" not in shell("config", "network", "--json", "--set", "network.proxy=http://me:hunter2@nas:1").out
