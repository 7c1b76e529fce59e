"""The face shows what a person would expect, and comes back to rest by itself."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance import events
from appliance.events import Activity, Emotion, EndReason, LineKind, Outcome
from appliance.face.animator import Animator, still
from appliance.face.emotions import EMOTIONS, known_to
from appliance.ports import FaceState


@pytest.fixture
def animator() -> Animator:
    return Animator(random=random.Random(7))


def changed(emotion: Emotion, source: str, at_seconds: float = 0.0) -> events.EmotionChanged:
    return events.EmotionChanged("t", at_seconds, emotion, source)


def poses(animator: Animator, start: float, end: float, per_second: int = 50) -> list[FaceState]:
    return [animator.pose(start + step / per_second) for step in range(round((end - start) * per_second))]


def test_every_mood_stays_inside_what_the_head_can_move() -> None:
    for emotion, activity in itertools.product(Emotion, Activity):
        face = still(emotion, activity)
        assert abs(face.brow_left_degrees) <= 25 and abs(face.brow_right_degrees) <= 25
        assert 0 <= face.lid_degrees <= 60
        assert abs(face.mouth_degrees) <= 20
        assert abs(face.neck_degrees) <= 15


def test_a_device_that_knows_fewer_moods_shows_the_nearest() -> None:
    for moods in range(1, len(EMOTIONS) + 1):
        for emotion in Emotion:
            assert list(EMOTIONS).index(known_to(emotion, moods)) < moods
    assert known_to(Emotion.CRYING, 4) is Emotion.SAD
    assert known_to(Emotion.CRYING, 14) is Emotion.CRYING


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


def test_a_turn_that_is_cut_off_leaves_no_face_behind(animator: Animator) -> None:
    animator.tell(changed(Emotion.THINKING, "focus"))
    animator.tell(events.ToolStarted("t", 0.0, "call", "weather", "network"))
    animator.tell(events.ApprovalRequested("t", 0.5, "r", "weather"))
    animator.tell(events.TurnEnded("t", 1.0, EndReason.STOPPED))
    assert animator.emotion(1.0) is Emotion.NEUTRAL
    assert animator.activity(1.0) is Activity.IDLE


def test_a_change_of_mood_is_a_movement_not_a_jump(animator: Animator) -> None:
    animator.pose(0.0)
    animator.tell(changed(Emotion.SAD, "reply", at_seconds=1.0))
    mouths = [pose.mouth_degrees for pose in poses(animator, 1.0, 2.0, per_second=20)]
    assert mouths == sorted(mouths, reverse=True)
    assert mouths[0] > -1 and mouths[-1] == still(Emotion.SAD).mouth_degrees


def test_no_joint_is_ever_faster_than_a_head_may_move_whatever_happens_to_it() -> None:
    chance = random.Random(3)
    animator = Animator(random=random.Random(7))
    before = animator.pose(0.0)
    for step in range(1, 3000):
        at_seconds = step / 50
        if chance.random() < 0.1:
            animator.tell(changed(chance.choice(list(Emotion)), "reply", at_seconds))
        if chance.random() < 0.05:
            animator.tell(events.WakeDetected("t", at_seconds, "okay nabu"))
            animator.tell(events.TurnEnded("t", at_seconds, EndReason.ANSWERED))
        pose = animator.pose(at_seconds)
        for joint, degrees_per_second in (("brow_left_degrees", 300), ("mouth_degrees", 400), ("neck_degrees", 90)):
            moved = abs(getattr(pose, joint) - getattr(before, joint))
            assert moved <= degrees_per_second / 50 + 1e-6, joint
        before = pose


def test_it_blinks_and_only_the_lids_move(animator: Animator) -> None:
    minute = poses(animator, 0.0, 60.0)
    closed = [pose for pose in minute if pose.lid_degrees < 5]
    assert 2 < len(closed) < 600
    assert {pose.mouth_degrees for pose in closed} == {EMOTIONS[Emotion.NEUTRAL].mouth_degrees}


def test_it_never_blinks_twice_within_most_of_a_second(animator: Animator) -> None:
    animator.tell(changed(Emotion.SCARED, "focus"))
    animator.tell(events.ToolStarted("t", 0.0, "call", "weather", "network"))
    shut = [step / 50 for step, pose in enumerate(poses(animator, 0.0, 120.0)) if pose.lid_degrees < 3]
    starts = [at for before, at in itertools.pairwise([-9.0, *shut]) if at - before > 0.1]
    assert len(starts) > 20
    assert min(later - earlier for earlier, later in itertools.pairwise(starts)) >= 0.8


def test_at_rest_it_looks_around_and_breathes_and_when_it_listens_it_looks_at_the_person(animator: Animator) -> None:
    rest = poses(animator, 0.0, 30.0)
    assert len({round(pose.gaze_x, 2) for pose in rest}) > 5
    assert max(pose.brightness for pose in rest) - min(pose.brightness for pose in rest) > 0.15
    animator.tell(events.WakeDetected("t", 30.0, "okay nabu"))
    assert {(pose.gaze_x, pose.gaze_y) for pose in poses(animator, 30.1, 35.0)} == {(0.0, 0.0)}


def test_a_sleepy_face_keeps_its_eyes_shut_for_longer_than_a_blink(animator: Animator) -> None:
    animator.tell(changed(Emotion.SLEEPY, "reply"))
    shut = [step / 50 for step, pose in enumerate(poses(animator, 0.0, 120.0)) if pose.lid_degrees == 0]
    longest = max(len(list(run)) for _, run in itertools.groupby(enumerate(shut), lambda p: round(p[1] * 50) - p[0]))
    assert longest / 50 >= 0.4


def test_the_mouth_opens_with_the_sound_and_with_nothing_else() -> None:
    loudness = {0.2: 0.8}
    animator = Animator(mouth=lambda seconds: loudness.get(seconds, 0.0))
    assert [animator.pose(at).mouth_open for at in (0.0, 0.2, 0.4)] == [0.0, 0.8, 0.0]


def test_in_quiet_hours_the_lights_are_low_and_the_face_still_moves() -> None:
    bright, dim = Animator(random=random.Random(1)), Animator(random=random.Random(1), dimming=lambda: 0.2)
    for at in (0.0, 0.5, 1.0):
        day, night = bright.pose(at), dim.pose(at)
        assert night.brightness == pytest.approx(day.brightness * 0.2)
        assert sum(sum(light) for light in night.ring) < 0.25 * sum(sum(light) for light in day.ring)
        assert night.dimming == 0.2 and day.dimming == 1.0
        shapes = [dataclasses.replace(pose, brightness=0, ring=(), dimming=1) for pose in (day, night)]
        assert shapes[0] == shapes[1]


def _speaking() -> events.Event:
    return events.PlaybackStarted("t", 0.0, "speech")


@pytest.mark.parametrize(
    ("told", "activity"),
    [
        ([events.TurnStarted("t", 0.0, "voice")], Activity.LISTENING),
        ([events.SpeechEnded("t", 0.0, 1.0)], Activity.WORKING),
        ([_speaking()], Activity.SPEAKING),
        ([_speaking(), events.PlaybackFinished("t", 0.1, "Hello.")], Activity.IDLE),
        ([events.ApprovalRequested("t", 0.0, "r", "shell"), _speaking()], Activity.ASKING),
        (
            [
                events.ApprovalRequested("t", 0.0, "r", "shell"),
                _speaking(),
                events.PlaybackFinished("t", 0.1, "May I?"),
            ],
            Activity.ASKING,
        ),
        (
            [
                events.ToolStarted("t", 0.0, "c", "shell", "exec"),
                events.ApprovalRequested("t", 0.0, "r", "shell"),
                events.ApprovalDecided("t", 0.0, "r", "shell", "approved"),
            ],
            Activity.WORKING,
        ),
        ([events.MuteChanged("", 0.0, True)], Activity.MUTED),
        ([events.MuteChanged("", 0.0, True), _speaking()], Activity.SPEAKING),
        ([events.ErrorRaised("", 0.0, "voice", "it broke")], Activity.ERROR),
        ([events.ErrorRaised("", -9.0, "voice", "it broke")], Activity.IDLE),
        ([events.Narrated("t", 0.0, LineKind.ANNOUNCE, "Looking.")], Activity.IDLE),
    ],
)
def test_the_face_shows_what_the_box_does(animator: Animator, told: list[events.Event], activity: Activity) -> None:
    for event in told:
        animator.tell(event)
    assert animator.pose(1.0).activity is activity


def test_a_box_without_its_model_shows_that_only_while_it_rests() -> None:
    animator = Animator(is_offline=lambda: True)
    assert animator.pose(0.0).activity is Activity.OFFLINE
    animator.tell(events.WakeDetected("t", 1.0, "okay nabu"))
    assert animator.pose(1.0).activity is Activity.LISTENING


_FACTS: list[Callable[[float], events.Event]] = [
    lambda at: events.TurnStarted("t", at, "voice"),
    lambda at: events.SpeechEnded("t", at, 1.0),
    lambda at: events.ToolStarted("t", at, "c", "shell", "exec"),
    lambda at: events.ToolFinished("t", at, "c", "shell", Outcome.FAILED),
    lambda at: events.EmotionChanged("t", at, Emotion.CRYING, "reply"),
    lambda at: events.EmotionChanged("t", at, Emotion.DETERMINED, "focus"),
    lambda at: events.PlaybackStarted("t", at, "speech"),
    lambda at: events.PlaybackFinished("t", at, "Hello."),
    lambda at: events.ApprovalRequested("t", at, "r", "shell"),
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(_FACTS), max_size=20))
def test_whatever_happened_a_minute_after_the_turn_the_face_is_at_rest(
    facts: list[Callable[[float], events.Event]],
) -> None:
    animator = Animator(random=random.Random(7))
    for index, fact in enumerate(facts):
        animator.tell(fact(index * 0.3))
        animator.pose(index * 0.3)
    animator.tell(events.PlaybackFinished("t", 7.0, ""))
    animator.tell(events.TurnEnded("t", 7.0, EndReason.STOPPED))
    for at in range(7, 67):
        pose = animator.pose(at)
    assert (pose.emotion, pose.activity, pose.mouth_open) == (Emotion.NEUTRAL, Activity.IDLE, 0.0)


def test_the_face_asks_until_the_person_has_answered(animator: Animator) -> None:
    animator.tell(events.ToolStarted("t", 0.0, "c", "shell", "exec"))
    animator.tell(events.ApprovalRequested("t", 0.0, "r", "shell"))
    animator.tell(events.PlaybackStarted("", 0.5, "speech"))
    assert animator.activity(0.5) is Activity.ASKING
    animator.tell(events.PlaybackFinished("", 3.0, "May I?"))
    assert animator.activity(3.0) is Activity.ASKING
    animator.tell(events.ApprovalDecided("t", 9.0, "r", "shell", "declined"))
    assert animator.activity(9.0) is Activity.WORKING
