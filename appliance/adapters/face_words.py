"""Frames of the face link in words, for a log and for whoever watches the wire."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

from appliance.adapters.face_board import key_name
from appliance.adapters.face_frames import REPLY, Frame, Message, Refusal
from appliance.events import Emotion
from appliance.ports_face import JOINTS, STATES

BUTTONS: Mapping[int, str] = {1: "talk", 2: "mute", 3: "stop"}
FAULTS: Mapping[int, str] = {
    1: "it restarted three times within a minute, so only its lights work; servos need a supply of their own",
    2: "its stored settings were damaged; it goes by the usual ones until it is told others",
}
_MOODS = tuple(Emotion)


def described(frame: Frame) -> str:
    """One line: what it is, what it says, its number."""
    kind = frame.type & ~REPLY if frame.type not in set(Message) else frame.type
    name = Message(kind).name if kind in set(Message) else f"type 0x{frame.type:02x}"
    answered = " answered" if kind != frame.type else ""
    try:
        said = _WORDS[frame.type](frame.payload) if frame.type in _WORDS else frame.payload.hex()
    except (struct.error, IndexError):
        said = f"{frame.payload.hex() or 'nothing'} (not as it should be)"
    return f"{name}{answered} {said}".rstrip() + f" #{frame.seq}"


def reset_cause(bits: int) -> str:
    """Why a board started, in words."""
    names = {1: "power", 2: "reset pin", 4: "supply too low", 8: "its program hung"}
    return ", ".join(name for bit, name in names.items() if bits & bit) or "unknown"


def refusal(code: int) -> str:
    """Why a board refused, in words."""
    return Refusal(code).name.lower().replace("_", " ") if code in set(Refusal) else f"reason {code}"


def event_words(frame: Frame) -> str:
    """What a board said unasked, for a person."""
    what = frame.payload[0] if frame.payload else 0
    match frame.type:
        case Message.BUTTON:
            return f"its button: {BUTTONS.get(what, f'action {what}')}"
        case Message.FAULT:
            return FAULTS.get(what, f"fault {what}")
        case Message.SAFE:
            return "it heard nothing for two seconds and takes care of itself"
        case Message.BOOT:
            return f"it has started ({reset_cause(frame.payload[3] if len(frame.payload) > 3 else 0)})"
    return described(frame)


def doing(flags: int) -> str:
    """The flags of PING's answer in words."""
    names = {1: "safe", 2: "parked", 4: "lights only", 8: "calibrating"}
    return ", ".join(name for bit, name in names.items() if flags & bit) or "awake"


# ------------------------------------------------------------------------------------------------- private


def _hello(payload: bytes) -> str:
    least, most, _ = struct.unpack("<BBI", payload)
    return f"versions {least} to {most}"


def _hello_answer(payload: bytes) -> str:
    protocol, major, minor, _, servos, pixels, moods, cause, flags, boot, _, _ = struct.unpack("<9BHHI", payload)
    return (
        f"firmware {major}.{minor}, protocol {protocol}, {servos} servos, {pixels} lights, {moods} moods, "
        f"{doing(flags)}, start {boot} by {reset_cause(cause)}"
    )


def _ping_answer(payload: bytes) -> str:
    uptime_ms, flags, damaged, dropped, supply_mv = struct.unpack("<IBHHH", payload)
    return f"up {uptime_ms / 1000:.1f} s, {doing(flags)}, {supply_mv} mV, {damaged} damaged, {dropped} dropped"


def _face(payload: bytes) -> str:
    mood, intensity, transition_ms, hold_ms = struct.unpack("<BBHH", payload)
    hold = f", for {hold_ms} ms" if hold_ms else ""
    return f"{_named(_MOODS, mood)} {intensity * 100 // 255} % in {transition_ms} ms{hold}"


def _config(payload: bytes) -> str:
    if len(payload) == 1:
        return f"{key_name(payload[0])}?"
    key, value = struct.unpack("<BH", payload)
    return f"{key_name(key)} = {value}"


def _button(payload: bytes) -> str:
    action, held_ms = struct.unpack("<BH", payload)
    return f"{BUTTONS.get(action, action)}, held {held_ms} ms"


def _pose(payload: bytes) -> str:
    joint, pulse_us = struct.unpack("<BH", payload)
    return f"{_named(JOINTS, joint)} {pulse_us} us"


def _boot(payload: bytes) -> str:
    protocol, major, minor, cause, boot = struct.unpack("<4BH", payload)
    return f"firmware {major}.{minor}, protocol {protocol}, start {boot} by {reset_cause(cause)}"


def _named(names: Sequence[str], index: int) -> str:
    return str(names[index]) if index < len(names) else f"number {index}"


_WORDS: Mapping[int, Callable[[bytes], str]] = {
    Message.HELLO: _hello,
    Message.HELLO | REPLY: _hello_answer,
    Message.PING | REPLY: _ping_answer,
    Message.FACE: _face,
    Message.FACE | REPLY: lambda payload: _named(_MOODS, payload[0]),
    Message.MOUTH: lambda payload: f"{payload[0] * 100 // 255} % open",
    Message.GAZE: lambda payload: "{} {}".format(*struct.unpack("<bb", payload)),
    Message.GAZE | REPLY: lambda payload: "{} {}".format(*struct.unpack("<bb", payload)),
    Message.STATE: lambda payload: _named(STATES, payload[0]),
    Message.STATE | REPLY: lambda payload: _named(STATES, payload[0]),
    Message.POSE: _pose,
    Message.POSE | REPLY: lambda payload: f"{struct.unpack('<H', payload)[0]} us",
    Message.CONFIG: _config,
    Message.CONFIG | REPLY: _config,
    Message.BOOT: _boot,
    Message.SAFE: lambda payload: "host lost" if payload[0] == 1 else f"reason {payload[0]}",
    Message.BUTTON: _button,
    Message.FAULT: lambda payload: FAULTS.get(payload[0], f"{payload[0]}"),
    Message.NAK: lambda payload: refusal(payload[0]),
}
