"""A board with a face on the workbench: looked at and adjusted by a person, over the same link as ``face_serial``."""

from __future__ import annotations

import struct
from collections.abc import Callable

from appliance.adapters.face_board import (
    KEY_CALIBRATE,
    KEY_STORE,
    STORE_WORD,
    joint_entries,
    settings_crc,
    settings_entries,
    settings_from,
    settings_keys,
)
from appliance.adapters.face_frames import Frame, Message
from appliance.adapters.face_link import FaceLink, Hello, Port
from appliance.adapters.face_words import described, doing, event_words, reset_cause
from appliance.ports_face import JOINTS, BoardHealth, BoardInfo, BoardSettings, JointSettings

_CAN_BUTTON = 4


class SerialFaceBoard:
    """``FaceBoard`` on an open port, which it greets at once. Raises ``OSError`` that says what to do.

    ``on_frame`` gets every frame on the wire in words.
    """

    def __init__(
        self,
        name: str,
        port: Port,
        now_seconds: Callable[[], float],
        on_frame: Callable[[str], None] = lambda _words: None,
    ) -> None:
        self._name = name
        self._news: list[str] = []
        self._told: dict[int, int] = {}
        self._is_moving = False
        self._link = FaceLink(
            port,
            now_seconds,
            lambda event: self._news.append(event_words(event)),
            lambda is_ours, frame: on_frame(_line(is_ours, frame)),
        )
        try:
            self._hello: Hello = self._link.hello()
        except BaseException:
            port.close()
            raise

    @property
    def info(self) -> BoardInfo:
        """See ``FaceBoard``."""
        hello = self._hello
        return BoardInfo(
            self._name,
            hello.firmware,
            hello.protocol,
            hello.servos,
            hello.pixels,
            hello.moods,
            bool(hello.capabilities & _CAN_BUTTON),
            reset_cause(hello.reset_cause),
            hello.boot_id,
        )

    def health(self) -> BoardHealth:
        """See ``FaceBoard``."""
        payload = self._link.command(Message.PING)
        try:
            uptime_ms, flags, damaged, dropped, supply_mv = struct.unpack("<IBHHH", payload)
        except struct.error:
            raise OSError("the board's answer cannot be read; run: appliance face flash") from None
        return BoardHealth(uptime_ms / 1000, doing(flags), supply_mv / 1000, damaged, dropped)

    def news(self) -> tuple[str, ...]:
        """See ``FaceBoard``."""
        self._link.listen()
        news, self._news = self._news, []
        return tuple(news)

    def settings(self) -> BoardSettings:
        """See ``FaceBoard``."""
        try:
            return settings_from([self._asked(key) for key in settings_keys()])
        except ValueError as error:
            raise OSError(f"the board's settings make no sense ({error}); give it others") from error

    def move(self, joint: str, settings: JointSettings, pulse_us: int) -> int:
        """See ``FaceBoard``."""
        if not self._is_moving:
            self._tell(KEY_CALIBRATE, 1)
            self._is_moving = True
        for key, value in joint_entries(joint, settings):
            if self._told.get(key) != value:
                self._tell(key, value)
                self._told[key] = value
        payload = self._link.command(Message.POSE, struct.pack("<BH", JOINTS.index(joint), pulse_us))
        return int.from_bytes(payload, "little")

    def store(self, settings: BoardSettings) -> None:
        """See ``FaceBoard``."""
        for key, value in settings_entries(settings):
            self._tell(key, value)
        self._tell(KEY_STORE, STORE_WORD)
        if self._link.hello().config_crc != settings_crc(settings):
            raise OSError("the board did not keep the settings; try again")

    def park(self) -> None:
        """See ``FaceBoard``."""
        if self._is_moving:
            self._tell(KEY_CALIBRATE, 0)
            self._is_moving = False
        self._link.command(Message.PARK)

    def close(self) -> None:
        """See ``FaceBoard``."""
        self._link.close()

    def _asked(self, key: int) -> int:
        return int.from_bytes(self._link.command(Message.CONFIG, bytes((key,)))[1:], "little")

    def _tell(self, key: int, value: int) -> None:
        self._link.command(Message.CONFIG, struct.pack("<BH", key, value))


def _line(is_ours: bool, frame: Frame) -> str:
    return f"{'->' if is_ours else '<-'} {described(frame)}"
