"""The mouth goes with what is heard, not with what was sent to the sound card."""

from __future__ import annotations

import asyncio

import pytest

from appliance.clock import FakeClock
from appliance.speak.mouth import MouthTrack, openness


@pytest.mark.parametrize(
    ("wide", "narrow"), [("a", "i"), ("ɑ", "ə"), ("ˈɛ", "s"), ("oʊ", "f"), ("l", "m"), ("t", "p"), ("ʌ", "u")]
)
def test_open_sounds_open_it_further(wide: str, narrow: str) -> None:
    assert openness(wide) > openness(narrow)


@pytest.mark.parametrize("pause", ["", " ", ".", ",", "ˈ", "ː", "_", "^", "$"])
def test_a_pause_shuts_it(pause: str) -> None:
    assert openness(pause) == 0.0


def test_it_opens_when_the_sound_is_heard() -> None:
    clock = FakeClock()
    start = clock.monotonic_seconds()
    track = MouthTrack(clock.monotonic_seconds, latency_seconds=0.06)
    for share in (0.0, 0.5, 1.0):
        track.note(share)
        asyncio.run(clock.advance(0.02))
    assert [track.at(start + after) for after in (0.05, 0.065, 0.085, 0.105)] == [0.0, 0.0, 0.5, 1.0]
