"""How a head is built, as a board with the face link is told it and stores it.

The check sum over it (the same as in ``firmware/core/config.c``) tells whether both sides have the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from appliance.adapters.face_frames import crc16
from appliance.ports_face import JOINTS, BoardSettings, JointSettings

KEY_CALIBRATE, KEY_BRIGHTNESS_CAP, KEY_STORE, KEY_RESET, KEY_JOINT = 0x00, 0x01, 0x02, 0x03, 0x10
#: The value that makes the board store, or forget: nothing is written by accident.
STORE_WORD = 0xA55A

#: Fields of a joint in the order of the protocol; a joint's keys begin every 8.
_FIELDS = ("neutral_us", "us_per_degree_x100", "min_us", "max_us", "is_reversed", "holds")
_KEYS_OF_JOINT = 8


def settings_crc(settings: BoardSettings) -> int:
    """What a board computes over the same settings."""
    data = bytearray((settings.brightness_cap,))
    for joint in settings.joints:
        *pulses, is_reversed, holds = _values(joint)
        for value in pulses:
            data += value.to_bytes(2, "little")
        data += bytes((is_reversed, holds))
    return crc16(bytes(data))


def settings_entries(settings: BoardSettings) -> Iterator[tuple[int, int]]:
    """Every key of the protocol's CONFIG with its value."""
    yield KEY_BRIGHTNESS_CAP, settings.brightness_cap
    for name, joint in zip(JOINTS, settings.joints, strict=True):
        yield from joint_entries(name, joint)


def joint_entries(name: str, joint: JointSettings) -> Iterator[tuple[int, int]]:
    """The keys of one joint with their values."""
    return zip(_joint_keys(name), _values(joint), strict=True)


def settings_keys() -> list[int]:
    """Every key that ``settings_from`` needs, in its order."""
    return [KEY_BRIGHTNESS_CAP, *(key for name in JOINTS for key in _joint_keys(name))]


def settings_from(values: Sequence[int]) -> BoardSettings:
    """What a board answered for ``settings_keys``. Raises ``ValueError`` for what no head can have."""
    cap, *rest = values
    joints = {}
    for index, name in enumerate(JOINTS):
        neutral, hundredths, least, most, is_reversed, holds = rest[index * len(_FIELDS) : (index + 1) * len(_FIELDS)]
        joints[name] = JointSettings(neutral, hundredths / 100, least, most, bool(is_reversed), bool(holds))
    return BoardSettings(cap, **joints)


def key_name(key: int) -> str:
    """A key of CONFIG in words."""
    joint, entry = divmod(key - KEY_JOINT, _KEYS_OF_JOINT)
    if key >= KEY_JOINT and joint < len(JOINTS) and entry < len(_FIELDS):
        return f"{JOINTS[joint]}.{_FIELDS[entry]}"
    names = {KEY_CALIBRATE: "calibrate", KEY_BRIGHTNESS_CAP: "brightness_cap", KEY_STORE: "store", KEY_RESET: "reset"}
    return names.get(key, f"key {key}")


def _joint_keys(name: str) -> range:
    start = KEY_JOINT + _KEYS_OF_JOINT * JOINTS.index(name)
    return range(start, start + len(_FIELDS))


def _values(joint: JointSettings) -> tuple[int, ...]:
    hundredths = round(joint.us_per_degree * 100)
    return (joint.neutral_us, hundredths, joint.min_us, joint.max_us, int(joint.is_reversed), int(joint.holds))
