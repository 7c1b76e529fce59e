"""The ledger of the two public contracts: every statement is shown by a test, or its deviation has a reason.

``ids.tsv`` holds the numbers of all statements, ``deviations.tsv`` those that the architecture decides otherwise. A
test says what it shows with ``@pytest.mark.contract("K-001", ...)``; the marks are read off the source, so that a
test that cannot run here counts as well.
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent

#: The contracts whose every statement must be accounted for, by the letter of their numbers.
COMPLETE = ("K", "S")
LETTERS = ("K", "S")


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def marks(source: str) -> Iterator[str]:
    """What the arguments of every ``pytest.mark.contract`` say, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.contract":
            yield from (str(ast.literal_eval(argument)) for argument in node.args)


IDS = [row["id"] for row in rows("ids.tsv")]
DEVIATIONS = {row["id"]: row for row in rows("deviations.tsv")}
SHOWN = {mark: path for path in sorted(TESTS.rglob("*.py")) for mark in marks(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("letter", COMPLETE)
def test_every_statement_is_shown_by_a_test_or_has_a_reason_why_not(letter: str) -> None:
    assert [found for found in IDS if found.startswith(letter) and found not in SHOWN and found not in DEVIATIONS] == []


def test_no_test_and_no_deviation_names_a_statement_that_does_not_exist() -> None:
    assert sorted((SHOWN.keys() | DEVIATIONS.keys()) - set(IDS)) == []


@pytest.mark.parametrize("letter", LETTERS)
def test_nothing_is_shown_by_a_test_and_a_deviation_too(letter: str) -> None:
    both = SHOWN.keys() & DEVIATIONS.keys()
    assert {found: SHOWN[found].name for found in sorted(both) if found.startswith(letter)} == {}


def test_every_deviation_says_why_and_where_that_was_decided() -> None:
    assert [
        name for name, row in DEVIATIONS.items() if len(row["reason"]) < 20 or not row["section"][:1].isdigit()
    ] == []


def test_the_numbers_are_those_of_both_contracts_without_a_gap() -> None:
    for letter in LETTERS:
        numbers = [int(found[2:]) for found in IDS if found.startswith(letter)]
        assert numbers == list(range(1, len(numbers) + 1)), letter
    assert len(IDS) == len(set(IDS)) == 356


def test_marks_are_read_off_functions_classes_and_whole_modules() -> None:
    source = (
        'pytestmark = pytest.mark.contract("K-001")\n'
        '@pytest.mark.contract("K-002", "K-003")\n'
        "def test_a(): ...\n"
        "class TestB:\n"
        '    @pytest.mark.contract("K-004")\n'
        "    async def test_b(self): ...\n"
        '# @pytest.mark.contract("K-005")\n'
        'pytest.param(1, marks=pytest.mark.contract("K-006"))\n'
        '@pytest.mark.other("K-007")\n'
        "def test_c(): ...\n"
    )
    assert sorted(marks(source)) == ["K-001", "K-002", "K-003", "K-004", "K-006"]
