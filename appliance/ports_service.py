"""The need of whoever runs us as a service; what is said in ``ports.py`` holds here too."""

from __future__ import annotations

from typing import Protocol


class ServiceManager(Protocol):
    """Who started us, waits until we are ready, and ends us when we hang. Without one, telling it does nothing."""

    @property
    def is_there(self) -> bool:
        """Whether anybody wants to be told."""
        ...

    @property
    def ping_seconds(self) -> float:
        """How often it is pinged: three times in what it waits; 0 when it waits for no pings."""
        ...

    def ready(self) -> None:
        """What others start after us may start now."""
        ...

    def status(self, text: str) -> None:
        """What we do now, in words for a person."""
        ...

    def extend(self, seconds: float) -> None:
        """Starting goes on, and ``seconds`` from now it will do so at the most, or this is called again."""
        ...

    def ping(self) -> None:
        """We do not hang."""
        ...

    def stopping(self) -> None:
        """We have begun to end; safe to call twice."""
        ...
