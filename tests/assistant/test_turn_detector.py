"""A whole box that can tell whether people have finished."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.turn_detector import FakeTurnDetector
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.assembly_ground import Adapters
from appliance.errors import WeightsError
from appliance.events import EndReason
from tests.assistant.rig import WAKE_WORD, Rig


class DetectingRig(Rig):
    """A box with a turn detector."""

    def __init__(self, folder: Path, matcher: HassilMatcher, detector: FakeTurnDetector) -> None:
        super().__init__(folder, matcher)
        self.detector = detector

    def _adapters(self) -> Adapters:
        return replace(super()._adapters(), turn_detector=self.detector)


MakeDetectingRig = Callable[[FakeTurnDetector], Coroutine[Any, Any, DetectingRig]]


@pytest.fixture
async def make(tmp_path: Path, matcher: HassilMatcher) -> AsyncIterator[MakeDetectingRig]:
    rigs: list[DetectingRig] = []

    async def made(detector: FakeTurnDetector) -> DetectingRig:
        rigs.append(DetectingRig(tmp_path, matcher, detector))
        await rigs[-1].start()
        return rigs[-1]

    yield made
    for rig in rigs:
        await rig.close()
        assert rig.detector.is_closed
        rig.disk.unplug()


async def asks(rig: Rig, silence_seconds: float) -> None:
    """The wake word, a question, and so much silence."""
    rig.ears.will_hear("what time is it")
    await rig.hears(WAKE_WORD)
    rig.speaks(0.6)
    await rig.runs(0.6 + silence_seconds)


async def test_who_sounds_finished_is_answered_sooner(make: MakeDetectingRig) -> None:
    rig = await make(FakeTurnDetector(usually=0.99))
    await asks(rig, silence_seconds=0.4)
    assert rig.detector.is_warm
    assert not rig.is_ear_open
    await rig.rests()
    assert rig.endings == [EndReason.ANSWERED]


async def test_who_sounds_unfinished_is_given_time(make: MakeDetectingRig) -> None:
    rig = await make(FakeTurnDetector(usually=0.0))
    await asks(rig, silence_seconds=0.8)
    assert rig.is_ear_open
    await rig.rests()
    assert rig.endings == [EndReason.ANSWERED]


async def test_without_weights_the_timer_goes_on_and_the_status_says_why(make: MakeDetectingRig) -> None:
    class Lost(FakeTurnDetector):
        async def warm_up(self) -> None:
            raise WeightsError("the weights smart-turn are not here; run: appliance models fetch smart-turn")

        async def finished_probability(self, so_far: object) -> float:
            raise WeightsError("the weights smart-turn are not here; run: appliance models fetch smart-turn")

    rig = await make(Lost())
    status = await rig.control.call("status", {})
    assert status["not loaded"] == [
        "turn detector: the weights smart-turn are not here; run: appliance models fetch smart-turn"
    ]
    await asks(rig, silence_seconds=0.4)
    is_open_early = rig.is_ear_open
    await rig.runs(0.5)
    assert (is_open_early, rig.is_ear_open) == (True, False)
    await rig.rests()
    assert rig.endings == [EndReason.ANSWERED]
