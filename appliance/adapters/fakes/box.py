"""Controls, memory, health and doctor of a box that has no hardware."""

from __future__ import annotations

from appliance.errors import NoPassphraseError
from appliance.ports import AsyncCallback
from appliance.store.audit_log import AuditLine
from appliance.store.turn_log import TurnTimes


class FakeControls:
    """``BoxControls``; what is to happen behind the reply waits for ``end_reply``."""

    def __init__(self, *, has_button: bool = False) -> None:
        self.volume_percent = 60
        self.speed = 1.0
        self.is_muted = False
        self.has_button = has_button
        self.stops = 0
        self._waiting: list[AsyncCallback] = []

    def set_volume(self, percent: int) -> None:
        """Turn the knob."""
        self.volume_percent = percent

    def set_speed(self, speed: float) -> None:
        """Turn the knob."""
        self.speed = speed

    async def mute(self, muted: bool) -> None:
        """Close or open the microphone."""
        self.is_muted = muted

    def stop_everything(self) -> None:
        """Counted."""
        self.stops += 1

    def after_reply(self, action: AsyncCallback) -> None:
        """Keep it for ``end_reply``."""
        self._waiting.append(action)

    async def end_reply(self) -> None:
        """The reply was spoken."""
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            await action()


class FakeTurnMemory:
    """``TurnMemory``; fill it in."""

    def __init__(self) -> None:
        self.last_heard = ""
        self.last_reply = ""
        self.last_did: tuple[str, ...] = ()
        self.rest: list[str] = []
        self.topics = 0
        self.turns = 0

    def take_more(self) -> str:
        """The next piece."""
        return self.rest.pop(0) if self.rest else ""

    async def new_topic(self) -> None:
        """Counted."""
        self.topics += 1

    async def forget_last(self) -> bool:
        """One turn less."""
        had_one = self.turns > 0
        self.turns = max(0, self.turns - 1)
        return had_one


class FakePrivateTalk:
    """``PrivateTalk``; ``has_passphrase`` says whether a private chat can begin. ``ended`` tells how each ended."""

    def __init__(self) -> None:
        self.is_private = False
        self.has_passphrase = True
        self.ended: list[str] = []

    async def begin_private(self) -> None:
        """From now on it is."""
        if not self.has_passphrase:
            raise NoPassphraseError("private chats need a passphrase first")
        self.is_private = True

    async def end_private(self, *, is_deleted: bool) -> bool:
        """Noted."""
        if not self.is_private:
            return False
        self.is_private = False
        self.ended.append("deleted" if is_deleted else "locked")
        return True


class FakeTrail:
    """A ``Trail``; nothing was done unless a test says so."""

    def __init__(self) -> None:
        self.written: list[AuditLine] = []

    async def lines(self, limit: int = 100) -> list[AuditLine]:
        """The last of what a test wrote."""
        return self.written[-limit:]


class FakeTimes:
    """A ``Times``; ``turns`` is what was, newest last."""

    def __init__(self) -> None:
        self.turns: list[TurnTimes] = []

    async def last(self, count: int) -> list[TurnTimes]:
        """Newest first."""
        return self.turns[::-1][:count]


class FakeHealth:
    """``BoxHealth`` of a healthy box; change what you need."""

    def __init__(self) -> None:
        self.name = "Nabu"
        self.microphone = "USB microphone"
        self.model = ""
        self.is_model_away = False
        self.problems: tuple[str, ...] = ()


class FakeExamination:
    """An ``Examination`` that finds what a test says, the worst first."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.allowed_seconds = 0.0

    async def worst(self, seconds: float) -> list[str]:
        """``found``."""
        self.allowed_seconds = seconds
        return list(self.found)
