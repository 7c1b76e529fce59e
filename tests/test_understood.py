"""Our judgement of what was said forgives spelling, and nothing else."""

from __future__ import annotations

import pytest

from tests.understood import was_said


@pytest.mark.parametrize(
    ("said", "phrases"),
    [
        ("the back up is finished that is all for to day", ("backup is finished", "all for today")),
        ("the harbor is still answering", ("the harbour is still answering",)),
        ("it is half past three in the afternoon", ("it is", "in the afternoon")),
    ],
)
def test_a_transcripts_spaces_and_a_wrong_letter_are_forgiven(said: str, phrases: tuple[str, ...]) -> None:
    assert was_said(said, *phrases)


@pytest.mark.parametrize(
    ("said", "phrases"),
    [
        ("that is all for today the backup is finished", ("backup is finished", "all for today")),
        ("the backup has failed", ("the backup is finished",)),
        ("", ("anything",)),
        ("no", ("a much longer sentence",)),
    ],
)
def test_other_words_and_another_order_are_not(said: str, phrases: tuple[str, ...]) -> None:
    assert not was_said(said, *phrases)
