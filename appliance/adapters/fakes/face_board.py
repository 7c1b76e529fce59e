"""A board on the workbench that exists in words only."""

from __future__ import annotations

from appliance.ports_face import BoardHealth, BoardInfo, BoardSettings, JointSettings


class FakeWorkbench:
    """``FaceBoard``: ``moves`` is what was asked of it, ``stored`` what it keeps. ``fail_next`` raises once."""

    def __init__(self) -> None:
        self.info = BoardInfo("fake", "1.0", 1, 5, 16, 14, True, "power", 7)
        self.stored = BoardSettings()
        self.moves: list[tuple[str, int]] = []
        self.events: list[str] = []
        self.fail_next = ""
        self.asked = 0
        self.is_parked = False
        self.is_closed = False

    def health(self) -> BoardHealth:
        self._check()
        self.asked += 1
        return BoardHealth(float(self.asked), "parked" if self.is_parked else "awake", 4.98, 1, 2)

    def news(self) -> tuple[str, ...]:
        self._check()
        news, self.events = self.events, []
        return tuple(news)

    def settings(self) -> BoardSettings:
        self._check()
        return self.stored

    def move(self, joint: str, settings: JointSettings, pulse_us: int) -> int:
        self._check()
        self.moves.append((joint, pulse_us))
        self.is_parked = False
        return min(settings.max_us, max(settings.min_us, pulse_us))

    def store(self, settings: BoardSettings) -> None:
        self._check()
        self.stored = settings

    def park(self) -> None:
        self._check()
        self.is_parked = True

    def close(self) -> None:
        self.is_closed = True

    def _check(self) -> None:
        if self.fail_next:
            said, self.fail_next = self.fail_next, ""
            raise OSError(said)
