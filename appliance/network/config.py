"""Settings of the network."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class NetworkConfig:
    """The way out of the house, and what counts as the house."""

    proxy: str = setting(
        "environment",
        'proxy for everything outside the house: a URL (socks5h://host:1080, http://host:3128), "none", or '
        '"environment" for ALL_PROXY and its like; its user and password go into the credentials',
    )
    direct_hosts: tuple[str, ...] = setting(
        (), "names or address ranges that are in the house although they do not look it (100.64.0.0/10, a DDNS name)"
    )
    rebinding_allowed: tuple[str, ...] = setting(
        (), "names outside the house that may lead to an address inside it, or the other way round"
    )
    connect_seconds: float = setting(10.0, "longest wait for a connection, handshakes included", at_least=1.0)
    read_seconds: float = setting(60.0, "longest silence of a server in the middle of an answer", at_least=1.0)
