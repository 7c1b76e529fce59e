"""Where the device gets the service manager from that runs it."""

from __future__ import annotations

from appliance.ports_service import ServiceManager


def service_manager() -> ServiceManager:
    """Who runs us, if anybody does; asked once, for its variables leave the environment."""
    from appliance.adapters.service_manager import SystemdManager

    return SystemdManager()
