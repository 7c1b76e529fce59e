"""Settings of approval."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting
from appliance.errors import ConfigError
from appliance.tools.tool import Risk


@dataclass(frozen=True)
class ApprovalConfig:
    """What waits for a hand on the button.

    A wrong value raises ``ConfigError`` even where the loader goes on with defaults: guessing here is not safe.
    """

    button_for: tuple[str, ...] = setting(
        (Risk.EXEC.value,), "risks whose calls wait for the button: read, write, exec, network; [] asks for none"
    )
    always_ask: tuple[str, ...] = setting(
        (), 'plugins or tools that wait for the button whatever their risk ("plugin:backup", "plugin:backup/restore")'
    )
    never_ask: tuple[str, ...] = setting((), "plugins or tools that never wait for it, named the same way")

    def __post_init__(self) -> None:
        for risk in self.button_for:
            if risk not in list(Risk):
                raise ConfigError(f"approval.button_for = {risk!r}: must be one of {', '.join(Risk)}")
        for key in ("always_ask", "never_ask"):
            for name in getattr(self, key):
                if not name.startswith(("plugin:", "box/")):
                    raise ConfigError(
                        f"approval.{key} = {name!r}: must be plugin:NAME, plugin:NAME/TOOL or box/TOOL, "
                        "so that no other plugin's tool of that name is meant"
                    )
