"""The face on a microcontroller, over a serial port (pyserial); the recommended way to drive servos.

The board moves by itself: it is told moods and what the box does, and follows the mouth. One thread talks to it. A
board that is pulled, hangs or restarts is found again by the stage, which calls ``apply`` until it works.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Sequence

from appliance.adapters.face_board import KEY_BRIGHTNESS_CAP, KEY_STORE, STORE_WORD, settings_crc, settings_entries
from appliance.adapters.face_frames import Frame, Message
from appliance.adapters.face_link import FaceLink, Hello, Port
from appliance.adapters.face_words import BUTTONS, FAULTS, event_words, reset_cause
from appliance.clock import Clock
from appliance.events import Emotion
from appliance.ports import FacePart, FaceState
from appliance.ports_face import STATES, BoardSettings

_LOG = logging.getLogger(__name__)

#: The board goes to its safe state when it hears nothing for two seconds; a board that only listens may be dead.
_PING_SECONDS = 0.5
#: A gaze that moved less is not told: nobody sees it.
_GAZE_STEP = 0.15
#: A bit of HELLO's flags, and the fault that says the same.
_LIGHTS_ONLY, _FAULT_LIGHTS_ONLY = 4, 1

OpenPort = Callable[[], Port]


class SerialFace:
    """``FaceBackend``. ``known_mood`` gives the nearest mood for a board that knows so many.

    ``settings`` None leaves the board's own. ``on_button`` gets "talk", "mute" or "stop" on this thread; a board's
    button never approves anything.
    """

    def __init__(
        self,
        name: str,
        open_port: OpenPort,
        clock: Clock,
        *,
        moods: Sequence[Emotion],
        known_mood: Callable[[Emotion, int], Emotion],
        settings: BoardSettings | None = None,
        on_button: Callable[[str], None] = lambda _action: None,
    ) -> None:
        self.on_button = on_button
        self._name = name
        self._open_port = open_port
        self._clock = clock
        self._moods = moods
        self._known_mood = known_mood
        self._settings = settings
        self._link: FaceLink | None = None
        self._hello: Hello | None = None
        self._told: dict[Message, bytes] = {}
        self._gaze = (0.0, 0.0)
        #: How bright the lights may be by the settings, and what the board was told last.
        self._cap: int | None = settings.brightness_cap if settings is not None else None
        self._told_cap: int | None = None
        self._mouth = 0

    @property
    def name(self) -> str:
        """What it was called."""
        return self._name

    @property
    def parts(self) -> frozenset[FacePart]:
        """Servos and lights."""
        return frozenset(FacePart) - {FacePart.GAZE}

    @property
    def poses_per_second(self) -> float:
        """More often than poses come, so that none waits: the mouth goes with the sound."""
        return 30.0

    def apply(self, state: FaceState) -> None:
        """See ``FaceBackend``; shakes hands first when there is no link."""
        try:
            link, hello = self._connected()
            link.listen()
            self._show(link, hello, state)
        except OSError as error:
            self._lose()
            raise OSError(f"{self._name}: {error}") from error

    def greet(self) -> None:
        """Shake hands without showing anything, so that it can be parked. Raises ``OSError``."""
        self._connected()

    def park(self) -> None:
        """See ``FaceBackend``; returns when the head is at rest."""
        if self._link is not None:
            self._told.clear()
            self._tell_cap(self._link, 1.0)
            self._link.command(Message.PARK)

    def close(self) -> None:
        """Give the port back; safe to call twice."""
        self._lose()

    # ------------------------------------------------------------------------------------------- private

    def _connected(self) -> tuple[FaceLink, Hello]:
        if self._link is None or self._hello is None:
            link = FaceLink(self._open_port(), self._clock.monotonic_seconds, self._note)
            try:
                hello = link.hello()
                self._bring_settings(link, hello)
            except BaseException:
                link.close()
                raise
            self._link, self._hello = link, hello
            self._told.clear()
            self._told_cap, self._mouth, self._gaze = self._cap, 0, (0.0, 0.0)
            _LOG.info("%s: firmware %s, last start: %s", self._name, hello.firmware, reset_cause(hello.reset_cause))
            if hello.flags & _LIGHTS_ONLY:
                _LOG.warning("%s: %s", self._name, FAULTS[_FAULT_LIGHTS_ONLY])
        return self._link, self._hello

    def _bring_settings(self, link: FaceLink, hello: Hello) -> None:
        if self._settings is None or hello.config_crc == settings_crc(self._settings):
            return
        for key, value in settings_entries(self._settings):
            link.command(Message.CONFIG, struct.pack("<BH", key, value))
        link.command(Message.CONFIG, struct.pack("<BH", KEY_STORE, STORE_WORD))

    def _show(self, link: FaceLink, hello: Hello, state: FaceState) -> None:
        mood = self._moods.index(self._known_mood(state.emotion, hello.moods))
        transition_ms = round(state.transition_seconds * 1000)
        self._tell_change(link, Message.FACE, struct.pack("<BBHH", mood, _byte(state.intensity), transition_ms, 0))
        self._tell_change(link, Message.STATE, bytes((STATES.index(state.activity),)))
        self._tell_cap(link, state.dimming)
        self._tell_gaze(link, state)
        mouth = _byte(state.mouth_open)
        if mouth or self._mouth:
            # It falls shut by itself, so it is told again and again while it is open.
            link.tell(Message.MOUTH, bytes((mouth,)))
            self._mouth = mouth
        if self._clock.monotonic_seconds() - link.answered_at_seconds >= _PING_SECONDS:
            link.command(Message.PING)

    def _tell_change(self, link: FaceLink, message: Message, payload: bytes) -> None:
        if self._told.get(message) != payload:
            link.command(message, payload)
            self._told[message] = payload

    def _tell_cap(self, link: FaceLink, dimming: float) -> None:
        """Turn the lights down by their cap; it is not stored, so the board's own comes back when it restarts."""
        if self._cap is None:
            if dimming == 1.0:
                return
            _, self._cap = struct.unpack("<BH", link.command(Message.CONFIG, bytes((KEY_BRIGHTNESS_CAP,))))
            self._told_cap = self._cap
        cap = round(self._cap * dimming)
        if cap != self._told_cap:
            link.command(Message.CONFIG, struct.pack("<BH", KEY_BRIGHTNESS_CAP, cap))
            self._told_cap = cap

    def _tell_gaze(self, link: FaceLink, state: FaceState) -> None:
        x, y = state.gaze_x, state.gaze_y
        if max(abs(x - self._gaze[0]), abs(y - self._gaze[1])) >= _GAZE_STEP:
            link.command(Message.GAZE, struct.pack("<bb", round(x * 100), round(y * 100)))
            self._gaze = (x, y)

    def _note(self, frame: Frame) -> None:
        action = BUTTONS.get(frame.payload[0], "") if frame.type == Message.BUTTON and frame.payload else ""
        if action:
            self.on_button(action)
        elif frame.type == Message.FAULT and frame.payload[:1] != bytes((_FAULT_LIGHTS_ONLY,)):
            # That one is in the greeting too, while its own frame is lost when the port is opened again.
            _LOG.warning("%s: %s", self._name, event_words(frame))

    def _lose(self) -> None:
        link, self._link, self._hello = self._link, None, None
        if link is not None:
            link.close()


def _byte(share: float) -> int:
    return round(min(1.0, max(0.0, share)) * 255)
