"""The stage: one thread asks the animator for poses, and each backend has a thread of its own that shows the latest.

It never holds up speech: the loop only drops facts into a queue, and a backend that is slow, stuck or gone holds up
nobody but itself. One that is a screen shows a picture in place of the face, for a while. A backend that fails is told
once in the log, left alone with growing pauses, and tried again.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Sequence

from appliance.clock import Clock
from appliance.events import Event
from appliance.face.animator import Animator
from appliance.ports import FaceBackend, FaceState
from appliance.ports_pictures import PictureScreen

_LOG = logging.getLogger(__name__)

_RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
#: A backend that does not come back within this when the box closes is left behind.
_PARK_SECONDS = 3.0
#: How long a picture stays before the face comes back.
_PICTURE_SECONDS = 20.0


class Stage:
    """Shows the face until ``close``."""

    def __init__(self, animator: Animator, backends: Sequence[FaceBackend], clock: Clock, poses_per_second: float):
        self._animator = animator
        self._clock = clock
        self._period_seconds = 1.0 / poses_per_second
        #: One for each backend.
        self.players = [Player(backend, clock) for backend in backends]
        self._facts: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._pictures: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def tell(self, event: Event) -> None:
        """A fact for the face. Any thread; returns at once. Without a backend nobody would ever take it."""
        if self.players:
            self._facts.put(event)

    def show_picture(self, data: bytes) -> None:
        """A picture (a JPEG) for the backends that can show one, the newest first. Any thread; returns at once."""
        if self.players:
            self._pictures.put(data)

    def open(self) -> None:
        """Start the threads (none without a backend)."""
        if not self.players:
            return
        for player in self.players:
            player.open()
        self._thread = threading.Thread(target=self._run, name="face", daemon=True)
        self._thread.start()

    def show(self) -> None:
        """One step: take the facts, hand one pose to every backend. Called by the thread; by tests directly."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._animator.tell(self._facts.get_nowait())
        # It is looked at for a whole period, so it is the pose of its middle: a mouth is then never far from its sound.
        state = self._animator.pose(self._clock.monotonic_seconds() + self._period_seconds / 2)
        picture = self._newest_picture()
        for player in self.players:
            player.put(state, picture)

    def _newest_picture(self) -> bytes:
        newest = b""
        while not self._pictures.empty():
            newest = self._pictures.get_nowait()
        return newest

    @property
    def health(self) -> dict[str, str]:
        """Each backend with "ok" or what is wrong, for ``status``."""
        return {player.backend.name: player.health for player in self.players}

    def close(self) -> None:
        """Park and close every backend, all at the same time; safe to call twice."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
            self._thread = None
        if not self._pictures.empty():
            self.show()  # A command that ends with a picture leaves it where its face is.
        for player in self.players:
            player.begin_closing()
        for player in self.players:
            player.close()

    def _run(self) -> None:
        due = time.monotonic() + self._period_seconds
        while not self._closing.wait(max(0.0, due - time.monotonic())):
            self.show()
            # A pose that was late does not make the next one late too; those that were missed are not made up for.
            due = max(due + self._period_seconds, time.monotonic())


class Player:
    """One backend with its mailbox, which holds one pose: the latest."""

    def __init__(self, backend: FaceBackend, clock: Clock) -> None:
        self.backend = backend
        self._clock = clock
        self._news = threading.Condition()
        self._state: FaceState | None = None
        self._picture = b""
        self._picture_until = -1e9
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self._failures = 0
        self._problem = ""
        self._retry_at = 0.0
        self._is_closed = False

    @property
    def health(self) -> str:
        """ "ok", or what is wrong."""
        return "ok" if self._failures == 0 else f"failed {self._failures} times: {self._problem}"

    def open(self) -> None:
        """Start its thread."""
        self._thread = threading.Thread(target=self._run, name=f"face {self.backend.name}", daemon=True)
        self._thread.start()

    def put(self, state: FaceState, picture: bytes = b"") -> None:
        """The latest pose, and a picture for a screen; what was not shown yet is forgotten.

        Without a thread it is shown here.
        """
        with self._news:
            self._state = state
            self._picture = picture or self._picture
            self._news.notify()
        if self._thread is None:
            self.play()

    def play(self) -> None:
        """Show the latest pose, if there is a new one and the device is not left alone."""
        with self._news:
            state, self._state = self._state, None
            picture, self._picture = self._picture, b""
        now = self._clock.monotonic_seconds()
        if state is None or now < self._retry_at:
            return
        try:
            if picture and isinstance(self.backend, PictureScreen):
                self.backend.show_picture(picture)
                self._picture_until = now + _PICTURE_SECONDS
            elif now >= self._picture_until:
                self.backend.apply(state)
            if self._failures:
                _LOG.info("the face on %s works again", self.backend.name)
            self._failures = 0
        except Exception as error:
            self._note_failure(error, now)

    def begin_closing(self) -> None:
        """Tell its thread to end."""
        with self._news:
            self._is_closing = True
            self._news.notify()

    def close(self) -> None:
        """Park and give the device back, on its own thread; one that is stuck is left behind."""
        if self._thread is None:
            self._leave()
        else:
            self._thread.join(timeout=_PARK_SECONDS)
            if self._thread.is_alive():
                _LOG.warning("the face on %s does not answer; it is left as it is", self.backend.name)

    def _run(self) -> None:
        period_seconds = 1.0 / self.backend.poses_per_second
        while True:
            with self._news:
                self._news.wait_for(lambda: self._is_closing or self._state is not None)
                if self._is_closing:
                    break
            due = time.monotonic() + period_seconds
            self.play()
            with self._news:
                self._news.wait_for(lambda: self._is_closing, timeout=max(0.0, due - time.monotonic()))
        if self._picture:
            self.play()  # The last thing the person was to see.
        self._leave()

    def _leave(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        for step in (self.backend.park, self.backend.close):
            try:
                step()
            except Exception as error:
                _LOG.warning("closing the face on %s failed: %s", self.backend.name, error)

    def _note_failure(self, error: Exception, now: float) -> None:
        if self._failures == 0:
            _LOG.warning("the face on %s failed: %s; trying again later", self.backend.name, error)
        self._retry_at = now + _RETRY_SECONDS[min(self._failures, len(_RETRY_SECONDS) - 1)]
        self._failures += 1
        self._problem = str(error)
