"""The frames of the wire, in C and in Python: both must agree with firmware/vectors.tsv, byte for byte."""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.adapters.face_frames import PAYLOAD_MAX, Frame, FrameReader, crc16
from tests.firmware.core import Core, HostBuild
from tests.firmware.rig import FIRMWARE


@dataclass(frozen=True)
class Vector:
    """One line of the file."""

    kind: str
    name: str
    data: bytes
    columns: tuple[str, ...]


def _vectors(*kinds: str) -> list[Vector]:
    lines = (FIRMWARE / "vectors.tsv").read_text(encoding="ascii").splitlines()
    rows = [(line.split("\t") + [""] * 6)[:6] for line in lines if not line.startswith("#")]
    return [Vector(row[0], row[1], bytes.fromhex(row[2]), tuple(row[3:])) for row in rows if row[0] in kinds]


def _frame_of(vector: Vector) -> Frame:
    kind, seq, payload = (bytes.fromhex(column) for column in vector.columns)
    return Frame(kind[0], seq[0], payload)


def _read_in_c(core: Core, data: bytes) -> tuple[list[Frame], int]:
    """Frames that a fresh link finds, and how often it found something damaged."""
    room, damaged = ctypes.create_string_buffer(4 * len(data) + 64), ctypes.c_uint()
    length = core.library.host_frames(data, len(data), room, ctypes.byref(damaged))
    raw, frames = room.raw[:length], []
    while raw:
        frames.append(Frame(raw[0], raw[1], raw[3 : 3 + raw[2]]))
        raw = raw[3 + raw[2] :]
    return frames, damaged.value


def _packed_in_c(core: Core, frame: Frame) -> bytes:
    wire = ctypes.create_string_buffer(64)
    count = core.library.host_packed(frame.type, frame.seq, frame.payload, len(frame.payload), wire)
    return wire.raw[:count]


def test_the_file_of_vectors_is_read_at_all() -> None:
    assert len(_vectors("frame")) > 15
    assert len(_vectors("damaged")) > 8


@pytest.mark.parametrize("vector", _vectors("frame"), ids=lambda vector: vector.name)
def test_a_frame_is_packed_and_read_alike_in_both_languages(core: Core, vector: Vector) -> None:
    frame = _frame_of(vector)
    assert frame.packed() == vector.data
    assert _packed_in_c(core, frame) == vector.data
    assert FrameReader().feed(vector.data) == [frame]
    assert _read_in_c(core, vector.data) == ([frame], 0)


@pytest.mark.parametrize("vector", _vectors("damaged"), ids=lambda vector: vector.name)
def test_what_is_damaged_is_no_frame_in_either_language(core: Core, vector: Vector) -> None:
    reader = FrameReader()
    assert reader.feed(vector.data) == []
    assert reader.damaged == 1
    assert _read_in_c(core, vector.data) == ([], 1)


@pytest.mark.parametrize("vector", _vectors("stream"), ids=lambda vector: vector.name)
def test_noise_costs_only_the_frame_it_hits(core: Core, vector: Vector) -> None:
    def heads(frames: list[Frame]) -> str:
        return " ".join(f"{frame.type:02x}:{frame.seq:02x}" for frame in frames)

    assert heads(FrameReader().feed(vector.data)) == vector.columns[0]
    assert heads(_read_in_c(core, vector.data)[0]) == vector.columns[0]


@pytest.mark.parametrize("vector", _vectors("crc"), ids=lambda vector: vector.name)
def test_the_check_sum_is_the_same_in_both_languages(core: Core, vector: Vector) -> None:
    assert crc16(vector.data) == int(vector.columns[0], 16)
    assert core.library.crc16(vector.data, len(vector.data)) == int(vector.columns[0], 16)


def test_both_languages_find_the_same_frames_in_any_bytes(host_build: HostBuild) -> None:
    core = Core(host_build)
    good = [vector.data for vector in _vectors("frame")]

    @settings(max_examples=300, deadline=None)
    @given(st.lists(st.one_of(st.binary(max_size=70), st.sampled_from(good)), max_size=8), st.randoms())
    def agree(pieces: list[bytes], chance: random.Random) -> None:
        data = bytearray(b"".join(pieces))
        if data and chance.random() < 0.5:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        assert FrameReader().feed(bytes(data)) == _read_in_c(core, bytes(data))[0]

    agree()


def test_no_payload_comes_back_changed(host_build: HostBuild) -> None:
    core = Core(host_build)

    @settings(max_examples=300, deadline=None)
    @given(st.integers(0, 255), st.integers(0, 255), st.binary(max_size=PAYLOAD_MAX))
    def returns(kind: int, seq: int, payload: bytes) -> None:
        frame = Frame(kind, seq, payload)
        wire = frame.packed()
        assert wire == _packed_in_c(core, frame)
        assert b"\0" not in wire[1:-1]
        assert _read_in_c(core, wire) == ([frame], 0)

    returns()
