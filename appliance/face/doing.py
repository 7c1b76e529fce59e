"""What the box is doing, as far as the face can know it from facts: from sound that really plays, not from plans."""

from __future__ import annotations

from appliance import events
from appliance.events import Activity, Event

#: A fault that nobody asked about is shown for this long.
_ERROR_SECONDS = 4.0
#: A missing model is a state of its own, which is asked for when it is shown.
_MODEL = "model"


class Doing:
    """Keeps track of what goes on."""

    def __init__(self) -> None:
        self._turn = Activity.IDLE
        self._is_speaking = False
        self._asked_about: set[str] = set()
        self._is_muted = False
        self._error_until = -1.0

    def tell(self, event: Event) -> None:
        """Take note of a fact; unknown ones are ignored."""
        match event:
            case events.TurnStarted(origin="typed") | events.SpeechEnded() | events.ToolStarted():
                self._turn = Activity.WORKING
            case events.TurnStarted() | events.WakeDetected():
                self._turn = Activity.LISTENING
            case events.TurnEnded():
                self._turn = Activity.IDLE
                self._asked_about.clear()
            case events.PlaybackStarted(lane="speech"):
                self._is_speaking = True
            case events.PlaybackFinished():
                self._is_speaking = False
            case events.ApprovalRequested(request_id=request_id):
                self._asked_about.add(request_id)
            case events.ApprovalDecided(request_id=request_id):
                self._asked_about.discard(request_id)
            case events.MuteChanged(is_muted=is_muted):
                self._is_muted = is_muted
            case events.ErrorRaised(where=where) if where != _MODEL:
                self._error_until = event.at_seconds + _ERROR_SECONDS

    def activity(self, at_seconds: float, *, is_offline: bool) -> Activity:
        """What to show; what waits for the person comes first, and what merely is so comes last."""
        if self._asked_about:
            return Activity.ASKING
        if self._is_speaking:
            return Activity.SPEAKING
        if self._turn is not Activity.IDLE:
            return self._turn
        if at_seconds < self._error_until:
            return Activity.ERROR
        if self._is_muted:
            return Activity.MUTED
        return Activity.OFFLINE if is_offline else Activity.IDLE
