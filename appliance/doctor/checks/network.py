"""Whether the ways out work: the proxy makes sense, the house and the outside can be reached."""

from __future__ import annotations

from collections.abc import Callable

from appliance.doctor.check import in_thread
from appliance.doctor.finding import Finding, as_sentence, cannot_tell, fine, wrong
from appliance.errors import ConfigError
from appliance.network.house_network import HouseNetwork
from appliance.network.trial import routers, try_host


async def network_lanes(network: Callable[[], HouseNetwork], model_url: str) -> Finding:
    """Try the model's host and the routers. No name server is asked where a proxy looks names up."""
    try:
        house = network()
        proxy = house.proxy()
    except ConfigError as error:
        return wrong(as_sentence(str(error)), "Correct network.proxy in config.toml, or remove it.")
    way = f"through the proxy {proxy.shown}" if proxy is not None else "directly"
    urls = [*([model_url] if model_url else []), *(f"http://{router}/" for router in await in_thread(_routers))]
    if not urls:
        return cannot_tell(f"Nothing is known that could be tried; requests go out {way}.", "appliance net test URL")
    trials = [await try_host(house, url) for url in urls]
    broken = [trial for trial in trials if not trial.works]
    if broken:
        return wrong(as_sentence(broken[0].sentence), "See which way it takes: appliance net test")
    return fine(f"{', '.join(trial.host for trial in trials)} can be reached; requests go out {way}.")


def _routers() -> list[str]:
    return list(dict.fromkeys(routers()))
