from __future__ import annotations

import pytest

from appliance.speak import number_words, number_words_de, number_words_es


@pytest.mark.parametrize(
    ("number", "english", "german", "spanish"),
    [
        (0, "zero", "null", "cero"),
        (1, "one", "eins", "uno"),
        (16, "sixteen", "sechzehn", "dieciséis"),
        (21, "twenty one", "einundzwanzig", "veintiuno"),
        (100, "one hundred", "einhundert", "cien"),
        (101, "one hundred one", "einhunderteins", "ciento uno"),
        (555, "five hundred fifty five", "fünfhundertfünfundfünfzig", "quinientos cincuenta y cinco"),
        (1000, "one thousand", "eintausend", "mil"),
        (1001, "one thousand one", "eintausendeins", "mil uno"),
        (21_000, "twenty one thousand", "einundzwanzigtausend", "veintiún mil"),
        (101_000, "one hundred one thousand", "einhunderteintausend", "ciento un mil"),
        (1_000_000, "one million", "eine Million", "un millón"),
        (21_000_000, "twenty one million", "einundzwanzig Millionen", "veintiún millones"),
        (10**9, "one billion", "eine Milliarde", "mil millones"),
        (2 * 10**12, "two trillion", "zwei Billionen", "dos billones"),
        (-3, "minus three", "minus drei", "menos tres"),
    ],
)
def test_numbers_are_said_in_words(number: int, english: str, german: str, spanish: str) -> None:
    assert number_words.cardinal(number) == english
    assert number_words_de.cardinal(number) == german
    assert number_words_es.cardinal(number) == spanish


def test_a_number_that_nobody_can_follow_is_said_digit_by_digit() -> None:
    for cardinal, five in (
        (number_words.cardinal, "five"),
        (number_words_de.cardinal, "fünf"),
        (number_words_es.cardinal, "cinco"),
    ):
        assert cardinal(5 * 10**15).split() == [five] + [cardinal(0)] * 15


def test_every_number_has_words_of_its_own() -> None:
    for cardinal in (number_words.cardinal, number_words_de.cardinal, number_words_es.cardinal):
        assert len({cardinal(number) for number in range(20_000)}) == 20_000


@pytest.mark.parametrize(
    ("number", "ending", "words"),
    [
        (1, "e", "erste"),
        (3, "en", "dritten"),
        (7, "er", "siebter"),
        (8, "es", "achtes"),
        (12, "e", "zwölfte"),
        (20, "en", "zwanzigsten"),
        (31, "en", "einunddreißigsten"),
        (101, "e", "einhunderterste"),
    ],
)
def test_german_ordinals_take_the_ending_that_is_asked_for(number: int, ending: str, words: str) -> None:
    assert number_words_de.ordinal(number, ending) == words


@pytest.mark.parametrize(
    ("number", "ending", "words"),
    [
        (1, "o", "primero"),
        (1, "", "primer"),
        (3, "", "tercer"),
        (2, "", "segundo"),
        (10, "a", "décima"),
        (21, "a", "vigésima primera"),
        (100, "o", "cien"),
    ],
)
def test_spanish_ordinals_take_the_ending_that_is_asked_for(number: int, ending: str, words: str) -> None:
    assert number_words_es.ordinal(number, ending) == words


@pytest.mark.parametrize(
    ("number", "one", "words"),
    [
        (1, "una", "una"),
        (21, "un", "veintiún"),
        (21, "una", "veintiuna"),
        (31, "un", "treinta y un"),
        (201, "una", "doscientas una"),
        (21_000, "una", "veintiuna mil"),
    ],
)
def test_spanish_numbers_agree_with_their_noun(number: int, one: str, words: str) -> None:
    assert number_words_es.cardinal(number, one) == words


def test_german_years_count_in_hundreds() -> None:
    assert number_words_de.year(1905) == "neunzehnhundertfünf"
    assert number_words_de.year(1900) == "neunzehnhundert"
    assert number_words_de.year(2026) == "zweitausendsechsundzwanzig"
