"""The bus carries facts to whoever watches; nobody on it can change or stop a turn."""

from __future__ import annotations

import logging
from collections.abc import Callable

from appliance.events import Event

_LOG = logging.getLogger(__name__)

Subscriber = Callable[[Event], None]


class Bus:
    """Publishes events to subscribers, in order, on the loop's thread.

    A subscriber must return at once and not await. One that raises is logged and stays subscribed:
    a broken trace must not cost the face.
    """

    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call ``subscriber`` with every event from now on; the returned function ends that."""
        self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Tell every subscriber."""
        for subscriber in list(self._subscribers):
            try:
                subscriber(event)
            except Exception:
                _LOG.exception("an observer failed on %s", type(event).__name__)
