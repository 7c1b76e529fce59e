"""The network as the owner set it up: one place that knows the direct hosts, the proxy and the record of traffic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from appliance.clock import Clock
from appliance.network.classifier import Classifier
from appliance.network.config import NetworkConfig
from appliance.network.direct_hosts import DirectHosts
from appliance.network.lane_client import LaneClient
from appliance.network.passage import Passage
from appliance.network.peer import PeerRule
from appliance.network.proxy import Proxy, find_proxy


class HouseNetwork:
    """Makes clients that all follow the same rules. Any thread; a client then belongs to one event loop.

    ``environment`` is read when asked for a proxy: hand in a copy, so that nobody moves the proxy later. ``credential``
    gives a secret by name, ``hide`` masks one, ``seen`` hears of every request that was sent, in any thread.
    """

    def __init__(
        self,
        config: NetworkConfig,
        clock: Clock,
        environment: Mapping[str, str],
        *,
        credential: Callable[[str], str] = lambda _name: "",
        hide: Callable[[str], None] = lambda _secret: None,
        seen: Callable[[Passage], None] = lambda _passage: None,
    ) -> None:
        self._config = config
        self._environment = environment
        self._credential = credential
        self._hide = hide
        self._seen = seen
        self.direct_hosts = DirectHosts(clock, config.direct_hosts)
        self.classifier = Classifier(self.direct_hosts.known_hosts)
        self.peers = PeerRule(self.direct_hosts.known_hosts, config.rebinding_allowed)

    def proxy(self) -> Proxy | None:
        """The way outside; None for direct. Raises ``ConfigError``."""
        proxy = find_proxy(self._config.proxy, self._environment, self._credential)
        if proxy is not None:
            self._hide(proxy.password)
        return proxy

    def client(self) -> LaneClient:
        """New connections, for one event loop."""
        return LaneClient(self.classifier, peers=self.peers, proxy=self.proxy, seen=self._seen)
