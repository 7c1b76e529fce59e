"""``appliance net test``: tries each lane and says what works."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

from appliance.cli.shared import complain, config_of, credentials_of, print_json, print_table
from appliance.clock import SystemClock
from appliance.errors import ConfigError
from appliance.network.config import NetworkConfig
from appliance.network.house_network import HouseNetwork
from appliance.network.lane import Lane
from appliance.network.trial import Trial, routers, try_host
from appliance.think.config import ThinkConfig
from appliance.wiring import house_network


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the action."""
    parser.add_argument("urls", nargs="*", metavar="URL", help="try these; else the model's host and the router")


def run(arguments: argparse.Namespace) -> int:
    """Try, and tell; exit code 1 when a try failed or the proxy is not right."""
    network = house_network(config_of(arguments), credentials_of(arguments), SystemClock())
    trials = asyncio.run(_tries(network, arguments.urls or _usual_urls(arguments)))
    proxy, problem = _proxy(network)
    if arguments.json:
        tries = [_as_json(trial) for trial in trials]
        print_json({"proxy": proxy, "problem": problem, "tries": tries, "untried": _untried(trials)})
    else:
        print(f"proxy for everything outside: {proxy or 'none'}")
        print_table([_row(trial) for trial in trials])
        for lane in _untried(trials):
            print(_WHAT_TO_TRY[lane])
        if _holds_password(config_of(arguments).of(NetworkConfig).proxy):
            print("network.proxy holds a password; it is safer there: appliance credential set PROXY_PASSWORD")
    if problem:
        complain(problem)
    return 1 if problem or not all(trial.works for trial in trials) else 0


_WHAT_TO_TRY = {
    "lan": "LAN was not tried: no router is known; appliance net test http://HOST/ tries a machine of yours",
    "wan": "WAN was not tried: no model outside is set; appliance net test https://HOST/ tries any host",
}


def _usual_urls(arguments: argparse.Namespace) -> list[str]:
    """The model's host, and the routers: most of them have a page for their owner."""
    model = config_of(arguments).of(ThinkConfig).url
    return [*([model] if model else []), *(f"http://{address}/" for address in dict.fromkeys(routers()))]


async def _tries(network: HouseNetwork, urls: Sequence[str]) -> list[Trial]:
    return [await try_host(network, url) for url in urls]


def _proxy(network: HouseNetwork) -> tuple[str, str]:
    """The proxy for people, and what is wrong with it."""
    try:
        proxy = network.proxy()
    except ConfigError as error:
        return "not right; nothing goes outside", str(error)
    return (proxy.shown if proxy is not None else ""), ""


def _holds_password(url: str) -> bool:
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False


def _untried(trials: Sequence[Trial]) -> list[str]:
    return [lane.value for lane in Lane if lane not in {trial.lane for trial in trials}]


def _as_json(trial: Trial) -> dict[str, object]:
    lane = trial.lane.value if trial.lane is not None else "refused"
    return {"lane": lane, "host": trial.host, "works": trial.works, "sentence": trial.sentence}


def _row(trial: Trial) -> tuple[str, ...]:
    lane = trial.lane.value.upper() if trial.lane is not None else "refused"
    return (lane, "works" if trial.works else "does not work", trial.sentence)
