"""The stage: the face's own thread, which asks the animator for a pose and shows it on every backend.

It never holds up speech: the loop only drops facts into a queue. A backend that fails is told once in the log,
left alone with growing pauses, and tried again.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from appliance.clock import Clock
from appliance.events import Event
from appliance.face.animator import Animator
from appliance.ports import FaceBackend

_LOG = logging.getLogger(__name__)

_RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)


@dataclass
class _Shown:
    """A backend with its state of health."""

    backend: FaceBackend
    failures: int = 0
    retry_at_seconds: float = 0.0


class Stage:
    """Shows the face until ``close``."""

    def __init__(self, animator: Animator, backends: Sequence[FaceBackend], clock: Clock, poses_per_second: float):
        self._animator = animator
        self._shown = [_Shown(backend) for backend in backends]
        self._clock = clock
        self._period_seconds = 1.0 / poses_per_second
        self._facts: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def tell(self, event: Event) -> None:
        """A fact for the face. Any thread; returns at once."""
        self._facts.put(event)

    def open(self) -> None:
        """Start the thread (none without a backend)."""
        if self._shown:
            self._thread = threading.Thread(target=self._run, name="face", daemon=True)
            self._thread.start()

    def show(self) -> None:
        """One step: take the facts, show one pose. Called by the thread; by tests directly."""
        while True:
            try:
                self._animator.tell(self._facts.get_nowait())
            except queue.Empty:
                break
        now = self._clock.monotonic_seconds()
        state = self._animator.pose(now)
        for shown in self._shown:
            if now < shown.retry_at_seconds:
                continue
            try:
                shown.backend.apply(state)
                shown.failures = 0
            except Exception as error:
                if shown.failures == 0:
                    _LOG.warning("the face on %s failed: %s; trying again later", shown.backend.name, error)
                pause = _RETRY_SECONDS[min(shown.failures, len(_RETRY_SECONDS) - 1)]
                shown.failures += 1
                shown.retry_at_seconds = now + pause

    @property
    def health(self) -> dict[str, str]:
        """Each backend with "ok" or what is wrong, for ``status``."""
        return {s.backend.name: "ok" if s.failures == 0 else f"failed {s.failures} times" for s in self._shown}

    def close(self) -> None:
        """Park and close every backend; safe to call twice."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
            self._thread = None
        for shown in self._shown:
            for step in (shown.backend.park, shown.backend.close):
                try:
                    step()
                except Exception as error:
                    _LOG.warning("closing the face on %s failed: %s", shown.backend.name, error)

    def _run(self) -> None:
        while not self._closing.wait(self._period_seconds):
            self.show()
