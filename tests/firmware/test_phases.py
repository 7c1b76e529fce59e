"""What the head does when: still before it is asked, one servo after the other, parked, and safe without a host."""

from __future__ import annotations

import struct

import pytest

from appliance.adapters.face_board import KEY_BRIGHTNESS_CAP, KEY_CALIBRATE, KEY_JOINT, KEY_STORE, STORE_WORD
from appliance.adapters.face_frames import REPLY, Frame, Message, Refusal
from tests.firmware.core import TICK_MS, Core

STILL = [0] * 5
DARK = ((0, 0, 0),) * 16
NEUTRAL, HAPPY, SURPRISED, SLEEPY = 0, 1, 6, 9
LID, MOUTH, NECK = 2, 3, 4
HOLDS = 5
FLAG_SAFE, FLAG_PARKED, FLAG_LIGHTS_ONLY, FLAG_CALIBRATING = 1, 2, 4, 8


def _flags(core: Core) -> int:
    return core.do(Message.PING)[4]


def _showing(core: Core, mood: int = NEUTRAL) -> None:
    """All servos are up, and have gone to rest."""
    core.hello()
    core.face(mood)
    core.run_alive(3000)


def test_nothing_moves_and_nothing_is_lit_before_the_first_face(core: Core) -> None:
    core.run(5000)
    core.hello()
    core.do(Message.STATE, b"\1")
    core.take(Frame(Message.MOUTH, 0, b"\xff").packed())
    core.run(1000)
    assert core.pulses_us == STILL
    assert core.colours == DARK


def test_servos_come_up_one_after_the_other_where_they_are_and_only_then_move(core: Core) -> None:
    core.hello()
    core.face(SURPRISED, transition_ms=100)
    at_rest = core.pose_us
    seen = []
    for tick in range(1, 38):
        core.run(TICK_MS)
        seen.append([pulse != 0 for pulse in core.pulses_us].count(True))
        assert core.pulses_us == [us if us and joint * 150 <= tick * TICK_MS else 0 for joint, us in enumerate(at_rest)]
    assert seen == sorted(seen)
    assert set(seen) == {1, 2, 3, 4, 5}
    core.run(300)
    assert core.pose_us[LID] > at_rest[LID] + 300


def test_a_new_greeting_makes_the_head_still_and_dark_until_the_next_face(core: Core) -> None:
    _showing(core, HAPPY)
    core.face(SURPRISED)
    core.run(100)
    assert core.pulses_us != STILL
    core.hello()
    core.run(1000)
    assert core.pulses_us == STILL
    assert core.colours == DARK
    before = core.pose_us
    core.face(HAPPY)
    core.run(TICK_MS)
    assert core.pulses_us[0] == before[0], "it jumps instead of going on from where it was"


def test_a_joint_that_rests_gets_no_pulses_and_one_that_bears_a_weight_keeps_them(core: Core) -> None:
    core.hello()
    core.configure(KEY_JOINT + 8 * NECK + HOLDS, 1)
    core.face(NEUTRAL)
    core.run_alive(3000)
    assert [pulse != 0 for pulse in core.pulses_us] in ([False] * 4 + [True], [False, False, True, False, True])


def test_no_joint_is_ever_faster_than_its_servo_bears(core: Core) -> None:
    _showing(core)
    fastest_us = {0: 60, 1: 60, MOUTH: 80, NECK: 18}  # 300, 300, 400 and 90 degrees a second at 10 us each, in 20 ms
    for mood in (5, SURPRISED, 4, 2, 13, SLEEPY, 12, NEUTRAL):
        core.face(mood, transition_ms=0)
        for _ in range(60):
            before = core.pose_us
            core.run(TICK_MS)
            for joint, most in fastest_us.items():
                assert abs(core.pose_us[joint] - before[joint]) <= most + 1, f"joint {joint}"


def test_pulses_stay_inside_the_limits_that_were_set(core: Core) -> None:
    core.hello()
    core.configure(KEY_JOINT + 8 * MOUTH + 2, 1480)
    core.configure(KEY_JOINT + 8 * MOUTH + 3, 1550)
    core.configure(KEY_JOINT + 8 * LID + 4, 1)
    core.face(2)
    core.run_alive(2000)
    assert core.pose_us[MOUTH] == 1550
    assert core.pose_us[LID] < 1500, "a reversed servo turns the other way"
    core.face(4)
    core.run_alive(2000)
    assert core.pose_us[MOUTH] == 1480


