from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.speak.reading import said, speak


@dataclass(frozen=True)
class Row:
    """A line of the table; see its README for what the columns mean."""

    row_id: str
    kind: str
    language: str
    deltas: tuple[str, ...]
    accept: tuple[str, ...]
    reject: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.deltas)


def _rows() -> list[Row]:
    rows = []
    table = (Path(__file__).parent / "speech-text.tsv").read_text(encoding="utf-8")
    for line in table.splitlines()[1:]:
        row_id, kind, language, written, accept, reject = line.split("\t")
        deltas = tuple(written.replace("\\n", "\n").split("␞"))
        forms = [tuple(form for form in column.split(" || ") if form) for column in (accept, reject)]
        rows.append(Row(row_id, kind, language, deltas, forms[0], forms[1]))
    return rows


ROWS = _rows()


@dataclass(frozen=True)
class Case:
    """A line of our own table: exactly these sentences."""

    language: str
    written: str
    said: tuple[str, ...]


def _cases() -> list[Case]:
    table = (Path(__file__).parent / "spoken-forms.tsv").read_text(encoding="utf-8")
    cells = [line.split("\t") for line in table.splitlines()[1:]]
    return [Case(language, written.replace("\\n", "\n"), tuple(said.split(" ‖ "))) for language, written, said in cells]


OWN = _cases()


def _normalised(spoken: str) -> str:
    """As the table's README compares: case, punctuation and spacing do not count."""
    letters_apart = re.sub(r"\b(\w)\.(?=\w\b|\s|$)", r"\1 ", spoken)
    plain = letters_apart.lower().replace("-", " ")
    return " ".join("".join(c for c in plain if c.isalnum() or c.isspace()).split())


def _problem(row: Row, deltas: tuple[str, ...]) -> str:
    raw = " ".join(said(*deltas, language=row.language))
    spoken = _normalised(raw)
    found = [form for form in row.reject if form.lower() in raw.lower()]
    if not spoken:
        return "nothing is said"
    if found:
        return f"{raw!r} contains {found}"
    return "" if not row.accept or spoken in row.accept else f"{spoken!r} is none of {row.accept[:3]}"


def test_the_table_is_whole() -> None:
    assert len(ROWS) == 117
    assert len(OWN) >= 140


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.row_id}-{row.kind}")
def test_machine_text_sounds_as_the_table_says(row: Row) -> None:
    assert not _problem(row, row.deltas)


@pytest.mark.parametrize("case", OWN, ids=lambda case: f"{case.language}-{case.written[:20]}")
def test_what_models_write_sounds_as_a_person_would_say_it(case: Case) -> None:
    assert said(case.written, language=case.language) == list(case.said)


_TEXTS = [(row.language, row.text) for row in ROWS] + [(case.language, case.written) for case in OWN]


@pytest.mark.parametrize(("language", "text"), _TEXTS, ids=itertools.count())
def test_it_sounds_the_same_cut_at_any_place(language: str, text: str) -> None:
    whole = speak(text, language=language)
    for place in range(1, len(text)):
        assert speak(text[:place], text[place:], language=language) == whole


_LANGUAGES = ("en", "de", "es")
_PIECES = st.sampled_from(
    [
        *(
            "word",
            " ",
            ". ",
            "! ",
            "? ",
            "\n",
            "\n\n",
            "Dr. ",
            "3.50",
            "5 p.m. ",
            "e.g. ",
            "… ",
            "...",
            "12:30",
            "$",
            "-",
        ),
        *("**", "*", "_", "`", "```", "~~~", "[", "]", "(", ")", "![", "](", "http://a.b/c", "# ", "- ", "1. ", "> "),
        *("|", "|---|", "<think>", "</think>", "<", ">", "<b>", "<!--", "-->", "\\", "&amp;", "[happy]", "[sighs] "),
        *("🎉", "¯\\_(ツ)_/¯", "ß", "你好。", "/var/log", "a@b.org", "fe80::1", "{", "}", '"', "\t", "\r\n"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_LANGUAGES), st.lists(_PIECES, max_size=30), st.data())
def test_how_the_text_was_cut_into_deltas_does_not_matter(
    language: str, pieces: list[str], data: st.DataObject
) -> None:
    text = "".join(pieces)
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    cuts = [0, *places, len(text)]
    deltas = [text[start:end] for start, end in itertools.pairwise(cuts)]
    assert speak(*deltas, language=language) == speak(text, language=language)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_LANGUAGES), st.lists(_PIECES, max_size=30))
def test_no_markup_is_ever_read_aloud(language: str, pieces: list[str]) -> None:
    for sentence in said("".join(pieces), language=language):
        assert sentence.strip() == sentence
        assert any(character.isalnum() for character in sentence)
        assert not set(sentence) & set("*`|[]{}#<>\n")
        assert not any(character.isdecimal() for character in sentence)


_SIGNS = st.text(alphabet="0123456789.,:;/-–−$€£°%ªº()[]{}^\\~#*+=<>|\"' \nAIVXLCamphsdxkgz¹²⁻½…", max_size=60)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_LANGUAGES), _SIGNS)
def test_a_muddle_of_digits_and_signs_becomes_words(language: str, text: str) -> None:
    for sentence in said(text, language=language):
        assert not set(sentence) & set("*`|[]{}#<>\n0123456789"), sentence


_CONTENT = st.sampled_from(("lantern", "harbour", "velvet", "copper", "meadow", "walnut"))
_DECORATIONS = st.sampled_from(
    [
        *(
            "**",
            "_",
            "`",
            "\n",
            "\n\n",
            "\n- ",
            "\n1. ",
            "\n> ",
            "\n| ",
            "|",
            "##",
            "(",
            ")",
            "[1]",
            "[happy]",
            "<b>",
            "<br>",
        ),
        *(
            "🎉",
            "¯\\_(ツ)_/¯",
            "21 °C",
            "21°/9°",
            "$3.50",
            "3,5 €",
            "5 p.m.",
            "Dr.",
            "z. B.",
            "p. ej.",
            "e.g.",
            "#1",
            "½",
        ),
        *("x^2", "10⁻⁹", "&", "/", ":", ";", '"', "3-5", "12:30", "50%", "30.11.2026", "2026-11-30", "1.", "v1.2.3"),
        *(
            "https://a.com/x?y=1",
            "10.0.0.1",
            "/var/log",
            "1/2",
            "IV",
            "2 x 4",
            "->",
            "<",
            ">",
            "=",
            "+",
            "€/$/£/¥",
            "km/h",
        ),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_LANGUAGES), st.lists(_CONTENT | _DECORATIONS, max_size=30))
def test_no_word_is_ever_lost(language: str, pieces: list[str]) -> None:
    written = [piece for piece in pieces if piece.isalpha() and len(piece) > 4]
    words = re.findall(r"\w+", " ".join(said(" ".join(pieces), language=language)))
    assert [word for word in words if word in written] == written


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400))
def test_any_text_at_all_is_taken(text: str) -> None:
    for language in (*_LANGUAGES, "fr"):
        said(text, language=language)
