from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.listen.config import ListenConfig
from appliance.listen.endpointing import ENDS, LATE_START_SECONDS, Endpoint, Endpointing
from appliance.listen.patience import manner_of

STEP = 0.032
RULES = ListenConfig()
MANNER = manner_of(RULES)

#: Stretches of a stream: how long, and how likely speech is in it.
stretches = st.lists(st.tuples(st.floats(0.02, 3.0), st.floats(0.0, 1.0)), max_size=30)


def endpointing(rules: ListenConfig = RULES, *, no_speech_seconds: float = 5.0, lead_in: float = 0.0) -> Endpointing:
    return Endpointing(rules, no_speech_seconds=no_speech_seconds, lead_in_seconds=lead_in)


def hear(machine: Endpointing, *parts: tuple[float, float], step: float = STEP) -> list[tuple[float, Endpoint]]:
    """What each part (seconds, probability) led to, with the time at which it did."""
    found: list[tuple[float, Endpoint]] = []
    now = 0.0
    for seconds, probability in parts:
        for _ in range(max(1, round(seconds / step))):
            now += step
            found += [(now, endpoint) for endpoint in machine.hear(step, probability)]
    return found


def kinds(found: Iterable[tuple[float, Endpoint]]) -> list[Endpoint]:
    """All but the pauses, which have stories of their own."""
    return [endpoint for _, endpoint in found if endpoint is not Endpoint.PAUSE]


def pauses(found: Iterable[tuple[float, Endpoint]]) -> list[float]:
    """When somebody was asked whether the turn is over."""
    return [at for at, endpoint in found if endpoint is Endpoint.PAUSE]


def test_a_sentence_begins_pauses_and_ends() -> None:
    found = hear(endpointing(), (1.0, 0.0), (1.5, 0.9), (1.0, 0.0))
    assert kinds(found) == [Endpoint.SPEECH_STARTED, Endpoint.SOFT_END, Endpoint.HARD_END]
    started, soft, hard = (at for at, endpoint in found if endpoint is not Endpoint.PAUSE)
    assert started == pytest.approx(1.0 + RULES.minimum_speech_seconds, abs=2 * STEP)
    assert soft == pytest.approx(2.5 + RULES.soft_end_seconds, abs=2 * STEP)
    assert hard == pytest.approx(2.5 + MANNER.timer_seconds, abs=2 * STEP)


def test_a_pause_in_mid_sentence_does_not_end_the_utterance() -> None:
    found = hear(endpointing(), (1.0, 0.9), (0.6, 0.0), (1.0, 0.9), (0.6, 0.0), (1.0, 0.9))
    assert kinds(found) == [Endpoint.SPEECH_STARTED, *[Endpoint.SOFT_END, Endpoint.RESUMED] * 2]


def test_a_gap_between_two_sounds_of_a_word_is_not_even_a_pause() -> None:
    assert kinds(hear(endpointing(), (0.5, 0.9), (0.06, 0.0), (0.5, 0.9))) == [Endpoint.SPEECH_STARTED]


def test_speech_may_weaken_without_ending() -> None:
    machine = endpointing()
    weak = RULES.speech_threshold - 0.1
    assert kinds(hear(machine, (1.0, 0.9), (2.0, weak))) == [Endpoint.SPEECH_STARTED]
    assert kinds(hear(machine, (0.3, 0.0), (0.3, weak))) == [Endpoint.SOFT_END], "but weak sound does not begin it"


def test_a_click_is_not_speech() -> None:
    found = hear(endpointing(), *[(0.1, 0.9), (0.5, 0.0)] * 8)
    assert kinds(found) == []


def test_when_nobody_speaks_the_wait_ends_in_time() -> None:
    [(at, endpoint)] = hear(endpointing(no_speech_seconds=5.0), (10.0, 0.0))
    assert endpoint is Endpoint.NO_SPEECH
    assert at == pytest.approx(5.0, abs=STEP)


def test_who_begins_at_the_very_end_of_the_wait_is_heard() -> None:
    found = hear(endpointing(no_speech_seconds=5.0), (4.95, 0.0), (1.0, 0.9), (1.0, 0.0))
    assert kinds(found) == [Endpoint.SPEECH_STARTED, Endpoint.SOFT_END, Endpoint.HARD_END]


def test_a_television_that_never_stops_is_cut_off() -> None:
    found = hear(endpointing(), (60.0, 0.9))
    assert kinds(found) == [Endpoint.SPEECH_STARTED, Endpoint.TOO_LONG]
    assert found[-1][0] == pytest.approx(RULES.longest_utterance_seconds, abs=2 * STEP)


def test_the_tail_of_the_wake_word_starts_nothing() -> None:
    found = hear(endpointing(lead_in=0.2), (0.256, 0.9), (3.0, 0.0))
    assert kinds(found) == []