def test_the_mouth_follows_what_is_streamed_and_falls_shut_by_itself(core: Core) -> None:
    _showing(core)
    shut = core.pose_us[MOUTH]
    for _ in range(8):
        assert core.take(Frame(Message.MOUTH, 0, b"\xff").packed()) == []
        core.run(40)
    assert core.pose_us[MOUTH] < shut - 60
    core.run(260)
    assert core.pose_us[MOUTH] == shut


def test_it_blinks_about_as_often_as_the_mood_says(core: Core) -> None:
    _showing(core)
    blinks, was_shut = 0, False
    for _ in range(120):
        core.do(Message.PING)
        for _ in range(50):
            core.run(TICK_MS)
            is_shut = core.pose_us[LID] < 1550
            blinks += is_shut and not was_shut
            was_shut = is_shut
    assert 20 <= blinks <= 36, "neutral blinks 14 times a minute"


def test_a_face_with_an_end_goes_back_to_neutral(core: Core) -> None:
    _showing(core)
    neutral = core.pose_us[MOUTH]
    core.face(HAPPY, hold_ms=1500)
    core.run_alive(1400)
    assert core.pose_us[MOUTH] > neutral + 100
    core.run_alive(2000)
    assert core.pose_us[MOUTH] == neutral


def test_a_listening_box_opens_its_eyes_in_every_mood(core: Core) -> None:
    _showing(core, SLEEPY)
    core.do(Message.STATE, b"\1")
    lids = []
    for _ in range(100):
        core.do(Message.PING)
        core.run(TICK_MS)
        lids.append(core.pose_us[LID])
    assert max(lids) == 1500 + 460


def test_the_lights_of_a_mood_go_on_when_only_the_state_changes(core: Core) -> None:
    # Idle and speaking both leave the mood's lights alone, so nothing may be seen of the change.
    _showing(core)
    for state in (3, 0, 3):
        core.run(340)
        before = core.colours[0][2]
        core.do(Message.STATE, bytes((state,)))
        core.run(TICK_MS)
        assert abs(core.colours[0][2] - before) <= 4


# ------------------------------------------------------------------------------------------- parking


def test_parking_is_answered_when_the_head_is_at_rest_dark_and_remembered(core: Core) -> None:
    _showing(core, HAPPY)
    assert core.take(Frame(Message.PARK, 77).packed()) == []
    assert core.run(600) == []
    assert core.take(Frame(Message.PARK, 77).packed()) == [], "it does not begin again"
    assert core.run(140) == [Frame(Message.PARK | REPLY, 77)]
    assert core.pulses_us == STILL
    assert core.colours == DARK
    assert core.pose_us == [1500, 1500, 1700, 1500, 1420]
    assert core.stores == (0, 1)
    assert core.take(Frame(Message.PARK, 77).packed()) == [Frame(Message.PARK | REPLY, 77)]
    assert _flags(core) == FLAG_PARKED


def test_the_next_start_begins_where_the_head_was_parked(core: Core) -> None:
    _showing(core, HAPPY)
    core.take(Frame(Message.PARK, 77).packed())
    core.run(800)
    core.start(cause=1)
    assert core.pose_us == [1500, 1500, 1700, 1500, 1420]
    core.hello()
    core.face(SURPRISED)
    core.run(700)
    assert core.pulses_us == [1500, 1500, 1700, 1500, 1420]


def test_a_damaged_park_pose_costs_no_settings(core: Core) -> None:
    core.hello()
    core.configure(KEY_JOINT + 8 * NECK, 1440)
    core.configure(KEY_STORE, STORE_WORD)
    core.face(HAPPY)
    core.run(1000)
    core.take(Frame(Message.PARK, 77).packed())
    core.run(800)
    core.library.host_damage(1, 3)
    assert [frame.type for frame in core.start(cause=1)] == [Message.BOOT]
    assert core.pose_us == [1500, 1500, 1500, 1500, 1440], "every joint at its own neutral"


def test_a_head_that_never_moved_is_parked_without_a_move(core: Core) -> None:
    core.hello()
    assert core.take(Frame(Message.PARK, 3).packed()) == []
    assert core.run(TICK_MS) == [Frame(Message.PARK | REPLY, 3)]
    assert core.pulses_us == STILL
    assert core.stores == (0, 0)


