"""The face shows what a person would expect, and comes back to rest by itself."""

from __future__ import annotations

import random

import pytest

from appliance import events
from appliance.events import Activity, Emotion, EndReason, Outcome
from appliance.face.animator import Animator, still
from appliance.face.emotions import EMOTIONS, emotion_named


@pytest.fixture
def animator() -> Animator:
    return Animator(random=random.Random(7))


def changed(emotion: Emotion, source: str, at_seconds: float = 0.0) -> events.EmotionChanged:
    return events.EmotionChanged("t", at_seconds, emotion, source)


def test_every_mood_has_a_face_of_its_own() -> None:
    faces = [still(emotion) for emotion in Emotion]
    assert set(EMOTIONS) == set(Emotion)
    shapes = {(f.brow_left_degrees, f.brow_right_degrees, f.lid_degrees, f.mouth_degrees) for f in faces}
    assert len(shapes) == 14


def test_every_mood_stays_inside_what_the_head_can_move() -> None:
    for emotion in Emotion:
        face = still(emotion)
        assert abs(face.brow_left_degrees) <= 25 and abs(face.brow_right_degrees) <= 25
        assert 0 <= face.lid_degrees <= 60
        assert abs(face.mouth_degrees) <= 20
        assert abs(face.neck_degrees) <= 15


def test_an_unknown_mood_is_neutral() -> None:
    assert emotion_named("Happy ") is Emotion.HAPPY
    assert emotion_named("hangry") is Emotion.NEUTRAL


def test_the_mood_of_a_reply_goes_back_to_neutral_by_itself(animator: Animator) -> None:
    animator.tell(changed(Emotion.ANGRY, "reply", at_seconds=10.0))
    assert animator.emotion(13.9) is Emotion.ANGRY
    assert animator.emotion(14.1) is Emotion.NEUTRAL


def test_a_focus_face_stays_until_its_tool_ends_whatever_is_said_meanwhile(animator: Animator) -> None:
    animator.tell(changed(Emotion.DETERMINED, "focus"))
    animator.tell(events.ToolStarted("t", 0.0, "call", "weather", "network"))
    animator.tell(changed(Emotion.HAPPY, "reply", at_seconds=1.0))
    assert animator.emotion(900.0) is Emotion.DETERMINED
    animator.tell(events.ToolFinished("t", 900.0, "call", "weather", Outcome.OK))
    animator.tell(changed(Emotion.HAPPY, "reply", at_seconds=900.0))
    assert animator.emotion(901.0) is Emotion.HAPPY


def test_a_turn_that_is_cut_off_leaves_no_focus_face_behind(animator: Animator) -> None:
    animator.tell(changed(Emotion.THINKING, "focus"))
    animator.tell(events.ToolStarted("t", 0.0, "call", "weather", "network"))
    animator.tell(events.TurnEnded("t", 1.0, EndReason.STOPPED))
    assert animator.emotion(1.0) is Emotion.NEUTRAL
    assert animator.activity is Activity.IDLE


def test_a_change_of_mood_is_a_movement_not_a_jump(animator: Animator) -> None:
    animator.pose(0.0)
    animator.tell(changed(Emotion.SAD, "reply", at_seconds=1.0))
    mouths = [animator.pose(1.0 + step / 20).mouth_degrees for step in range(20)]
    assert mouths == sorted(mouths, reverse=True)
    assert mouths[0] > -1 and mouths[-1] == EMOTIONS[Emotion.SAD].mouth_degrees


def test_it_blinks_and_only_the_lids_move(animator: Animator) -> None:
    poses = [animator.pose(step / 50) for step in range(50 * 60)]
    closed = [pose for pose in poses if pose.lid_degrees < 5]
    assert 2 < len(closed) < 600
    assert {pose.mouth_degrees for pose in closed} == {EMOTIONS[Emotion.NEUTRAL].mouth_degrees}


def test_the_mouth_follows_the_sound_only_while_it_speaks() -> None:
    animator = Animator(loudness=lambda: 0.8)
    assert animator.pose(0.0).mouth_open == 0.0
    animator.tell(events.PlaybackStarted("t", 0.1, "speech"))
    assert animator.pose(0.2).mouth_open == 0.8
    animator.tell(events.PlaybackFinished("t", 0.3, "Hello."))
    assert animator.pose(0.4).mouth_open == 0.0


def test_after_a_notice_outside_a_turn_the_face_is_at_rest(animator: Animator) -> None:
    animator.tell(events.PlaybackStarted("", 0.0, "speech"))
    animator.tell(events.PlaybackFinished("", 1.0, "I can hear you again."))
    assert animator.activity is Activity.IDLE


@pytest.mark.parametrize(
    ("event", "activity"),
    [
        (events.TurnStarted("t", 0.0, "voice"), Activity.LISTENING),
        (events.SpeechEnded("t", 0.0, 1.0), Activity.WORKING),
        (events.PlaybackStarted("t", 0.0, "speech"), Activity.SPEAKING),
        (events.ApprovalRequested("t", 0.0, "r", "shell"), Activity.ASKING),
        (events.MuteChanged("", 0.0, True), Activity.MUTED),
    ],
)
def test_the_face_shows_what_the_box_does(animator: Animator, event: events.Event, activity: Activity) -> None:
    animator.tell(event)
    assert animator.pose(1.0).activity is activity
