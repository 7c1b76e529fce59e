"""A face that breaks never holds up the box."""

from __future__ import annotations

import asyncio
import logging

import pytest

from appliance.adapters.fakes.face import FakeFace
from appliance.clock import FakeClock
from appliance.events import Emotion, EmotionChanged
from appliance.face.animator import Animator
from appliance.face.stage import Stage


def stage_with(*faces: FakeFace, clock: FakeClock) -> Stage:
    return Stage(Animator(), faces, clock, poses_per_second=25)


def test_a_mood_reaches_every_backend() -> None:
    clock, one, two = FakeClock(), FakeFace(), FakeFace()
    stage = stage_with(one, two, clock=clock)
    stage.show()
    stage.tell(EmotionChanged("t", clock.monotonic_seconds(), Emotion.HAPPY, "reply"))
    stage.show()
    assert one.emotions == two.emotions == [Emotion.NEUTRAL, Emotion.HAPPY]


def test_a_dead_backend_is_told_once_tried_again_later_and_costs_the_other_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, broken, good = FakeClock(), FakeFace("lamp"), FakeFace("screen")
    broken.fail_next = 2
    stage = stage_with(broken, good, clock=clock)
    with caplog.at_level(logging.WARNING):
        stage.show()
        stage.show()  # still pausing: not asked
        asyncio.run(clock.advance(1.0))
        stage.show()  # fails again, not told again
    assert len(caplog.records) == 1
    assert stage.health == {"lamp": "failed 2 times", "screen": "ok"}
    asyncio.run(clock.advance(2.0))
    stage.show()
    assert len(broken.shown) == 1
    assert len(good.shown) == 4


def test_closing_parks_the_face() -> None:
    face = FakeFace()
    stage = stage_with(face, clock=FakeClock())
    stage.open()
    stage.close()
    assert face.is_parked and face.is_closed