def test_while_it_parks_it_refuses_all_but_a_greeting(core: Core) -> None:
    _showing(core, HAPPY)
    core.take(Frame(Message.PARK, 77).packed())
    for message, payload in ((Message.PING, b""), (Message.FACE, struct.pack("<BBHH", 1, 255, 0, 0))):
        assert core.take(Frame(message, 78, payload).packed()) == [Frame(Message.NAK, 78, bytes((Refusal.BUSY,)))]
    assert core.run(800) == [Frame(Message.PARK | REPLY, 77)]


def test_a_greeting_ends_the_parking(core: Core) -> None:
    _showing(core, HAPPY)
    core.take(Frame(Message.PARK, 77).packed())
    core.run(200)
    core.hello()
    assert core.run(1000) == []
    assert core.pulses_us == STILL


def test_a_face_that_was_to_end_does_not_end_the_parking(core: Core) -> None:
    _showing(core)
    core.face(HAPPY, hold_ms=300)
    core.run(100)
    core.take(Frame(Message.PARK, 77).packed())
    core.run(1000)
    assert core.pulses_us == STILL
    assert core.colours == DARK


def test_a_parked_head_stays_dark_and_still_when_the_host_goes(core: Core) -> None:
    _showing(core, HAPPY)
    core.take(Frame(Message.PARK, 77).packed())
    core.run(800)
    assert core.run(20_000) == []
    assert core.pulses_us == STILL
    assert core.colours == DARK
    assert core.ask(Message.PING).payload == bytes((Refusal.NO_HELLO,))


# ------------------------------------------------------------------------------------------- the host is lost


def test_without_a_host_the_head_eases_to_neutral_breathes_and_lets_go(core: Core) -> None:
    _showing(core, HAPPY)
    core.do(Message.PING)
    assert core.run(1980) == []
    assert [frame.type for frame in core.run(TICK_MS)] == [Message.SAFE]
    core.run(800)
    assert core.pose_us == [1500, 1500, 1700, 1500, 1500]
    brightest = []
    for _ in range(500):
        core.run(TICK_MS)
        brightest.append(core.colours[0])
    assert core.pulses_us == STILL
    assert {len(set(colour)) for colour in brightest} == {1}, "white, like no mood"
    assert max(brightest)[0] <= 92
    assert 15 <= min(brightest)[0] < 40 < max(brightest)[0]
    assert core.run(60_000) == []
    assert core.pulses_us == STILL


def test_a_joint_that_bears_a_weight_is_let_go_three_seconds_later_too(core: Core) -> None:
    core.hello()
    core.configure(KEY_JOINT + 8 * NECK + HOLDS, 1)
    core.face(HAPPY)
    core.run(1990)
    core.run(2900)
    assert core.pulses_us[NECK] != 0
    core.run(200)
    assert core.pulses_us == STILL


def test_a_lost_host_makes_no_still_head_move(core: Core) -> None:
    core.hello()
    assert [frame.type for frame in core.run(2000)] == [Message.SAFE]
    for _ in range(300):
        core.run(TICK_MS)
        assert core.pulses_us == STILL


def test_only_a_greeting_leads_out_of_the_safe_state(core: Core) -> None:
    _showing(core, HAPPY)
    core.face(HAPPY, hold_ms=2500)
    core.run(2100)
    for message, payload in ((Message.PING, b""), (Message.FACE, struct.pack("<BBHH", 1, 255, 0, 0))):
        assert core.ask(message, payload).payload == bytes((Refusal.NO_HELLO,))
    core.run(5000)
    assert core.pulses_us == STILL
    core.hello()
    assert _flags(core) == 0
    core.face(HAPPY)
    core.run(1000)
    assert core.pulses_us != STILL


def test_a_command_that_was_obeyed_before_is_not_taken_for_a_repeat_after(core: Core) -> None:
    # A host that was suspended in the middle of a command goes on with its second try.
    _showing(core)
    face = Frame(Message.FACE, 99, struct.pack("<BBHH", 1, 255, 0, 0)).packed()
    core.take(face)
    core.run(2000)
    assert core.take(face) == [Frame(Message.NAK, 99, bytes((Refusal.NO_HELLO,)))]


@pytest.mark.parametrize("message", [Message.PING, Message.MOUTH, Message.GAZE])
def test_any_command_keeps_the_host_alive(core: Core, message: Message) -> None:
    _showing(core)
    payload = {Message.MOUTH: b"\1", Message.GAZE: b"\0\0"}.get(message, b"")
    for _ in range(5):
        core.take(Frame(message, 0, payload).packed())
        assert core.run(1900) == []


