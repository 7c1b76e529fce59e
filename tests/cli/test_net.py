"""``net``: which way requests go."""

from __future__ import annotations

import pytest

from tests.cli.shell import Shell


def test_each_url_is_shown_with_its_lane_its_host_and_why(shell: Shell) -> None:
    ran = shell("net", "classify", "http://nas.local/x", "https://api.example.com", "http://[fd00::1]:8123/")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "lan  nas.local:80         a name that ends in .local",
        "wan  api.example.com:443  a public name",
        "lan  [fd00::1]:8123       a private address",
    ]


def test_a_refused_url_says_why_and_ends_with_the_code_of_a_refusal(shell: Shell) -> None:
    ran = shell("net", "classify", "http://nas/", "http://evil.com\\@192.168.1.1/")
    assert ran.code == 3
    lan, refused = ran.out.splitlines()
    assert lan.startswith("lan ")
    assert refused.startswith("refused  ") and "backslash" in refused
    assert "1 of 2" in ran.err


def test_json_has_every_url_in_its_order(shell: Shell) -> None:
    ran = shell("net", "classify", "--json", "http://2130706433/", "https://example.com:8443/")
    assert ran.code == 3
    refused, public = ran.json
    assert (refused["lane"], refused["host"]) == ("refused", None)
    assert "four plain numbers" in refused["reason"]
    assert public == {
        "url": "https://example.com:8443/",
        "lane": "wan",
        "scheme": "https",
        "host": "example.com",
        "port": 8443,
        "reason": "a public name",
    }


def test_what_the_owner_listed_is_in_the_house(shell: Shell) -> None:
    assert shell("net", "classify", "http://100.64.0.1/").out.startswith("wan ")
    shell.write("config.toml", '[network]\ndirect_hosts = ["100.64.0.0/10", "ha.example.net"]\n')
    ran = shell("net", "classify", "http://100.64.0.1/", "https://ha.example.net/")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["lan", "lan"]


def test_an_entry_of_the_owner_that_is_no_host_is_told(shell: Shell) -> None:
    shell.write("config.toml", '[network]\ndirect_hosts = ["http://ha.example.net/"]\n')
    ran = shell("net", "classify", "http://ha.example.net/")
    assert ran.out.startswith("wan ")
    assert "network.direct_hosts" in ran.err and "is no host" in ran.err


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_no_secret_of_a_url_is_printed(shell: Shell, more: list[str]) -> None:
    urls = ["https://me:hunter2@example.com/?key=hunter2", "http://me:hunter2@a@b/?key=hunter2#hunter2"]
    ran = shell("net", "classify", *urls, *more)
    assert ran.code == 3
    assert "hunter2" not in ran.out + ran.err


def test_without_a_url_the_usage_is_shown(shell: Shell) -> None:
    assert shell("net", "classify").code == 2
    assert shell("net").code == 2
