"""Settings of tools and of the plugins that bring them."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class ToolsConfig:
    """[tools]"""

    import_seconds: float = setting(
        20.0, "how long one plugin file may take to load before it is given up", at_least=1, at_most=600
    )
