"""A small host for tests: stop-and-wait over a real serial port, and nothing of the real adapter's code."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import serial

from appliance.adapters.face_frames import REPLY, Frame, FrameReader, Message, Refusal

#: Longest wait for what must come some time, on however busy a machine.
PATIENCE_SECONDS = 60.0
TRIES = 3


class NoAnswerError(Exception):
    """Asked three times, no answer."""


class Talker:
    """One command at a time, three tries with the same number. ``events`` and ``refusals`` keep what came unasked."""

    def __init__(self, port: serial.Serial, answer_seconds: float) -> None:
        self.events: list[Frame] = []
        self.port = port
        self._answer_seconds = answer_seconds
        self._reader = FrameReader()
        self._seq = 0

    def ask(self, message: int, payload: bytes = b"", *, seconds: float | None = None) -> Frame:
        """Send, and wait for the answer or the refusal. Raises ``NoAnswerError``."""
        self._seq = self._seq % 255 + 1
        frame = Frame(message, self._seq, payload)
        for _ in range(TRIES):
            self.port.write(frame.packed())
            answer = self._wait(
                lambda got: got.seq == frame.seq and got.type in (message | REPLY, Message.NAK),
                seconds or self._answer_seconds,
            )
            if answer is not None:
                return answer
        raise NoAnswerError(Message(message).name)

    def do(self, message: int, payload: bytes = b"", *, seconds: float | None = None) -> bytes:
        """Send what is obeyed; the payload of its answer."""
        answer = self.ask(message, payload, seconds=seconds)
        assert answer.type == message | REPLY, f"refused: {answer}"
        return answer.payload

    def hello(self, nonce: int = 0x1234) -> tuple[int, ...]:
        """Shake hands, as often as it takes; the fields of the answer."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            nonce += 1
            try:
                fields = struct.unpack("<9BHHI", self.do(Message.HELLO, struct.pack("<BBI", 1, 1, nonce)))
            except NoAnswerError:
                continue
            assert fields[11] == nonce
            return fields
        raise TimeoutError("the board does not greet")

    def insist(self, message: int, payload: bytes, *, seconds: float | None = None) -> bool:
        """Tell it until it is obeyed; whether the board had lost us meanwhile and was greeted again."""
        deadline, has_greeted = time.monotonic() + PATIENCE_SECONDS, False
        while time.monotonic() < deadline:
            try:
                answer = self.ask(message, payload, seconds=seconds)
            except NoAnswerError:
                continue
            if answer.type != Message.NAK:
                return has_greeted
            refusal = Refusal(answer.payload[0])
            assert refusal in (Refusal.NO_HELLO, Refusal.BUSY), answer
            if refusal is Refusal.NO_HELLO:
                self.hello()
                has_greeted = True
        raise TimeoutError("the board does not obey")

    def face(self, mood: int, *, strength: int = 255, transition_ms: int = 100, hold_ms: int = 0) -> None:
        """Show a mood."""
        self.do(Message.FACE, struct.pack("<BBHH", mood, strength, transition_ms, hold_ms))

    def event(self, kind: int) -> Frame:
        """Wait for an event of that type, keeping the board company meanwhile only by listening."""
        for known in self.events:
            if known.type == kind:
                self.events.remove(known)
                return known
        found = self._wait(lambda got: got.type == kind, PATIENCE_SECONDS)
        assert found is not None, f"no event {kind:#x}"
        self.events.remove(found)
        return found

    def unnumbered_refusal(self) -> Refusal:
        """Wait for a refusal of something that had no number."""
        found = self._wait(lambda got: got.type == Message.NAK and got.seq == 0, PATIENCE_SECONDS)
        assert found is not None
        return Refusal(found.payload[0])

    def _wait(self, is_it: Callable[[Frame], bool], seconds: float) -> Frame | None:
        deadline = time.monotonic() + seconds
        found = None
        while found is None and time.monotonic() < deadline:
            for frame in self._reader.feed(self.port.read(max(1, self.port.in_waiting))):
                if Message.BOOT <= frame.type <= Message.FAULT:
                    self.events.append(frame)
                if found is None and is_it(frame):
                    found = frame
        return found


@contextmanager
def talking(tty: Path, *, answer_seconds: float = 0.15) -> Iterator[Talker]:
    """A host at the port."""
    with serial.Serial(str(tty), 57600, timeout=0.01, exclusive=True) as port:
        yield Talker(port, answer_seconds)
