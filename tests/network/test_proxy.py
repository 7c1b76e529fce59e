"""Which proxy there is: from the settings, the environment, the credentials."""

from __future__ import annotations

import pytest

from appliance.errors import ConfigError
from appliance.network.proxy import Proxy, find_proxy, parse_proxy, with_proxy


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("socks5h://127.0.0.1:1080", "socks5h://127.0.0.1:1080"),
        ("socks5://nas", "socks5://nas:1080"),
        ("socks://nas:9/", "socks5h://nas:9"),
        ("http://proxy.lan:3128/", "http://proxy.lan:3128"),
        ("https://proxy.example.com", "https://proxy.example.com:443"),
        ("proxy.lan:3128", "http://proxy.lan:3128"),
        ("SOCKS5://[::1]:1080", "socks5://[::1]:1080"),
        (" http://user:word@proxy.lan:3128\n", "http://proxy.lan:3128"),
    ],
)
def test_what_people_write_for_a_proxy_is_understood(text: str, shown: str) -> None:
    assert parse_proxy(text, "here").shown == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "socks4://hunter2.example:1080",
        "ftp://user:hunter2@proxy.lan",
        "socks5://user:hunter2@",
        "http://user:hunter2@proxy.lan:99999",
        "http://user:hunter2@proxy.lan:0",
        "http://user:hunter2#x@proxy.lan:3128",
        "http://user:hunter2/x@proxy.lan:3128",
        "http://user:hunter2@proxy.lan:3128/path",
        "http://user:hunter2@proxy lan:3128",
        "http://user:hunter2@[::1:3128",
        "http://user:hunter2%0d%0a@proxy.lan:3128",
        f"socks5://user:{'hunter2' * 40}@proxy.lan",
        "yes",
    ],
)
def test_a_proxy_that_cannot_be_understood_is_an_error_without_its_password(text: str) -> None:
    if text == "yes":  # a host of that name is possible
        assert parse_proxy(text, "here").host == "yes"
        return
    with pytest.raises(ConfigError, match=r"network\.proxy") as caught:
        find_proxy(text, {"ALL_PROXY": "http://fine.lan:3128"})
    assert "hunter2" not in str(caught.value)


def test_user_and_password_are_unpacked_and_packed() -> None:
    proxy = parse_proxy("socks5://us%40er:p%3A%2F%C3%B6@nas:1080", "here")
    assert (proxy.user, proxy.password) == ("us@er", "p:/ö")
    assert proxy.url == "socks5://us%40er:p%3A%2F%C3%B6@nas:1080"
    assert "p:/ö" not in repr(proxy)


def test_the_environment_names_one_proxy_for_everything() -> None:
    assert find_proxy("environment", {}) is None
    assert find_proxy("environment", {"ALL_PROXY": " "}) is None
    both = {"HTTP_PROXY": "http://a.lan:1", "https_proxy": "http://b.lan:2"}
    found = find_proxy("environment", both)
    assert found is not None and found.shown == "http://b.lan:2"
    found = find_proxy("environment", {**both, "ALL_PROXY": "socks5h://c.lan:3"})
    assert found is not None and found.shown == "socks5h://c.lan:3"


def test_a_wrong_variable_is_named_and_not_skipped() -> None:
    with pytest.raises(ConfigError, match="the variable ALL_PROXY"):
        find_proxy("environment", {"ALL_PROXY": "socks4://x", "HTTP_PROXY": "http://fine.lan:1"})


def test_none_is_none_whatever_the_environment_says() -> None:
    assert find_proxy("none", {"ALL_PROXY": "http://a.lan:1"}) is None


def test_the_credentials_fill_in_what_the_url_lacks() -> None:
    secrets = {"PROXY_USER": "stored", "PROXY_PASSWORD": "hidden"}

    def login(url: str, known: dict[str, str]) -> tuple[str, str]:
        found = find_proxy(url, {}, lambda name: known.get(name, ""))
        assert found is not None
        return found.user, found.password

    assert login("socks5h://nas:1080", secrets) == ("stored", "hidden")
    assert login("socks5h://me@nas:1080", secrets) == ("me", "hidden")
    assert login("socks5h://me:mine@nas:1080", secrets) == ("me", "mine")
    assert login("socks5h://nas:1080", {"PROXY_PASSWORD": "hidden"}) == ("", "")


def test_a_program_of_ours_gets_the_same_way_out() -> None:
    environment = {"PATH": "/bin", "http_proxy": "http://other.lan:1", "PIP_PROXY": "http://other.lan:1"}
    assert with_proxy(environment, None) == {"PATH": "/bin"}
    child = with_proxy(environment, Proxy("socks5h", "nas", 1080, "me", "p/w"))
    assert set(child.values()) == {"/bin", "socks5h://me:p%2Fw@nas:1080"}
    assert {"http_proxy", "HTTPS_PROXY", "ALL_PROXY", "PIP_PROXY"} <= set(child)
