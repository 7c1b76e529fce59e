"""A face that breaks never holds up the box."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from appliance.adapters.fakes.face import FakeFace, FakeScreen
from appliance.clock import FakeClock
from appliance.events import Emotion, EmotionChanged
from appliance.face.animator import Animator
from appliance.face.stage import Stage
from appliance.ports import FaceState

#: Only for a fault: nothing here takes time.
PATIENCE_SECONDS = 10.0


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
    assert stage.health == {"lamp": "failed 2 times: the face is unplugged", "screen": "ok"}
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


class StuckFace(FakeFace):
    """A device whose bus hangs until it is let go."""

    def __init__(self) -> None:
        super().__init__("stuck")
        self.is_stuck = threading.Event()
        self.let_go = threading.Event()

    def apply(self, state: FaceState) -> None:
        self.is_stuck.set()
        self.let_go.wait(PATIENCE_SECONDS)
        super().apply(state)


def test_a_stuck_backend_holds_up_only_itself_and_then_gets_the_latest_pose_only() -> None:
    clock, stuck, good = FakeClock(), StuckFace(), FakeFace("good")
    shown = threading.Event()
    good.on_shown = shown.set
    stage = stage_with(stuck, good, clock=clock)
    for player in stage.players:
        player.open()
    moods = [Emotion.HAPPY, Emotion.SAD, Emotion.ANGRY]
    stage.show()
    assert stuck.is_stuck.wait(PATIENCE_SECONDS)
    for mood in moods:
        shown.clear()
        stage.tell(EmotionChanged("t", clock.monotonic_seconds(), mood, "reply"))
        stage.show()
        assert shown.wait(PATIENCE_SECONDS)
    stuck.let_go.set()
    stage.close()
    assert good.emotions[-3:] == moods
    assert stuck.emotions in ([Emotion.NEUTRAL], [Emotion.NEUTRAL, Emotion.ANGRY])
    assert stuck.is_parked


def test_a_screen_shows_a_picture_for_a_while_and_then_the_face_again() -> None:
    clock, screen, lamp = FakeClock(), FakeScreen(), FakeFace("lamp")
    stage = stage_with(screen, lamp, clock=clock)
    stage.show()
    for picture in (b"older", b"newer"):
        stage.show_picture(picture)
    for _ in range(3):
        stage.show()
    assert screen.pictures == [b"newer"]
    assert (len(screen.shown), len(lamp.shown)) == (1, 4), "what is no screen keeps the face"
    asyncio.run(clock.advance(20.0))
    stage.show()
    assert len(screen.shown) == 2
