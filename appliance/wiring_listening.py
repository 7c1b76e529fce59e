"""What listens to how people speak: whether they have finished."""

from __future__ import annotations

from functools import partial

from appliance import models
from appliance.home import Home
from appliance.ports_hearing import TurnDetector


def turn_detector(home: Home) -> TurnDetector:
    """One that finds its weights when it first needs them; where there are none it says so then."""
    from appliance.adapters.smart_turn import SmartTurn

    return SmartTurn(partial(models.locate, models.TURN_DETECTOR, home.models_folder))
