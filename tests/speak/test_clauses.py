"""The first clause: cut where a voice pauses anyway, and nowhere else."""

from __future__ import annotations

import pytest

from appliance.speak.clauses import first_clause


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("After the rain stops,", "we could go for a walk."),
        ("Here is the list:", "milk, bread, butter and eggs."),
        ("The kitchen is warm;", "the hall is not."),
        ("It is seven degrees —", "colder than it was yesterday."),
        ("She only said “maybe later,”", "and went away again."),
        ("Yes, of course,", "I can do that for you."),
    ],
)
def test_a_sentence_is_cut_at_its_first_pause_that_leaves_words_on_both_sides(first: str, rest: str) -> None:
    assert first_clause(f"{first} {rest}") == (first, rest)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "Good night.",
        "Well, it is late.",
        "It costs 1,000 euros at half past 10:30 today.",
        "I have told him twice, sadly.",
        "A long beginning that goes on and on and on for many words, and then there is more of it.",
        "There is no mark at all in this sentence of ten words.",
        "Really — — — what is it?",
    ],
)
def test_a_sentence_without_a_good_place_stays_whole(sentence: str) -> None:
    assert first_clause(sentence) == (sentence, "")