def test_noise_does_not(core: Core) -> None:
    _showing(core)
    events: list[Frame] = []
    for _ in range(5):
        events += core.take(b"\0noise\0") + core.run(500)
    assert Message.SAFE in [event.type for event in events]


# ------------------------------------------------------------------------------------------- calibration


def test_calibration_moves_one_joint_inside_its_limits_and_nothing_else(core: Core) -> None:
    core.hello()
    core.configure(KEY_CALIBRATE, 1)
    assert _flags(core) == FLAG_CALIBRATING
    for asked, got in ((1620, 1620), (2400, 2000), (500, 1000)):
        assert core.do(Message.POSE, struct.pack("<BH", LID, asked)) == struct.pack("<H", got)
        core.run(1000)
        assert core.pulses_us == [0, 0, got, 0, 0]
    core.configure(KEY_CALIBRATE, 0)
    core.run(TICK_MS)
    assert core.pulses_us == STILL
    assert _flags(core) == 0


def test_calibration_ends_with_the_host(core: Core) -> None:
    core.hello()
    core.configure(KEY_CALIBRATE, 1)
    core.do(Message.POSE, struct.pack("<BH", LID, 1900))
    assert [frame.type for frame in core.run(2000)] == [Message.SAFE]
    core.run(4000)
    assert core.pulses_us == STILL


# ------------------------------------------------------------------------------------------- resets


def test_three_faults_within_a_minute_leave_only_the_lights(core: Core) -> None:
    for cause in (4, 8):
        assert [frame.type for frame in core.start(cause)] == [Message.BOOT]
        core.run(10_000)
    boot, fault = core.start(cause=4)
    assert (boot.type, fault.type, fault.payload) == (Message.BOOT, Message.FAULT, b"\1")
    assert core.hello()[8] == FLAG_LIGHTS_ONLY
    core.face(SURPRISED)
    core.run_alive(3000)
    assert core.pulses_us == STILL
    assert core.colours != DARK
    core.configure(KEY_CALIBRATE, 1)
    assert core.do(Message.POSE, struct.pack("<BH", LID, 1900)) == b"\0\0"
    assert core.pulses_us == STILL


def test_the_minute_is_counted_between_the_faults_and_not_from_power_up(core: Core) -> None:
    core.run(50_000)
    for _ in range(2):
        assert len(core.start(cause=8)) == 1
        core.run(8_000)
    assert len(core.start(cause=8)) == 2, "three faults in 16 s, the last one 66 s after power-up"


def test_faults_that_lie_further_apart_are_forgiven(core: Core) -> None:
    for _ in range(5):
        assert len(core.start(cause=4)) == 1
        core.run(31_000)


def test_opening_the_port_does_not_bring_the_servos_back_within_the_minute(core: Core) -> None:
    for _ in range(3):
        core.start(cause=4)
        core.run(1_000)
    assert len(core.start(cause=2)) == 2
    core.run(61_000)
    assert len(core.start(cause=2)) == 1, "a minute without a fault: another chance"


def test_power_up_is_no_fault_even_when_the_supply_rises_slowly(core: Core) -> None:
    for _ in range(5):
        assert len(core.start(cause=1 | 4)) == 1


def test_a_pressed_button_tells_what_is_wanted(core: Core) -> None:
    def press(*lengths_ms: int) -> list[tuple[int, int]]:
        events = []
        for length in lengths_ms:
            events += core.run(length, button_is_down=True) + core.run(160)
        events += core.run(600)
        return [struct.unpack("<BH", event.payload) for event in events if event.type == Message.BUTTON]

    talk, mute, stop = 1, 2, 3
    assert press(200) == [(talk, 200)]
    assert press(100, 120) == [(mute, 120)]
    assert press(3000) == [(stop, 1200)]
    assert press(20) == [], "a bounce"


def test_a_button_that_is_stuck_at_the_start_does_nothing_until_it_is_let_go(core: Core) -> None:
    core.start(cause=1, button_is_down=True)
    assert core.run(5000, button_is_down=True) == []
    assert core.run(1000) == []
    core.run(200, button_is_down=True)
    assert [event.type for event in core.run(600)] == [Message.BUTTON]


def test_the_brightness_cap_is_a_setting_of_the_lights_only(core: Core) -> None:
    _showing(core)
    before = core.pose_us
    core.configure(KEY_BRIGHTNESS_CAP, 0)
    core.run(TICK_MS)
    assert core.pose_us == before
