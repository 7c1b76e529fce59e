"""Settings of approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

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
    never_ask: tuple[str, ...] = setting(
        (), "plugins or tools that never wait for it, named the same way; dangerous commands wait all the same"
    )
    two_step: tuple[str, ...] = setting(
        (), "plugins or tools whose calls cannot be undone, named the same way: they are asked about twice"
    )
    # A tool that asks has a longer budget than the window: the longest window leaves room for the longest budget that
    # a tool has by default, ten minutes.
    voice_window_seconds: float = setting(
        60.0,
        "how long a question that was asked aloud waits for the button, from its first word",
        at_least=10,
        at_most=590,
    )
    typed_window_seconds: float = setting(
        180.0, "how long a question in a typed turn waits for the button or for a shell", at_least=10, at_most=590
    )
    ask_over_ssh: bool = setting(
        True, "without a button, let a typed request wait for: appliance approval approve (spoken ones never wait)"
    )
    owner_may_approve_in_trial: bool = setting(
        False, "outside the service, let the user that the device runs as approve; its plugins run as that user too"
    )

    @property
    def window_seconds(self) -> Mapping[str, float]:
        """How long a person has to answer, by the channel of the turn."""
        return {"voice": self.voice_window_seconds, "text": self.typed_window_seconds}

    def __post_init__(self) -> None:
        for risk in self.button_for:
            if risk not in list(Risk):
                raise ConfigError(f"approval.button_for = {risk!r}: must be one of {', '.join(Risk)}")
        for key in ("always_ask", "never_ask", "two_step"):
            for name in getattr(self, key):
                if not name.startswith(("plugin:", "box/")):
                    raise ConfigError(
                        f"approval.{key} = {name!r}: must be plugin:NAME, plugin:NAME/TOOL or box/TOOL, "
                        "so that no other plugin's tool of that name is meant"
                    )


@dataclass(frozen=True)
class ButtonConfig:
    """The button that approves, talks and stops; on a terminal without one, Enter is the button."""

    pin: str = setting("", 'pin of the button as gpiozero names it ("GPIO17", "BOARD11"); "" for none')
    pull: Literal["up", "down", "none"] = setting(
        "up", "the board's own resistor at that pin; none for a real one outside, which radio noise does not reach"
    )
    pressed_is: Literal["low", "high"] = setting("low", "level of the pin while the button is pressed")
    lamp_pin: str = setting("", 'pin of the lamp in the button, lit when high; "" for none')
    hold_to_talk: bool = setting(
        False, "hold the button while you talk; stopping everything is a double press then, instead of holding"
    )
    # Not "always": who tries the box on a computer would switch that computer off.
    shuts_down: Literal["service", "always", "never"] = setting(
        "service", "who holds the button for 13 seconds switches the machine off; service: only on an installed box"
    )
