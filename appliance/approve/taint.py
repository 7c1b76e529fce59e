"""Which turns have let a stranger speak: after a result from outside, the model may be doing what it read there."""

from __future__ import annotations

from collections import OrderedDict

from appliance.tools.tool import ApprovalRequest, Risk, ToolResult

#: Turns come one at a time; more are kept only for calls that end late.
_MOST_TURNS = 64


class Taint:
    """Remembers, per turn, the first tool whose result came from outside. On the loop's thread."""

    def __init__(self) -> None:
        self._sources: OrderedDict[str, str] = OrderedDict()

    def note(self, request: ApprovalRequest, result: ToolResult) -> None:
        """A call of the turn ended; whatever it says now, a failure too, a model reads it."""
        if request.risk is Risk.NETWORK or result.is_from_wan:
            self.mark(request.turn_id, request.call.name)

    def mark(self, turn_id: str, source: str) -> None:
        """Words of a stranger came into this turn through ``source``. Calls without a turn have nobody to mislead."""
        if turn_id:
            self._sources.setdefault(turn_id, source)
            while len(self._sources) > _MOST_TURNS:
                self._sources.popitem(last=False)

    def source(self, turn_id: str) -> str:
        """The tool that let a stranger speak in this turn; "" when none did."""
        return self._sources.get(turn_id, "")
