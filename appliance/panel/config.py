"""Settings of the page in the browser."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class PanelConfig:
    """Whether there is a page, and where on this machine; `appliance panel` says how to open it."""

    enabled: bool = setting(False, "whether the device serves a page for the owner's browser, to this machine alone")
    port: int = setting(8477, "port on loopback, the same at both ends of ssh -L", at_least=1024, at_most=65535)
