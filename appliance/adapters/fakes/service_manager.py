"""A service manager that only remembers what it was told."""

from __future__ import annotations


class FakeServiceManager:
    """A ``ServiceManager``; ``told`` is what it heard, in order and in words."""

    def __init__(self, ping_seconds: float = 10.0, *, is_there: bool = True) -> None:
        self.is_there = is_there
        self.ping_seconds = ping_seconds
        self.told: list[str] = []

    @property
    def pings(self) -> int:
        """How often it was pinged."""
        return self.told.count("ping")

    def ready(self) -> None:
        self.told.append("ready")

    def status(self, text: str) -> None:
        self.told.append(f"status {text}")

    def extend(self, seconds: float) -> None:
        self.told.append(f"extend {seconds:g}")

    def ping(self) -> None:
        self.told.append("ping")

    def stopping(self) -> None:
        self.told.append("stopping")