def test_a_short_command_right_behind_the_wake_word_counts_from_its_beginning() -> None:
    found = hear(endpointing(lead_in=0.2), (0.288, 0.9), (1.0, 0.0))
    assert kinds(found) == [Endpoint.SPEECH_STARTED, Endpoint.SOFT_END, Endpoint.HARD_END]


def test_where_speech_was_is_known() -> None:
    machine = endpointing()
    hear(machine, (1.024, 0.0), (0.512, 0.9), (0.256, 0.0))
    assert machine.speech_began_at_seconds == pytest.approx(1.024)
    assert machine.speech_ended_at_seconds == pytest.approx(1.536)


def test_a_noise_long_before_the_first_word_does_not_belong_to_it() -> None:
    machine = endpointing()
    hear(machine, (0.096, 0.9), (1.024, 0.0), (0.512, 0.9))
    assert machine.speech_began_at_seconds == pytest.approx(1.12)


def test_a_soft_end_later_than_the_hard_end_still_comes_first() -> None:
    rules = ListenConfig(soft_end_seconds=2.0, silence_seconds=0.5)
    assert kinds(hear(endpointing(rules), (1.0, 0.9), (3.0, 0.0))) == [
        Endpoint.SPEECH_STARTED,
        Endpoint.SOFT_END,
        Endpoint.HARD_END,
    ]


@given(stretches, st.floats(0.01, 0.1), st.floats(1.0, 30.0))
def test_every_stream_ends_within_the_caps(
    parts: list[tuple[float, float]], step: float, no_speech_seconds: float
) -> None:
    machine = endpointing(no_speech_seconds=no_speech_seconds)
    longest = no_speech_seconds + LATE_START_SECONDS + RULES.longest_utterance_seconds
    silence_to_fill = (longest + 2 * step, 0.0)
    found = hear(machine, *parts, silence_to_fill, step=step)
    assert machine.is_over
    assert found[-1][0] <= longest + 2 * step


@given(stretches, st.floats(0.01, 0.1))
def test_events_come_in_an_order_that_makes_sense(parts: list[tuple[float, float]], step: float) -> None:
    found = kinds(hear(endpointing(), *parts, (40.0, 0.0), step=step))
    assert [endpoint for endpoint in found if endpoint in ENDS] == found[-1:]
    if found[-1] is Endpoint.NO_SPEECH:
        assert len(found) == 1
        return
    assert found[0] is Endpoint.SPEECH_STARTED
    assert found.count(Endpoint.SPEECH_STARTED) == 1
    for before, after in itertools.pairwise(found):
        if before is Endpoint.SOFT_END:
            assert after in (Endpoint.RESUMED, Endpoint.HARD_END, Endpoint.TOO_LONG)
        if after in (Endpoint.RESUMED, Endpoint.HARD_END):
            assert before is Endpoint.SOFT_END


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 20)), min_size=1, max_size=12),
    st.floats(RULES.speech_threshold, 1.0),
)
def test_no_pause_shorter_than_the_silence_ends_an_utterance(words: list[tuple[int, int]], loud: float) -> None:
    """20 steps are 0.64 s, less than the 0.7 s of silence."""
    parts = [part for speech, pause in words for part in ((speech * STEP, loud), (pause * STEP, 0.0)) if part[0]]
    assert Endpoint.HARD_END not in kinds(hear(endpointing(), (0.5, loud), *parts))


@given(stretches)
def test_silence_alone_never_counts_as_speech(parts: list[tuple[float, float]]) -> None:
    quiet = [(seconds, probability * (RULES.speech_threshold - 0.01)) for seconds, probability in parts]
    assert kinds(hear(endpointing(), *quiet, (6.0, 0.0))) == [Endpoint.NO_SPEECH]


def test_at_each_pause_of_the_patience_somebody_may_be_asked() -> None:
    found = hear(endpointing(), (1.0, 0.9), (1.0, 0.0))
    assert pauses(found) == pytest.approx([1.0 + look.silence_seconds for look in MANNER.looks], abs=2 * STEP)


def test_who_speaks_again_is_asked_about_again() -> None:
    first = MANNER.looks[0].silence_seconds
    found = hear(endpointing(), (1.0, 0.9), (first + 0.05, 0.0), (1.0, 0.9), (first + 0.05, 0.0))
    assert len(pauses(found)) == 2


def test_the_tail_of_a_wake_word_is_not_asked_about() -> None:
    machine = endpointing(lead_in=0.3)
    assert pauses(hear(machine, (0.42, 0.9), (0.6, 0.0))) == [], "most of it is the wake word"
    assert pauses(hear(machine, (0.4, 0.9), (0.6, 0.0))), "a command is behind it"


def test_who_is_patient_asks_later_and_waits_longer() -> None:
    ends = []
    for patience in ("quick", "normal", "relaxed"):
        rules = ListenConfig(patience=patience)  # type: ignore[arg-type]
        found = hear(endpointing(rules), (1.0, 0.9), (4.0, 0.0))
        assert found[-1][1] is Endpoint.HARD_END
        ends.append((pauses(found)[0], found[-1][0]))
    assert ends == sorted(ends)
