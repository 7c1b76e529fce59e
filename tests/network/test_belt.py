from __future__ import annotations

from collections.abc import Iterator, MutableMapping

import pytest
import requests.utils

from appliance.network.belt import Belt

PROXY = "socks5h://me:p%40ss@10.0.0.2:1080"
VARIABLES = ("ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")


class Recorded(MutableMapping[str, str]):
    """An environment that remembers in which order it was written."""

    def __init__(self, **values: str) -> None:
        self.values_now = dict(values)
        self.changes: list[str] = []

    def __getitem__(self, name: str) -> str:
        return self.values_now[name]

    def __setitem__(self, name: str, value: str) -> None:
        self.changes.append(name)
        self.values_now[name] = value

    def __delitem__(self, name: str) -> None:
        self.changes.append(name)
        del self.values_now[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_now)

    def __len__(self) -> int:
        return len(self.values_now)


def test_the_house_is_exempt_before_anything_is_led_through_the_proxy() -> None:
    environment = Recorded()
    Belt(environment).put_on(PROXY, ["ha.example.net"])
    assert set(environment.changes[:2]) == {"NO_PROXY", "no_proxy"}
    assert set(environment.changes[2:]) == set(VARIABLES)
    assert {environment[name] for name in VARIABLES} == {PROXY}
    exempt = environment["NO_PROXY"].split(",")
    assert environment["no_proxy"] == environment["NO_PROXY"]
    house = {"localhost", "127.0.0.1", "::1", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"}
    assert set(exempt) == house | {".local", ".lan", ".home.arpa", "ha.example.net"}


def test_taken_off_it_leaves_what_stood_there_before() -> None:
    before = {"https_proxy": "http://old:3128", "NO_PROXY": "corp.example", "HOME": "/root"}
    environment = Recorded(**before)
    belt = Belt(environment)
    belt.put_on(PROXY)
    belt.put_on("socks5h://other:1", ["new.example.net"])
    assert environment["https_proxy"] == "socks5h://other:1"
    assert {"new.example.net", "corp.example"} <= set(environment["NO_PROXY"].split(","))
    assert belt.environment_before() == before
    environment.changes.clear()
    belt.take_off()
    assert dict(environment) == before == belt.environment_before()
    assert set(environment.changes[-2:]) == {"NO_PROXY", "no_proxy"}
    belt.take_off()
    assert dict(environment) == before


def test_an_exemption_for_everything_does_not_open_the_belt() -> None:
    environment = Recorded(no_proxy="*, corp.example")
    Belt(environment).put_on(PROXY)
    assert "*" not in environment["no_proxy"] and "corp.example" in environment["no_proxy"]


@pytest.mark.contract("S-095")
@pytest.mark.parametrize(
    ("url", "is_proxied"),
    [
        *((f"http://{host}/", False) for host in ("localhost", "127.0.0.1:8080", "192.168.1.5", "10.1.2.3", "[::1]")),
        *((f"http://{host}/", False) for host in ("printer.local", "nas.lan", "x.home.arpa", "ha.example.net")),
        *((f"https://{host}/", True) for host in ("example.com", "8.8.8.8", "evil-local.com", "100.64.0.1")),
    ],
)
def test_requests_understands_it(url: str, is_proxied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    environment: dict[str, str] = {}
    Belt(environment).put_on(PROXY, ["ha.example.net"])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    proxies = requests.utils.get_environ_proxies(url)
    assert (requests.utils.select_proxy(url, proxies) == PROXY) is is_proxied
