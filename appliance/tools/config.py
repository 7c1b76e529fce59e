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
    plugin_seconds: float = setting(
        120.0,
        "how long one call of a plugin with a plugin.json may take; its settings may say budget_seconds",
        at_least=1,
    )
    plugin_memory_mb: int = setting(
        0,
        "how much memory (in MB) plugins may take before the box starts anew without the one that does; 0: 1024, "
        "or less on a small board",
        at_least=0,
    )
    risks: tuple[str, ...] = setting(
        (), 'tools of such plugins whose risk you judge yourself: "name=read", or write, exec, network'
    )
    private_allow_unflagged: bool = setting(
        False, "let tools of such plugins run in private chats when their author does not say where they work"
    )
