"""Packed bodies come out whole, in small pieces, however their bytes arrive."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise

import pytest

from appliance.errors import NetworkDecodingError
from appliance.network.inflate import Inflater
from tests.network.http_server import packed

STEP = 65_536


def unpack(encoding: str, body: bytes, cuts: int = 0, seed: int = 0) -> bytes:
    """Fed in ``cuts`` + 1 pieces, cut anywhere."""
    places = sorted([0, len(body), *(random.Random(seed).randrange(len(body) + 1) for _ in range(cuts))])
    inflater = Inflater(encoding)
    pieces = [piece for start, end in pairwise(places) for piece in inflater.feed(body[start:end])]
    inflater.end()
    assert max(map(len, pieces), default=0) <= STEP
    return b"".join(pieces)


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw"])
@pytest.mark.parametrize("size", [0, 1, STEP - 1, STEP, STEP + 1, 2 * STEP, 3 * STEP + 258])
@pytest.mark.parametrize("is_noise", [True, False])
def test_a_body_comes_out_whole_however_it_is_cut(kind: str, size: int, is_noise: bool) -> None:
    body = random.Random(1).randbytes(size) if is_noise else bytes(size)
    for cuts in (0, 1, 7, 40):
        for seed in range(5):
            assert unpack("deflate" if kind == "raw" else kind, packed(body, kind), cuts, seed) == body


def test_a_gzip_of_several_parts_is_one_body() -> None:
    parts = gzip.compress(b"one ") + gzip.compress(b"two")
    assert all(unpack("x-gzip", parts, cuts) == b"one two" for cuts in range(8))


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_filling_behind_the_end_means_nothing(encoding: str) -> None:
    assert unpack(encoding, packed(b"body", encoding) + bytes(100), 3) == b"body"


def test_what_is_not_packed_passes() -> None:
    assert unpack("", b"plain") == unpack("Identity", b"plain") == b"plain"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("lost_bytes", [1, 5, 200])
def test_a_body_that_is_cut_off_is_an_error(encoding: str, lost_bytes: int) -> None:
    body = packed(random.Random(1).randbytes(1000), encoding)
    with pytest.raises(NetworkDecodingError, match="cut off"):
        unpack(encoding, body[:-lost_bytes])


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip, br", "compress"])
def test_other_packings_are_errors(encoding: str) -> None:
    with pytest.raises(NetworkDecodingError, match="packed in a way"):
        Inflater(encoding)
