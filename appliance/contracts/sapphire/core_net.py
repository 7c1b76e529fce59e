"""``core.net``: the plugins' door to HTTP under the names of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.contracts.sapphire.core_socks_proxy import socks_proxy_names
from appliance.network.facade import Facade

#: What a plugin may call; ``patch``, ``head`` and ``options`` are ours, they are missed otherwise.
NAMES = (
    "classify",
    "clear_session_cache",
    "delete",
    "direct_hosts",
    "get",
    "head",
    "local_ip",
    "options",
    "patch",
    "post",
    "put",
    "register_direct_hosts",
    "request",
    "session_for",
    "unregister_direct_hosts",
    "wan_session",
)


def offered(facade: Facade) -> dict[str, Mapping[str, Any]]:
    """Module -> name in it -> value, for ``PluginImports``."""
    return {
        "core.net": {name: getattr(facade, name) for name in NAMES},
        "core.socks_proxy": socks_proxy_names(facade),
    }
