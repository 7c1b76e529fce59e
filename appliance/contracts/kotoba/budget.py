"""How many seconds of compute a call may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from appliance.ports import Json

DEFAULT_TIMEOUT_SECONDS = 30
DEFAULT_MAX_TIMEOUT_SECONDS = 600
#: What an ARG_TIMEOUT tool is taken to ask for when its ``timeout`` argument says nothing useful.
_UNSAID_TIMEOUT_SECONDS = 60
#: Behind the window in which a person may press the button: the call must outlive the question.
_HEADROOM_SECONDS = 5


@dataclass(frozen=True)
class BudgetRule:
    """What a module declares about its time."""

    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    follows_argument: bool = False
    max_timeout_seconds: int = DEFAULT_MAX_TIMEOUT_SECONDS
    is_exec: bool = False

    def seconds(self, arguments: Mapping[str, Json], approval_window_seconds: float) -> float:
        """The budget of one call; the window is that of the channel which the call came over."""
        outlives_question = int(approval_window_seconds) + _HEADROOM_SECONDS
        if self.follows_argument:
            asked = max(1, _whole(arguments.get("timeout"), _UNSAID_TIMEOUT_SECONDS)) + outlives_question
            return float(min(self.max_timeout_seconds, max(self.timeout_seconds, asked)))
        if self.is_exec:
            return float(max(self.timeout_seconds, outlives_question))
        return float(self.timeout_seconds)


def _whole(value: Json, otherwise: int) -> int:
    try:
        return int(value or otherwise)
    except (TypeError, ValueError, OverflowError):
        return otherwise
