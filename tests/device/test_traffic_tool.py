"""What left the house today, as it is said."""

from __future__ import annotations

from appliance.ports_think import Traffic
from tests.device.house import House

TODAY = "2026-05-04"


def outside(host: str, requests: int = 1, bytes_out: int = 100, day: str = TODAY) -> Traffic:
    return Traffic(day, "model", "wan", host, requests, bytes_out, 5_000_000)


async def say(*rows: Traffic, channel: str = "voice") -> str:
    house = House()
    house.traffic.rows += rows
    return await house.say("box_traffic", channel=channel)


async def test_nothing_left_when_only_the_house_was_asked() -> None:
    at_home = Traffic(TODAY, "plugin:hub", "lan", "nas.local", 9, 9, 9)
    assert await say(at_home, outside("yesterday.example", day="2026-05-03")) == (
        "Nothing left the house through me today."
    )


async def test_one_host_is_named_with_how_much_went_out() -> None:
    said = await say(outside("api.example", bytes_out=1_500), outside("api.example", bytes_out=600))
    assert said == "Today I asked one host outside: api.example. About 2 kilobytes went out."


async def test_three_hosts_are_named_the_busiest_first() -> None:
    said = await say(outside("b.example"), outside("a.example", 7, 3_000_000), outside("c.example", 3))
    assert said == ("Today 3 hosts outside were asked: a.example, c.example and b.example. About 3 megabytes went out.")


async def test_a_long_list_is_cut_when_it_is_spoken() -> None:
    rows = [outside(f"{name}.example", 10 - number) for number, name in enumerate("abcdefg")]
    said = await say(*rows)
    assert "7 hosts" in said and "d.example, and 3 more" in said and "e.example" not in said
    assert "g.example" in await say(*rows, channel="typed")
