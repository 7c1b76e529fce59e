"""The firmware's portable core, built for this computer with UBSan and driven from Python.

There is no chip and no time here: what would take minutes on a board takes milliseconds, the same each time.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from appliance.adapters.face_frames import REPLY, Frame, FrameReader, Message
from tests.firmware.pin_trace import JOINTS, Colours
from tests.firmware.rig import FIRMWARE

LIGHTS = 16
TICK_MS = 20


@dataclass(frozen=True)
class HostBuild:
    """The core as a library, and the program that feeds it what no host would send."""

    library: Path
    fuzzer: Path


def built_for_host(folder: Path) -> HostBuild:
    """The core, built into ``folder``."""
    subprocess.run(
        ["make", "--silent", "-C", str(FIRMWARE), f"BUILD={folder}", "host"], check=True, stdout=subprocess.PIPE
    )
    return HostBuild(folder / "libface.so", folder / "fuzz")


class Core:
    """One board on this computer; a new one is as the factory made it, and has started."""

    def __init__(self, build: HostBuild) -> None:
        self.library = ctypes.CDLL(str(build.library))
        self._seq = 0
        self._reader = FrameReader()
        self.library.host_complaint.restype = ctypes.c_char_p
        self.library.crc16.restype = self.library.eased.restype = ctypes.c_uint16
        self.library.host_new()
        self.start(cause=1)

    # --------------------------------------------------------------------------------------- the board

    def start(self, cause: int, *, button_is_down: bool = False) -> list[Frame]:
        """The board starts; what it says then."""
        self.library.host_start(cause, button_is_down)
        return self.sent()

    def take(self, data: bytes) -> list[Frame]:
        """Bytes come on its wire; what it answers."""
        self.library.host_take(data, len(data))
        return self.sent()

    def run(self, milliseconds: int, *, button_is_down: bool = False) -> list[Frame]:
        """Time passes; what it says meanwhile."""
        for _ in range(milliseconds // TICK_MS):
            self.library.host_tick(button_is_down)
        complaint = self.library.host_complaint()
        assert complaint is None, complaint
        return self.sent()

    def sent(self) -> list[Frame]:
        """What it has sent since the last look."""
        buffer = ctypes.create_string_buffer(4096)
        count = self.library.host_sent(buffer, len(buffer))
        return self._reader.feed(buffer.raw[:count])

    @property
    def pulses_us(self) -> list[int]:
        """What each servo gets; 0 is no pulse."""
        return self._shown()[0]

    @property
    def colours(self) -> Colours:
        """The lights, before gamma."""
        return self._shown()[1]

    @property
    def pose_us(self) -> list[int]:
        """Where each joint is, whether a pulse holds it there or not."""
        pose = (ctypes.c_uint16 * JOINTS)()
        self.library.host_pose(pose)
        return list(pose)

    @property
    def stores(self) -> tuple[int, int]:
        """How often the settings and the park pose were written."""
        counts = (ctypes.c_uint * 2)()
        self.library.host_stores(counts)
        return counts[0], counts[1]

    # --------------------------------------------------------------------------------------- the host's side

    def ask(self, message: int, payload: bytes = b"", *, seq: int | None = None) -> Frame:
        """Send a command; the one frame that comes back."""
        if seq is None:
            seq = self._seq = self._seq % 255 + 1
        answers = self.take(Frame(message, seq, payload).packed())
        assert len(answers) == 1, answers
        return answers[0]

    def do(self, message: int, payload: bytes = b"") -> bytes:
        """Send a command that is obeyed; the payload of its answer."""
        answer = self.ask(message, payload)
        assert answer.type == message | REPLY, f"refused: {answer}"
        return answer.payload

    def hello(self) -> bytes:
        """Shake hands; the payload of the answer."""
        return self.do(Message.HELLO, hello_payload())

    def face(self, mood: int, *, strength: int = 255, transition_ms: int = 0, hold_ms: int = 0) -> None:
        """Show a mood."""
        self.do(Message.FACE, struct.pack("<BBHH", mood, strength, transition_ms, hold_ms))

    def configure(self, key: int, value: int) -> None:
        """Change a setting."""
        self.do(Message.CONFIG, struct.pack("<BH", key, value))

    def run_alive(self, milliseconds: int) -> None:
        """Time passes while the host is there."""
        for _ in range(milliseconds // 1000):
            self.do(Message.PING)
            self.run(1000)
        self.run(milliseconds % 1000)

    def _shown(self) -> tuple[list[int], Colours]:
        pulses, lights = (ctypes.c_uint16 * JOINTS)(), (ctypes.c_uint8 * (3 * LIGHTS))()
        self.library.host_shown(pulses, lights)
        return list(pulses), triples(lights)


def triples(lights: ctypes.Array[ctypes.c_uint8]) -> Colours:
    """Bytes as colours."""
    return tuple((lights[at], lights[at + 1], lights[at + 2]) for at in range(0, len(lights), 3))


def hello_payload(nonce: int = 0x12345678, lowest: int = 1, highest: int = 1) -> bytes:
    """Of a greeting."""
    return struct.pack("<BBI", lowest, highest, nonce)
