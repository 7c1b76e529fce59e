"""``core.socks_proxy``: what older plugins ask for a session, and newer ones for direct hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.network.facade import Facade


def socks_proxy_names(facade: Facade) -> Mapping[str, Any]:
    """Name -> value; the error is found late, because of the libraries it is made of."""

    def get_session() -> Any:
        """The session for what is outside, after a knock at the proxy: ``SocksAuthError``, ``ValueError``."""
        facade.try_proxy()
        return facade.wan_session("browser")

    def __getattr__(name: str) -> Any:
        if name == "SocksAuthError":
            from appliance.network.facade_errors import SocksRefusedError

            return SocksRefusedError
        raise AttributeError(f"core.socks_proxy has no {name}")

    return {
        "get_session": get_session,
        "clear_session_cache": facade.clear_session_cache,
        "register_direct_hosts": facade.register_direct_hosts,
        "unregister_direct_hosts": facade.unregister_direct_hosts,
        "direct_hosts": facade.direct_hosts,
        "__getattr__": __getattr__,
    }
