"""A machine that is switched off only in a test's mind."""

from __future__ import annotations

from appliance.errors import PowerError


class FakePower:
    """A ``Power``. ``offs`` counts how often it was switched off; ``problem``, when set, keeps it on."""

    def __init__(self) -> None:
        self.offs = 0
        self.problem = ""

    async def off(self) -> None:
        """Counted, unless there is a problem."""
        if self.problem:
            raise PowerError(self.problem)
        self.offs += 1
